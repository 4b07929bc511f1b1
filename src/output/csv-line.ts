import {stringify} from 'csv-stringify/sync';

/** Makes the text of a CSV record, without its line end. */
export type CsvLine = (cells: readonly string[]) => string;

/**
 * Writes records. csv-stringify writes each cell that needs quotes; all others are written as they are, since it takes
 * four times as long for a whole record. The delimiter is one character. Cells with a CR or LF are quoted: many readers
 * end a record there, whatever the file's own line end is.
 */
export function createCsvLine(delimiter: string): CsvLine {
  const isOdd = (cell: string) => /["\r\n]/.test(cell) || cell.includes(delimiter);
  const options = {delimiter, eof: false, quoted_match: /[\r\n]/};
  return cells => cells.map(cell => (isOdd(cell) ? stringify([[cell]], options) : cell)).join(delimiter);
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
