import {formatCount, formatPercent, rankByCount} from './format.ts';

/** A report before it is HTML or Markdown. */
export interface Report {
  readonly title: string;
  readonly status: {readonly tone: Tone; readonly text: string};
  readonly lead: string;
  readonly facts: readonly KeyFigure[];
  readonly sections: readonly Section[];
}

export interface KeyFigure {
  readonly label: string;
  readonly value: string;
  readonly note?: string | undefined;
  readonly section?: string;
}

export interface Section {
  readonly title: string;
  readonly note?: string | undefined;
  readonly blocks: readonly ReportTable[];
}

/** Meaning of a colour, which the style sheet sets. No meaning is shown by colour alone. */
export type Tone = 'good' | 'known' | 'repeat' | 'quiet' | 'warn' | 'bad';

/** A number is written with {@link formatCount}; null is a figure that nothing was measured for. */
export type TableCell = string | number | null;

export function cellText(cell: TableCell): string {
  return typeof cell === 'number' ? formatCount(cell) : (cell ?? '–');
}

/** A table. Where it can, a page draws its figures, and shows the table on demand. */
export interface ReportTable {
  readonly caption: string;
  readonly head: readonly string[];
  /** The first column has names. The others have figures, unless `texts` has their index. */
  readonly rows: readonly (readonly [name: string, ...cells: TableCell[]])[];
  readonly texts?: readonly number[];
  /** `small`: may be placed beside another block. `folded`: long and rarely needed, so it is shown on demand. */
  readonly form?: 'small' | 'folded';
  readonly chart?: Chart;
}

/**
 * A drawing of a table's figures. `ranking`: a bar for the count in each row. `stacks`: each row is one bar, divided into
 * the columns. `histogram`: counts of rows in adjacent ranges. `lines`: a line over time for each column.
 */
export type Chart =
  | {readonly kind: 'ranking' | 'histogram'}
  | {readonly kind: 'stacks'; readonly tones: readonly Tone[]}
  | {
      readonly kind: 'lines';
      readonly tones: readonly Tone[];
      readonly unit: string;
      /** Milliseconds from the start to the end of each row's interval. The last one is the whole time. */
      readonly ends: readonly number[];
    };

export function tableOf(
  caption: string,
  head: ReportTable['head'],
  rows: ReportTable['rows'],
  form: Pick<ReportTable, 'texts' | 'form'> = {},
): ReportTable {
  return {caption, head, rows, ...form};
}

export function withRows(blocks: readonly ReportTable[]): ReportTable[] {
  return blocks.filter(({rows}) => rows.length > 0);
}

export function rankingOf(
  caption: string,
  what: string,
  names: readonly (readonly [name: string, times: number])[],
  of: number,
): ReportTable {
  const rows = names.map(([name, times]) => [name, times, formatPercent(times, of)] as const);
  return {caption, head: [what, 'count', 'share'], rows, chart: {kind: 'ranking'}};
}

/** The twelve most common names. */
export function mostCommon(counts: Readonly<Record<string, number>>): [name: string, times: number][] {
  return rankByCount(counts).slice(0, 12);
}
