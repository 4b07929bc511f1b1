/**
 * Every event of the log by its stable name, with its level and one sentence. Programs read the names and
 * fields: new ones may be added, but existing ones never change. Only people read the messages, which may change.
 */
export const logEvents = {
  run_started: {
    level: 'info',
    about: 'A run, or a session of it, begins: inputs, output, columns.',
  },
  run_progress: {level: 'info', about: 'Every 30 seconds: rows, calls, credits.'},
  run_waiting: {level: 'info', about: 'The run waits: reason, and end.'},
  run_resumed: {level: 'info', about: 'The wait is over: its milliseconds.'},
  run_stopping: {level: 'info', about: 'The run begins to stop: reason, exit code.'},
  run_ended: {level: 'info', about: 'The run ended: exit code, reason, rows, calls, credits.'},
  run_stopped: {
    level: 'error',
    about: 'The run stopped with its state saved: reason, when to come back.',
  },
  fleet_collecting: {
    level: 'info',
    about: 'The run collects the results of an earlier session.',
  },
  fleet_redis_error: {level: 'debug', about: 'A connection to Redis failed and is opened again.'},
  call: {
    level: 'debug',
    about: 'An attempt: row, operation, outcome, status, code, credits, time.',
  },
  lookup_unanswered: {level: 'debug', about: 'A row without an answer, by its number.'},
  row_rejected: {level: 'debug', about: 'An unreadable row, by its number and line.'},
  warning: {level: 'warn', about: 'A warning.'},
  message: {level: 'info', about: 'A sentence for people only.'},
  error: {level: 'error', about: 'The command failed: code, exit code.'},
} as const satisfies Readonly<Record<string, {level: 'error' | 'warn' | 'info' | 'debug'; about: string}>>;

export type LogEvent = keyof typeof logEvents;

type Log = (fields: object, message: string) => void;

/** The part of a pino log that is used. */
export interface EventLog {
  isLevelEnabled(level: string): boolean;
  readonly error: Log;
  readonly warn: Log;
  readonly info: Log;
  readonly debug: Log;
}

/** Logs an event. Fields never hold a value from a row, nor a key. */
export function logEvent(
  log: EventLog,
  event: LogEvent,
  fields: Readonly<Record<string, unknown>>,
  message: string,
): void {
  log[logEvents[event].level]({event, ...fields}, message);
}
