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
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && textWidth(longer) <= width) lines[lines.length - 1] = longer;
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
  const lines = message.split('\n').flatMap(line => wrapText(line, width));
  return lines.join('\n');
}

const GAP = 2;

/** A table whose first `leftAligned` columns are aligned to the left, and all others to the right. */
export function formatTable(rows: readonly (readonly string[])[], leftAligned = 1): string {
  // A cell may show a name from the user's list, with line ends or tabs in it. A blank replaces them.
  const cleaned = rows.map(row => row.map(cell => cell.replace(/[\r\n\t]+/g, ' ')));
  const widths: number[] = [];
  for (const row of cleaned)
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, textWidth(cell));
  const align = (cell: string, index: number) => {
    const blanks = ' '.repeat((widths[index] ?? 0) - textWidth(cell));
    return index < leftAligned ? cell + blanks : blanks + cell;
  };
  return cleaned.map(row => row.map(align).join(' '.repeat(GAP)).trimEnd()).join('\n');
}

/** A column of a table that must fit its terminal. */
export interface TableColumn {
  readonly head: string;
  readonly cells: readonly string[];
  /** Texts are aligned to the left, figures to the right. */
  readonly isText?: boolean;
  /** Characters to which a column is cut before others are left out; after that, further. Without it, never. */
  readonly shrinksTo?: number;
  /** A narrow table leaves out the column with 0 first, then 1. A column without this number stays. */
  readonly leavesAs?: number;
}

/** Returns a function that makes one column of a table. The table has a row for each of `members`. */
export function createTableColumns<Member>(members: readonly Member[]) {
  return (
    head: string,
    cellOf: (member: Member) => string,
    more: Partial<TableColumn> = {},
  ): TableColumn => ({head, cells: members.map(cellOf), ...more});
}

const SHORTEST_TEXT = 6;

/** Makes a table of at most `width` characters a line. To fit, it first leaves columns out, then cuts texts. */
export function fitTable(all: readonly TableColumn[], width: number): string {
  let columns = all.map(column => ({
    ...column,
    width: Math.max(...[column.head, ...column.cells].map(textWidth)),
  }));
  const tooWide = (widths: readonly number[]) => widths.reduce((sum, each) => sum + each + GAP, -GAP) - width;
  const leaving = columns.filter(({leavesAs}) => leavesAs !== undefined);
  for (const column of leaving.sort((a, b) => (a.leavesAs ?? 0) - (b.leavesAs ?? 0))) {
    if (tooWide(columns.map(({width: full, shrinksTo}) => Math.min(full, shrinksTo ?? full))) <= 0) break;
    columns = columns.filter(other => other !== column);
  }
  const shrinking = columns.filter(({shrinksTo}) => shrinksTo !== undefined);
  for (let over = tooWide(columns.map(column => column.width)); over > 0; over -= 1) {
    const [longest] = shrinking.toSorted((a, b) => b.width - a.width);
    if (longest === undefined || longest.width <= SHORTEST_TEXT) break;
    longest.width -= 1;
  }
  const cut = columns.map(({head, cells, width}) => [head, ...cells].map(cell => cutTo(cell, width)));
  const rows = cut[0]?.map((_, row) => cut.map(cells => cells[row] ?? '')) ?? [];
  return formatTable(rows, columns.filter(({isText}) => isText === true).length);
}

function cutTo(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let kept = '';
  for (const character of text) {
    if (textWidth(kept + character) > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}
