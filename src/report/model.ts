/** A report before it is HTML or Markdown: its content, and the form of each part, such as a table or a chart. */
export interface Report {
  readonly title: string;
  readonly status: {readonly tone: Tone; readonly text: string};
  /** The result in a sentence or two. */
  readonly lead: string;
  readonly facts: readonly Fact[];
  readonly sections: readonly Section[];
}

/** A figure that readers look for first. */
export interface Fact {
  readonly label: string;
  readonly value: string;
  readonly note?: string | undefined;
  /** The title of the section that says more. */
  readonly section?: string;
}

export interface Section {
  readonly title: string;
  /** A sentence that explains or sums up. */
  readonly note?: string | undefined;
  readonly blocks: readonly Block[];
}

/** Meaning of a colour. The style sheet of the HTML report sets the colour for each meaning. */
export type Tone = 'good' | 'known' | 'repeat' | 'quiet' | 'warn' | 'bad';

export type Block = TableBlock | RankingBlock | StacksBlock | HistogramBlock | LinesBlock;

export interface TableBlock {
  readonly kind: 'table';
  readonly caption: string;
  readonly head: readonly string[];
  /** The first column has texts. The others have figures, unless `texts` has their index. */
  readonly rows: readonly (readonly string[])[];
  readonly texts?: readonly number[];
  /** True if the table may be placed beside another block. */
  readonly small?: boolean;
  /** True for long and rarely needed content, which is shown on demand. */
  readonly folded?: boolean;
}

/** Names with their counts, the most common first. */
export interface RankingBlock {
  readonly kind: 'ranking';
  readonly caption: string;
  readonly what: string;
  readonly of: number;
  readonly rows: readonly {readonly name: string; readonly count: number}[];
}

/** Stacked bars. Each row is one bar, divided into the parts that `keys` names. */
export interface StacksBlock {
  readonly kind: 'stacks';
  readonly caption: string;
  readonly what: string;
  readonly keys: readonly {readonly name: string; readonly tone: Tone}[];
  readonly rows: readonly {readonly name: string; readonly counts: readonly number[]}[];
}

/**
 * A histogram: the number of rows in each of several adjacent ranges of a value, such as scores from 0 to 9.
 */
export interface HistogramBlock {
  readonly kind: 'histogram';
  readonly caption: string;
  readonly what: string;
  readonly bins: readonly {readonly name: string; readonly count: number}[];
}

/** Measurements over time. */
export interface LinesBlock {
  readonly kind: 'lines';
  readonly caption: string;
  readonly unit: string;
  /** Milliseconds from the start to the end of each point's interval. The last one is the whole time. */
  readonly ends: readonly number[];
  readonly series: readonly {
    readonly name: string;
    readonly tone: Tone;
    readonly values: readonly (number | null)[];
  }[];
}
