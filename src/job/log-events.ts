import logEvents from './log-events.json' with {type: 'json'};

/**
 * Every event of the log by its stable name, with its level and one sentence. Programs read the names and
 * fields: new ones may be added, but existing ones never change. Only people read the messages, which may change.
 */
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
