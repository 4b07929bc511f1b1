import {stringify} from 'csv-stringify/sync';
import type {InputFormat, Reject} from '../input/row.ts';
import {RecentValues} from '../operations/memoize.ts';

/** Makes the text of a CSV record, without its line end. */
export type CsvLine = (cells: readonly string[]) => string;

/** Maximum bytes of quoted cells that a writer keeps. */
const QUOTED_BYTES = 262_144;

/**
 * Writes records. csv-stringify writes each cell that needs quotes, once for those that come again, such as a row's
 * reasons: a call of it costs more than the rest of a record. Cells with a CR or LF are quoted, since many readers end a
 * record there.
 */
export function createCsvLine(delimiter: string): CsvLine {
  const isOdd = (cell: string) => /["\r\n]/.test(cell) || cell.includes(delimiter);
  const options = {delimiter, eof: false, quoted_match: /[\r\n]/};
  const recent = new RecentValues<string>(QUOTED_BYTES, (cell, text) => cell.length + text.length);
  const quoted = (cell: string) => {
    const known = recent.get(cell);
    if (known !== undefined) return known;
    const text = stringify([[cell]], options);
    recent.set(cell, text);
    return text;
  };
  return cells => cells.map(cell => (isOdd(cell) ? quoted(cell) : cell)).join(delimiter);
}

/** A small table as CSV. A spreadsheet runs none of its texts as a formula. */
export function csvTable(
  head: readonly string[],
  rows: readonly (readonly (string | number | boolean | null)[])[],
): string {
  const line = createCsvLine(',');
  const safe = rows.map(row =>
    row.map(cell => (typeof cell === 'string' ? formulaSafe(cell) : String(cell ?? ''))),
  );
  return [head, ...safe].map(cells => `${line(cells)}\n`).join('');
}

/**
 * Puts an apostrophe before text that a spreadsheet would run as a formula (OWASP, "CSV injection"). Texts of a
 * sign, digits and their punctuation stay unchanged, such as phone numbers and coordinates.
 */
export function formulaSafe(text: string): string {
  return /^[=+\-@\t\r\n＝＋－＠]/.test(text) && !/^[+-]?[\d\s().,:/-]*$/.test(text) ? `'${text}` : text;
}

/** A line of the file of rejected rows. The first one has the input's `header`, to make a list of the rows again. */
export function formatRejectAsJson(reject: Reject, header?: string): string {
  const {file, line, record: row, reason, detail, raw, raw_base64, raw_truncated} = reject;
  return `${JSON.stringify({file, line, row, reason, detail, raw, raw_base64, raw_truncated, header})}\n`;
}

/** The header of a CSV input, as a line; empty without a header. */
export function inputHeaderLine(format: InputFormat): string {
  if (format.kind !== 'csv' || format.header === undefined) return '';
  return `${createCsvLine(format.delimiter)(format.header)}\n`;
}
