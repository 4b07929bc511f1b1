import {UsageError} from '../errors.ts';
import {numberedColumns} from '../input/column-names.ts';
import type {Row} from '../input/row.ts';
import {hasPhoneShape} from '../operations/phone/phone-shape.ts';
import {isValue} from '../operations/table.ts';
import {say, set, setBy} from '../sentence.ts';
import {columnFlags} from './guess-messages.ts';
import {detectColumns} from './recognize/detect.ts';
import {readHeader} from './recognize/header.ts';
import {refuseTurned} from './transposed-lists.ts';

/**
 * True if the first line is a row and not a header: one of its cells is a value to look up, or is written as a
 * phone number, like the cells below it.
 */
export function isRowOfValues(header: readonly string[], rows: readonly Row[]): boolean {
  return header.some(isValue) || phoneColumns(header, rows).length > 0;
}

/** @throws {UsageError} if the header is itself a row of values. The error has the flags that read it as a row. */
export function refuseValuesAsHeader(
  header: readonly string[],
  rows: readonly Row[],
  defaultCountry: string | undefined,
): void {
  if (!isRowOfValues(header, rows)) return;
  refuseTurned(header, rows, header);
  const value = header.findIndex(isValue);
  const phones = value < 0 ? phoneColumns(header, rows) : [];
  const [first = value] = phones;
  const names = numberedColumns(header.length);
  const all: readonly Row[] = [{type: 'csv', record: 0, line: 1, fields: header}, ...rows];
  const {guesses} = detectColumns(names, all, {headless: true});
  const sure = columnFlags(guesses.filter(({confidence}) => confidence === 'sure'));
  const asPhones = [...sure, ...phones.flatMap(index => ['--phone', names[index] ?? ''])];
  // Phone numbers in national form need a country, which only the user knows.
  const country = phones.length === 0 || defaultCountry !== undefined ? [] : ['--default-country', 'COUNTRY'];
  const flags = ['--no-header', ...asPhones, ...country];
  throw new UsageError(
    'header_is_value',
    say`Column ${first + 1} of the header line is itself ${phones.length === 0 ? 'a value to look up' : 'a number, as those below it are'}, so the file seems to have no header. Add ${set('header', false)}; columns are then column_1, column_2, ….${phones.length === 0 ? '' : say` If it holds phone numbers: ${setBy(['--no-header', ...asPhones])} ${defaultCountry === undefined ? say`${set('defaultCountry')} with a country such as DE` : set('defaultCountry', defaultCountry)}.`}`,
    {flags},
  );
}

const MOSTLY = 0.9;

/** Indexes of columns whose header and cells look like phone numbers; empty if a header cell is a column name. */
function phoneColumns(header: readonly string[], rows: readonly Row[]): number[] {
  const isPhone = (text = '') => hasPhoneShape(text.trim());
  if (rows.length === 0 || header.some(cell => readHeader(cell).size > 0)) return [];
  return [...header.keys()].filter(index => {
    const below = rows.filter(row => row.type === 'csv' && isPhone(row.fields[index]));
    return isPhone(header[index]) && below.length >= MOSTLY * rows.length;
  });
}
