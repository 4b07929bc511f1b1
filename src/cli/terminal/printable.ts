import {Writable} from 'node:stream';
import {stripVTControlCharacters, styleText} from 'node:util';
import type {Env} from '../../job/endpoint.ts';
import {escapeJsonControls, withoutControls} from '../../report/format.ts';

// All output goes through here, except the rows of a run. What others wrote (columns, paths, hosts, answers) must neither
// steer a terminal nor command a CI runner.

type Stream = 'stdout' | 'stderr';

const ESCAPE = '\u001B';
/** Our own colour codes, by the placeholder that {@link escapeControls} replaces by them, once a text has no others. */
const colours = new Map<string, string>();
/** The beginning of a CI command: `::` first in a line (GitHub), `##[` and `##vso[` anywhere (Azure). */
const COMMAND = /^[^\S\n]*:(?=:)|##(?=\[|vso\[)/gm;

/** A text without anything that steers a terminal or commands a CI runner, except our own colours. */
export function escapeControls(text: string): string {
  let safe = withoutControls(stripVTControlCharacters(text)).replace(COMMAND, '$& ');
  for (const [mark, sequence] of colours) safe = safe.replaceAll(mark, sequence);
  return safe;
}

export type Paint = (colour: 'green' | 'yellow' | 'red', text: string) => string;

/** NO_COLOR (no-color.org) comes first, then FORCE_COLOR; without both, terminals but TERM=dumb show colours. */
function showsColours(isTerminal: boolean, {NO_COLOR, FORCE_COLOR, TERM}: Env): boolean {
  if ((NO_COLOR ?? '') !== '') return false;
  if ((FORCE_COLOR ?? '') !== '') return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  return isTerminal && TERM !== 'dumb';
}

export function createPainter({isTTY}: {readonly isTTY?: boolean}, env: Env): Paint {
  if (!showsColours(isTTY === true, env)) return (_, text) => text;
  return (colour, text) => {
    const [begin = '', end = ''] = styleText(colour, '\n', {validateStream: false}).split('\n');
    return `${markOf(begin)}${text}${markOf(end)}`;
  };
}

/** Placeholder that stands for a control sequence until the text is printed. */
function markOf(sequence: string): string {
  for (const [mark, known] of colours) if (known === sequence) return mark;
  // A placeholder is sixteen random variation selectors (there are 240), so texts from others can't imitate it.
  // Variation selectors have no width, so a text keeps its width.
  const mark = [...crypto.getRandomValues(new Uint8Array(16))]
    .map(byte => String.fromCodePoint(0xe0100 + (byte % 240)))
    .join('');
  colours.set(mark, sequence);
  return mark;
}

let isDrawn = false;

/** True if a line of stderr can be redrawn. False in CI (`ci` is set), as a CI log would keep every version. */
export function canRedraw(ci = ''): boolean {
  return process.stderr.isTTY === true && process.env.TERM !== 'dumb' && ci === '';
}

/** Draws a line that the next output of any kind replaces. An empty text removes the line. */
export function drawStatusLine(line: string): void {
  write('stderr', escapeControls(line));
  isDrawn = line !== '';
}

function write(stream: Stream, text: string | Uint8Array): void {
  if (isDrawn) process.stderr.write(`\r${ESCAPE}[2K`);
  isDrawn = false;
  if (text.length > 0) process[stream].write(text);
}

/** Writes text for people. {@link escapeControls} makes it harmless for terminals and CI runners. */
export function print(stream: Stream, text: string): void {
  write(stream, escapeControls(text));
}

/** Writes a value as JSON for a program. Escapes characters that steer a terminal; the parsed value is the same. */
export function printJson(value: unknown): void {
  write('stdout', `${escapeJsonControls(JSON.stringify(value, null, 2))}\n`);
}

export function printJsonLine(value: unknown): void {
  write('stdout', `${escapeJsonControls(JSON.stringify(value))}\n`);
}

export function printLogLine(line: string): void {
  write('stderr', escapeJsonControls(line));
}

/** Writes a CI command (`::…`) to stderr, since stdout may carry rows. GitHub reads both. */
export function printWorkflowCommand(line: string): void {
  write('stderr', `::${escapeControls(line.slice('::'.length)).replaceAll('\n', ' ')}\n`);
}

/** Writes rows: unchanged to a file or a program; to a terminal, without control characters. */
export function printRawRows(rows: Uint8Array): void {
  write('stdout', process.stdout.isTTY === true ? escapeControls(Buffer.from(rows).toString()) : rows);
}

/** The stream for a run's rows, which treats them as {@link printRawRows} does. */
export function createStdoutRowStream(): NodeJS.WritableStream {
  if (process.stdout.isTTY !== true) return process.stdout;
  return new Writable({
    write(rows: Buffer, _encoding, done) {
      printRawRows(rows);
      done();
    },
  });
}
