import {ranked} from '../format.ts';
import type {RankingBlock, TableBlock} from '../model.ts';

/** A table of these rows; no block without rows. */
export function tableIfAny(
  caption: string,
  head: TableBlock['head'],
  rows: TableBlock['rows'],
  form: {readonly texts?: readonly number[]; readonly small?: boolean} = {},
): TableBlock[] {
  return rows.length === 0 ? [] : [{kind: 'table', caption, head, rows, ...form}];
}

const MOST = 12;

/** The most common names of `counts`, with their shares of `of`; no block without names. */
export function rankingIfAny(
  caption: string,
  what: string,
  counts: Readonly<Record<string, number>>,
  of: number,
): RankingBlock[] {
  const rows = ranked(counts)
    .slice(0, MOST)
    .map(([name, count]) => ({name, count}));
  return rows.length === 0 ? [] : [{kind: 'ranking', caption, what, of, rows}];
}
