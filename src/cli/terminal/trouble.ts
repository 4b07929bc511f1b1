import {count} from './lines.ts';

/** So many codes are shown. */
const MOST_CODES = 8;
const NAMED_ROWS = 5;

/** What a code does not say by itself: what to do about it. */
const advice: Readonly<Record<string, string>> = {
  country_unknown: 'in national form; say where they belong: --country COLUMN or --default-country US',
  scientific_notation: 'a spreadsheet has shortened them: make the column text there, and export it again',
  ipv6_unsupported: 'the service takes IPv4 only',
  column_count: 'where they only lack fields at their end: --pad-short-rows',
  ip_list: 'say which of them is meant: --ip-from-list first',
  decimal_number: 'a program made numbers of them: make the column text there, and export it again',
};

/** What is wrong with a list's rows and values, by code, with the first rows; nothing where nothing is. */
export function troubleLines(
  {heading, allIn}: {readonly heading: string; readonly allIn: string},
  errors: readonly {readonly code: string; readonly count: number; readonly rows: readonly number[]}[],
): string[] {
  if (errors.length === 0) return [];
  const lines = errors.slice(0, MOST_CODES).map(({code, count: times, rows}) => {
    const named = rows.slice(0, NAMED_ROWS).join(', ');
    const what = advice[code.slice(code.indexOf('.') + 1)];
    return `  ${count(times)} × ${code}: row${rows.length === 1 ? '' : 's'} ${named}${times > NAMED_ROWS ? ', …' : ''}${what === undefined ? '' : ` (${what})`}`;
  });
  const left = errors.length - MOST_CODES;
  return [
    heading,
    ...lines,
    ...(left > 0 ? [`  and ${count(left)} rarer: all of them are in ${allIn}`] : []),
  ];
}
