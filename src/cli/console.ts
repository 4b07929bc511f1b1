import {createRequire} from 'node:module';
import {BulkEnrichError, CodedError, exitCodes, toOneLine} from '../errors.ts';
import {UNCHECKED_TLS, warnIfUncheckedTls} from '../job/endpoint.ts';
import {type EventLog, logEvent} from '../job/log-events.ts';
import {type LogLevel, logLevels} from '../job/settings/result-settings.ts';
import type {Settings} from '../job/settings.ts';
import {memoize} from '../operations/memoize.ts';
import type {Said} from '../sentence.ts';
import {breakLines, terminalWidth} from './terminal/lines.ts';
import {createPainter, drawStatusLine, type Paint, print, printLogLine} from './terminal/printable.ts';

const require = createRequire(import.meta.url);
const pino = (): typeof import('pino') => require('pino');

/** The command's messages, for people or as a log for programs. They go to stderr: stdout has only data. */
export interface Console {
  readonly quiet: boolean;
  /** True if the `log` setting asks for JSON: a program reads stderr, so each message is a JSON log line. */
  readonly forMachine: boolean;
  /** Characters that fit in a line; infinite without a terminal. */
  readonly width: number;
  readonly paint: Paint;
  say(sentence: Said): void;
  warn(sentence: Said): void;
  /** Draws a line that the next output of any kind replaces. An empty text removes the line. */
  draw(line: string): void;
  readonly log: EventLog;
}

export function createConsole({quiet, log: {format, level} = {}}: Pick<Settings, 'quiet' | 'log'>): Console {
  const forMachine = format === 'json';
  const paint = createPainter(process.stderr, process.env);
  const log = createLog(level ?? (forMachine ? 'info' : 'warn'), json => {
    if (format === 'text') print('stderr', textLine(json));
    else printLogLine(json);
  });
  const logged = (event: 'message' | 'warning') => (sentence: Said) =>
    logEvent(log, event, {}, toOneLine(String(sentence)));
  const say = (sentence: Said) => print('stderr', `${sentence}\n`);
  const warn = forMachine
    ? logged('warning')
    : (sentence: Said) => say(breakLines(`${paint('yellow', 'Warning:')} ${toOneLine(String(sentence))}`));
  warnIfUncheckedTls(process.env, warn);
  // Otherwise Node would warn of insecure connections, although certificates are checked.
  delete process.env[UNCHECKED_TLS];
  return {
    quiet,
    forMachine,
    get width() {
      return terminalWidth('stderr');
    },
    paint,
    // A warning is of what is paid, kept or missing. So `quiet` hides only what is said besides.
    say: quiet ? () => {} : forMachine ? logged('message') : say,
    warn,
    draw: forMachine ? () => {} : drawStatusLine,
    log,
  };
}

/** True if a person at the terminal can answer questions. A CI runner may provide a terminal too, but sets CI. */
export function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true && (process.env.CI ?? '') === '';
}

/** The fields of an error that the log shows. Others may have its request, with the API key. */
const errorFields = (error: unknown) => ({
  name: error instanceof Error ? error.name : typeof error,
  code: (error as {code?: unknown} | undefined)?.code,
  message: error instanceof CodedError ? error.message : undefined,
});

/** Pino is loaded with the first event that is written: most commands write none. */
function createLog(least: LogLevel, write: (text: string) => void): EventLog {
  const serializers = {err: errorFields, error: errorFields};
  const log = memoize(() => pino().pino({level: least, base: null, serializers}, {write}));
  const order: readonly string[] = logLevels;
  const isLevelEnabled = (level: string) => order.indexOf(level) >= order.indexOf(least);
  const at = (level: 'error' | 'warn' | 'info' | 'debug') => (fields: object, message: string) => {
    if (isLevelEnabled(level)) log()[level](fields, message);
  };
  return {isLevelEnabled, error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug')};
}

/** Logs why a command failed, and returns the exit code. An unexpected error's message may have a key or values. */
export function logFailure(error: unknown): number {
  const {log} = createConsole({quiet: false, log: {format: 'json'}});
  const foreseen = error instanceof BulkEnrichError ? error : undefined;
  const exitCode = foreseen?.exitCode ?? exitCodes.internal;
  const name = error instanceof Error ? error.name : typeof error;
  const fields = {code: foreseen?.code ?? 'internal', exit_code: exitCode, ...(foreseen ? {} : {name})};
  logEvent(log, 'error', fields, foreseen?.message ?? 'Internal error.');
  return exitCode;
}

/** A JSON log line as text: time, level, event, message, and `name=value`. */
function textLine(json: string): string {
  const {level, time, event, msg, ...fields} = JSON.parse(json) as Record<string, unknown>;
  const pairs = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'number' ? value : JSON.stringify(value)}`,
  );
  const name = pino().levels.labels[Number(level)]?.toUpperCase() ?? String(level);
  const words = [new Date(Number(time)).toISOString(), name, event, msg, ...pairs];
  return `${words.filter(word => word !== undefined).join(' ')}\n`;
}
