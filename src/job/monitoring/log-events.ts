import type {Logger} from 'pino';

/**
 * Every event of the log by its stable name, with the level that it is logged at and one sentence. Names and fields are
 * for programs, and only gain; the messages beside them are for people, and may change.
 */
export const logEvents = {
  run_started: {
    level: 'info',
    about: 'A run, or a session of it, begins: inputs, columns, the row that it goes on from.',
  },
  run_progress: {level: 'info', about: 'How far it is, every 30 seconds: rows, calls, credits.'},
  run_waiting: {level: 'info', about: 'It waits: for what, and until when.'},
  run_resumed: {level: 'info', about: 'It goes on, after so many milliseconds.'},
  run_stopping: {level: 'info', about: 'It was asked to stop, or has to: why, and with which exit code.'},
  run_ended: {level: 'info', about: 'How it ended: exit code, reason, rows, calls, credits.'},
  run_stopped: {
    level: 'error',
    about: 'It ended before its input did, with its state saved: why, and when to come back.',
  },
  fleet_collecting: {level: 'info', about: 'What an earlier session left with the workers is collected.'},
  fleet_redis_error: {level: 'debug', about: 'A connection to Redis failed; it is made again.'},
  call_answered: {level: 'trace', about: 'A call, its status and how long it took.'},
  call_failed: {level: 'debug', about: 'A call without a usable answer, with its code.'},
  lookup_unanswered: {level: 'debug', about: 'A row of which a lookup has no answer, by its number.'},
  row_rejected: {level: 'debug', about: 'A row that could not be read, by its number and line.'},
  warning: {level: 'warn', about: 'What people are warned of.'},
  message: {level: 'info', about: 'What people are told besides; nothing to go by.'},
  error: {level: 'error', about: 'Why the command failed: code and exit code.'},
} as const satisfies Readonly<
  Record<string, {level: 'error' | 'warn' | 'info' | 'debug' | 'trace'; about: string}>
>;

export type LogEvent = keyof typeof logEvents;

/** Logs an event. Fields never hold a value from a row, nor a key. */
export function logEvent(
  log: Logger,
  event: LogEvent,
  fields: Readonly<Record<string, unknown>>,
  message: string,
): void {
  log[logEvents[event].level]({event, ...fields}, message);
}
