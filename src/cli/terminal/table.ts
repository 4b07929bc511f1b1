import {textWidth} from './lines.ts';

/** A table whose first `toTheLeft` columns are aligned to the left, and all others to the right. */
export function formatTable(given: readonly (readonly string[])[], toTheLeft = 1): string {
  // A cell may show a name from the user's list, with line ends or tabs in it. A blank replaces them.
  const rows = given.map(row => row.map(cell => cell.replace(/[\r\n\t]+/g, ' ')));
  const widths: number[] = [];
  for (const row of rows)
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, textWidth(cell));
  const aligned = (cell: string, index: number) => {
    const blanks = ' '.repeat((widths[index] ?? 0) - textWidth(cell));
    return index < toTheLeft ? cell + blanks : blanks + cell;
  };
  return rows.map(row => row.map(aligned).join(' '.repeat(GAP)).trimEnd()).join('\n');
}

/** A column of a table that must fit its terminal. */
export interface TableColumn {
  readonly head: string;
  readonly cells: readonly string[];
  /** Texts are aligned to the left, figures to the right. */
  readonly isText?: boolean;
  /**
   * Characters to which this column can be cut before other columns are left out. If all columns that may go are
   * gone and the table is still too wide, the texts are cut further. A column without this number is never cut.
   */
  readonly shrinksTo?: number;
  /** A narrow table leaves out the column with 0 first, then 1, and so on. A column without this number stays. */
  readonly leavesAs?: number;
}

/** Returns a function that makes one column of a table. The table has a row for each of `members`. */
export function createTableColumns<Member>(members: readonly Member[]) {
  return (
    head: string,
    cellOf: (member: Member) => string,
    more: Partial<TableColumn> = {},
  ): TableColumn => ({
    head,
    cells: members.map(cellOf),
    ...more,
  });
}

const GAP = 2;
const SHORTEST_TEXT = 6;

/** Makes a table of at most `width` characters a line. To fit, it first leaves columns out, then cuts texts. */
export function fitTable(given: readonly TableColumn[], width: number): string {
  const sized = given.map(column => ({...column, width: widest(column)}));
  const leaving = sized.filter(({leavesAs}) => leavesAs !== undefined);
  leaving.sort((a, b) => (a.leavesAs ?? 0) - (b.leavesAs ?? 0));
  let columns = sized;
  for (const column of leaving) {
    if (lineOf(columns.map(one => Math.min(one.width, one.shrinksTo ?? one.width))) <= width) break;
    columns = columns.filter(one => one !== column);
  }
  const shrinking = columns.filter(({shrinksTo}) => shrinksTo !== undefined);
  for (let over = lineOf(columns.map(one => one.width)) - width; over > 0; over -= 1) {
    const [longest] = shrinking.toSorted((a, b) => b.width - a.width);
    if (longest === undefined || longest.width <= SHORTEST_TEXT) break;
    longest.width -= 1;
  }
  const cut = columns.map(({head, cells, width}) => [head, ...cells].map(cell => cutTo(cell, width)));
  const rows = cut[0]?.map((_, row) => cut.map(cells => cells[row] ?? '')) ?? [];
  return formatTable(rows, columns.filter(({isText}) => isText === true).length);
}

function lineOf(widths: readonly number[]): number {
  return widths.reduce((sum, one) => sum + one + GAP, -GAP);
}

function widest({head, cells}: TableColumn): number {
  return cells.reduce((most, cell) => Math.max(most, textWidth(cell)), textWidth(head));
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
