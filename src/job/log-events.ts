import logEvents from './log-events.json' with {type: 'json'};

/** Every event of the log, with its level. Programs read names and fields, which never change; messages may. */
export {logEvents};

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
  log[logEvents[event].level as 'error' | 'warn' | 'info' | 'debug']({event, ...fields}, message);
}
