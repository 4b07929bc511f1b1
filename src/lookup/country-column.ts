import type {Row} from '../input/row.ts';
import {phoneCountry} from '../operations/country.ts';
import {canonicalPhone} from '../operations/phone.ts';
import {type CellReader, cellReader} from './targets.ts';

/** From this share of the numbers in national form on, a column's countries are those of the numbers. */
const SPEAKS = 0.9;

/**
 * The column whose countries make phone numbers in national form valid, whatever its header says; the first of those
 * that make the most of them valid. Undefined if no column does, or no number needs one.
 */
export function countryColumnOf(
  phones: readonly string[],
  columns: readonly string[],
  rows: readonly Row[],
): string | undefined {
  const cells = phones.map(name => cellReader(name, columns));
  const national = rows.flatMap(row =>
    cells.map(cell => ({row, text: cell(row) ?? ''})).filter(({text}) => lacksCountry(text)),
  );
  let best: {readonly column: string; readonly valid: number} | undefined;
  for (const column of columns) {
    if (phones.includes(column)) continue;
    const country = cellReader(column, columns);
    const valid = national.filter(({row, text}) => isValid(text, country, row)).length;
    if (valid > 0 && valid >= SPEAKS * national.length && valid > (best?.valid ?? 0)) best = {column, valid};
  }
  return best?.column;
}

function isValid(text: string, country: CellReader, row: Row): boolean {
  const named = country(row) ?? '';
  return phoneCountry(named) !== undefined && canonicalPhone(text, named).state === 'value';
}

function lacksCountry(text: string): boolean {
  const read = canonicalPhone(text);
  return read.state === 'invalid' && read.code === 'country_unknown';
}
