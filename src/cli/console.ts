import {type Logger, pino} from 'pino';
import {CodedError} from '../errors.ts';
import type {Settings} from '../job/settings.ts';
import {type Paint, painter} from './terminal/colour.ts';
import {print, printable} from './terminal/printable.ts';

/** What the command writes for a person; data alone goes to stdout. */
export interface Console {
  readonly quiet: boolean;
  /** Whether somebody sits there. */
  readonly interactive: boolean;
  /** How many characters fit in a line; any number where there is no terminal. */
  readonly width: number;
  readonly paint: Paint;
  say(sentence: string): void;
  warn(sentence: string): void;
  /** A line that the next one replaces, whoever writes that; an empty text takes it away. */
  draw(line: string): void;
  readonly log: Logger;
}

export function createConsole(settings: Pick<Settings, 'quiet' | 'logLevel'>): Console {
  const {quiet} = settings;
  const paint = painter(process.stderr, process.env);
  let drawn = false;
  const erase = () => {
    if (drawn) process.stderr.write(ERASE_LINE);
    drawn = false;
  };
  const write = (text: string) => {
    erase();
    process.stderr.write(text);
  };
  const line = (text: string) => write(printable(`${text}\n`));
  return {
    quiet,
    interactive: isInteractive(),
    get width() {
      return terminalWidth();
    },
    paint,
    say: sentence => {
      if (!quiet) line(sentence);
    },
    warn: sentence => {
      if (!quiet) line(`${paint('yellow', 'Warning:')} ${sentence}`);
    },
    draw(text) {
      erase();
      if (text === '') return;
      print('stderr', text);
      drawn = true;
    },
    log: createLog(settings.logLevel, write),
  };
}

const ERASE_LINE = '\r\u001B[2K';
/** How wide a terminal is that does not say, or says 0, as serial lines do. */
const NARROW = 80;

/** In the last column a terminal may begin the next line. */
function terminalWidth(): number {
  return process.stderr.isTTY === true ? (process.stderr.columns || NARROW) - 1 : Number.POSITIVE_INFINITY;
}

/** A person at a terminal, and no automaton that happens to have one. */
export function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true && (process.env.CI ?? '') === '';
}

/** What of an error may be logged: never its options or its request, which hold the key. */
const errorFields = (error: unknown) => ({
  name: error instanceof Error ? error.name : typeof error,
  code: (error as {code?: unknown} | undefined)?.code,
  message: error instanceof CodedError ? error.message : undefined,
});

function createLog(level: Settings['logLevel'], write: (text: string) => void): Logger {
  return pino({level, base: null, serializers: {err: errorFields, error: errorFields}}, {write});
}
