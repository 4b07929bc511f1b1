import {stringify} from 'csv-stringify/sync';
import {formulaSafe} from './columns.ts';

/** A small table as CSV. A spreadsheet runs none of its texts as a formula. */
export function csvTable(
  head: readonly string[],
  rows: readonly (readonly (string | number | boolean | null)[])[],
): string {
  const safe = rows.map(row => row.map(cell => (typeof cell === 'string' ? formulaSafe(cell) : cell)));
  return stringify([[...head], ...safe], {cast: {boolean: String}});
}
