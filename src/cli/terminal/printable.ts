import {stripVTControlCharacters} from 'node:util';
import {safeJson, withoutControls} from '../../report/safe-text.ts';

/*
 * The only way to stdout and stderr, but for the rows of a run: what is written may hold what others wrote (columns,
 * paths, hosts, answers), which must neither steer a terminal nor be a command to a CI runner that reads along.
 */

type Stream = 'stdout' | 'stderr';

const ESCAPE = '\u001B';
/** The colours that `paint` writes: the only control sequences of our own within a text. */
const OWN_COLOURS = new RegExp(`(${ESCAPE}\\[3[1239]m)`);
/** What begins a command of GitHub's or Azure's runner: `::` first in a line, `##[` and `##vso[` anywhere. */
const COMMAND = /^[^\S\n]*:(?=:)|##(?=\[|vso\[)/gm;

/** A text with nothing in it that steers a terminal or commands a CI runner. */
export function printable(text: string): string {
  return text
    .split(OWN_COLOURS)
    .map((part, index) => (index % 2 === 1 ? part : withoutControls(stripVTControlCharacters(part))))
    .join('')
    .replace(COMMAND, '$& ');
}

/** Writes what a person is to read. */
export function print(stream: Stream, text: string): void {
  process[stream].write(printable(text));
}

/** Takes away what stands in the terminal's line. */
export function eraseLine(): void {
  process.stderr.write(`\r${ESCAPE}[2K`);
}

/** Writes a value as JSON for a program, which gets it as it is. */
export function printJson(value: unknown): void {
  process.stdout.write(`${safeJson(JSON.stringify(value, null, 2))}\n`);
}

/** Writes a line of the log, which is JSON. */
export function printLogLine(line: string): void {
  process.stderr.write(safeJson(line));
}

/** Writes a command for the CI runner (`::…`), on stderr, as stdout may carry the rows; GitHub reads both. */
export function printCommand(line: string): void {
  process.stderr.write(`::${printable(line.slice('::'.length)).replaceAll('\n', ' ')}\n`);
}

/** Writes rows as they are, for a file or another program; to a terminal, nothing in them that steers it. */
export function printRows(text: string): void {
  process.stdout.write(process.stdout.isTTY === true ? printable(text) : text);
}

/** Writes what was made of this program's own words alone, such as a completion script. */
export function printOwn(text: string): void {
  process.stdout.write(text);
}
