import {ranked} from '../format.ts';
import type {RankingBlock} from '../model.ts';

const MOST = 12;

/** The most common names of `counts`, with their shares of `of`; no block without names. */
export function rankingOf(
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
