import {stripVTControlCharacters} from 'node:util';

const ESCAPE = '\u001B';
/** The colours that `paint` writes: the only control sequences of our own within a text. */
const OWN_COLOURS = new RegExp(`(${ESCAPE}\\[3[1239]m)`);
/** What is left of others: C0, C1 and DEL, but for tabs and line ends. */
const CONTROL = /(?![\t\n])\p{Cc}/gu;

/** A text that may hold what others wrote (columns, paths, hosts), with nothing in it that steers a terminal. */
export function printable(text: string): string {
  return text
    .split(OWN_COLOURS)
    .map((part, index) => (index % 2 === 1 ? part : stripVTControlCharacters(part).replace(CONTROL, '')))
    .join('');
}

/** Writes what a person is to read. */
export function print(stream: 'stdout' | 'stderr', text: string): void {
  process[stream].write(printable(text));
}
