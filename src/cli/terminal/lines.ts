import {createRequire} from 'node:module';

const require = createRequire(import.meta.url);

/** Width of a text in columns of a terminal. For plain ASCII, this is its length: string-width takes long to load. */
export function textWidth(text: string): number {
  return /^[ -~]*$/.test(text)
    ? text.length
    : (require('string-width') as typeof import('string-width')).default(text);
}

/** Breaks a text between words into lines of at most `width` characters. A longer word gets a line of its own. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && textWidth(`${last} ${word}`) <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Assumed width of a terminal that gives no width or 0, such as a serial line. */
const NARROW = 80;

/** Usable width of a terminal, without its last column, which may wrap. Unlimited for other streams. */
export function terminalWidth(name: 'stdout' | 'stderr'): number {
  const stream = process[name];
  return stream.isTTY === true ? (stream.columns || NARROW) - 1 : Number.POSITIVE_INFINITY;
}

/** Breaks a message between words into lines of at most `width` characters. Default: the width of stderr. */
export function breakLines(message: string, width = terminalWidth('stderr')): string {
  if (width === Number.POSITIVE_INFINITY) return message;
  return message
    .split('\n')
    .flatMap(line => wrapText(line, width))
    .join('\n');
}
