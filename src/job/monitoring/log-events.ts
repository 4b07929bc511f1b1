/**
 * Every event of the log by its stable name, with its level and one sentence. Programs read the names and
 * fields: new ones may be added, but existing ones never change. Only people read the messages, which may change.
 */
export const logEvents = {
  run_started: {
    level: 'info',
    about: 'A run, or a session of it, begins: inputs, output, columns, and if it is resumed.',
  },
  run_progress: {level: 'info', about: 'Progress, every 30 seconds: rows, calls, credits.'},
  run_waiting: {level: 'info', about: 'The run waits: the reason and the end of the wait.'},
  run_resumed: {level: 'info', about: 'The run resumes: the milliseconds that it waited.'},
  run_stopping: {level: 'info', about: 'The run begins to stop: reason and exit code.'},
  run_ended: {level: 'info', about: 'The run ended: exit code, reason, rows, calls, credits.'},
  run_stopped: {
    level: 'error',
    about: 'The run stopped before the end of its input and saved its state: reason, and when to come back.',
  },
  fleet_collecting: {
    level: 'info',
    about: 'The run collects the results that workers have for an earlier session.',
  },
  fleet_redis_error: {level: 'debug', about: 'A connection to Redis failed and is opened again.'},
  call: {
    level: 'debug',
    about:
      'An attempt: its first row, operation, outcome, status, code, credits (spent, maybe or free), and time.',
  },
  lookup_unanswered: {level: 'debug', about: 'A row without an answer to a lookup, by its number.'},
  row_rejected: {level: 'debug', about: 'A row that could not be read, by its number and line.'},
  warning: {level: 'warn', about: 'A warning.'},
  message: {level: 'info', about: 'A sentence for people only.'},
  error: {level: 'error', about: 'The command failed: code and exit code.'},
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
