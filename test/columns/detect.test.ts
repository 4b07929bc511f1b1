import {describe, expect, test, vi} from 'vitest';
import {listColumns} from '../../src/columns/recognize/column.ts';
import {detectColumns} from '../../src/columns/recognize/detect.ts';
import {intelligenceNames, operations} from '../../src/operations/table.ts';
import {csvRows, ndjsonRow} from '../lookup/rows.ts';

const guessesOf = (...list: Parameters<typeof detectColumns>) => detectColumns(...list).guesses;

/** The guess for a column of this name and content: `ip sure`, or nothing. */
function guess(name: string, cells: readonly string[], country?: string): string | undefined {
  const found = guessesOf([name], csvRows(...cells.map(cell => [cell])), {fallback: country});
  return found[0] === undefined ? undefined : `${found[0].operation} ${found[0].verdict}`;
}

/** All guesses, in words. */
const told = (names: string, rows: Parameters<typeof guessesOf>[1], more = {}) =>
  guessesOf(names.split('|'), rows, more).map(({operation, column, verdict, reason = ''}) =>
    `${operation} ${column} ${verdict} ${reason}`.trim(),
  );

const six = <T>(cell: T): T[] => Array.from({length: 6}, () => cell);

test('a header counts without any values, is sure if half of the content confirms it, and else unsure', () => {
  expect(guess('email', ['', ' ', 'n/a'])).toBe('email sure');
  expect(guess('ip', ['192.0.2.1', '198.51.100.7', 'x', 'y'])).toBe('ip sure');
  expect(guess('ip', ['yes', 'no', 'yes', '192.0.2.1'])).toBe('ip ask');
});

describe('content alone', () => {
  test.each([
    ['192.0.2.1', 'ip sure'],
    ['jo@example.com', 'email sure'],
    ['+12025550143', 'phone sure'],
    // It is named, and not taken: any column of such digits can be something else.
    ['2025550143', 'phone name'],
    ['some text', undefined],
  ])('six times %j in a column "a"', (cell, expected) => {
    expect(guess('a', six(cell), 'US')).toBe(expected);
  });

  test('one value is as good as a thousand; one in ten may be something else; with more it is unsure, and with half of them none', () => {
    expect(guess('a', ['192.0.2.1'])).toBe('ip sure');
    const nine = Array.from({length: 9}, (_, n) => `192.0.2.${n}`);
    expect(guess('a', [...nine, 'x'])).toBe('ip sure');
    expect(guess('a', [...nine.slice(1), 'hello', 'there'])).toBe('ip name');
    expect(guess('a', [...nine.slice(0, 4), ...Array(5).fill('hello')])).toBeUndefined();
  });
});

describe('columns of countries', () => {
  const SG = Array.from({length: 6}, (_, n) => [`6123 456${n}`, '2025550143', 'SG', 'SG']);

  test.each([
    // Whatever country another person's number is of.
    ['Phone|Accountant Phone|Country|Billing Country', SG, ['country Country sure']],
    ['Accountant Phone|Manager Phone|Country|Billing Country', SG, ['country Country sure']],
    ['Phone|Billing Country', six(['030 23125001', 'US']), ['country Billing Country ask']],
    // Few numbers are valid with the other one.
    [
      'Phone|Country|Country/Region',
      [...six(['2025550143', 'US', 'GB']), ['2079460123', 'US', 'GB']],
      ['country Country sure'],
    ],
    ['email|country', six(['jo@example.com', 'US']), []],
    ['phone|country', six(['2025550143', 'Utopia']), []],
  ])('among %s', (names, rows, expected) => {
    const choices = guessesOf(names.split('|'), csvRows(...rows)).flatMap(({country = []}) => country);
    const found = choices.flatMap(({found, columns}) =>
      columns.map(({name}) => `country ${name} ${found ? 'sure' : 'ask'}`),
    );
    expect([...new Set(found)]).toEqual(expected);
  });
});

test('numbers of which one is labelled as another person’s are left out, however many are not', () => {
  const labelled = ['Mobile', 'Home', 'Mobile', 'Spouse', 'Mobile', 'Home'];
  const rows = csvRows(...labelled.map((label, n) => ['+12025550143', label, `+1202555010${n}`]));
  const found = ['phone Phone 1 - Value sure', 'phone Phone 2 - Value name another'];
  expect(told('Phone 1 - Value|Phone 2 - Label|Phone 2 - Value', rows)).toEqual(found);
});

test('an unsure column has its most frequent fault, with the first record that has it', () => {
  const rows = csvRows(...['192.0.2.1', 'x', ...six('192.0.2.0/24')].map(cell => [cell]));
  expect(guessesOf(['ip'], rows.slice(1))).toMatchObject([{fault: {code: 'ip_range', row: 3}}]);
});

test('a column that its header names is kept, however distinct the values of a nameless one are', () => {
  const rows = csvRows(...Array.from({length: 12}, (_, n) => [`+1202555017${n % 2}`, `+120255501${n + 10}`]));
  expect(told('Phone|x', rows)).toEqual(['phone Phone sure', 'phone x name values']);
});

test('NDJSON: a column that may be another party’s is left out beside the first entry of a list', () => {
  const rows = Array.from({length: 6}, (_, n) =>
    ndjsonRow(`{"phones":["+1202555010${n}"],"accountant_phone":"+1202555011${n}"}`),
  );
  const found = ['phone accountant_phone name strange', 'phone phones.0 name list'];
  expect(told('phones|accountant_phone', rows)).toEqual(found);
});

test('a value is counted once, however it is spelled', () => {
  const rows = csvRows(['+1 202 555 0143'], ['+12025550143'], ['tel:+1-202-555-0143'], ['+12025550144']);
  expect(guessesOf(['phone'], rows)).toMatchObject([{values: 4, distinct: 2}]);
});

test('unsupported addresses count as addresses; a column with mostly fitting values is named if no other fits', () => {
  const address = (i: number) => (i % 2 === 0 ? `192.0.2.${i}` : `2001:db8::${i}`);
  const both = Array.from({length: 6}, (_, i) => [address(i), `u${i}@example.com`]);
  expect(told('seen_from|mail', csvRows(...both))).toEqual(['ip seen_from name values', 'email mail sure']);
  const most = Array.from({length: 8}, (_, i) =>
    i < 6 ? [`u${i}@example.com`, `+1202555010${i}`] : ['none of it', 'call me'],
  );
  const named = ['email contacto name values', 'phone nr name values'];
  expect(told('contacto|nr', csvRows(...most))).toEqual(named);
  const mails = csvRows(...most.map(([a = '']) => [a, 'jo@example.com']));
  expect(told('contacto|mail', mails)).toEqual(['email contacto name values', 'email mail sure']);
});

test('without a header a few values are enough where there is nothing else', () => {
  const rows = csvRows(['192.0.2.1', 'hello'], ['198.51.100.7', 'jo@example.com']);
  const found = ['ip column_1 sure', 'email column_2 name values'];
  expect(told('column_1|column_2', rows, {headless: true})).toEqual(found);
});

test('an operation that is newer than a job is not found by itself, so that an upgrade costs nothing', () => {
  expect(intelligenceNames.filter(name => operations[name].isDetected)).toEqual(['ip', 'phone', 'email']);
  const spec: {isDetected: boolean} = operations.email;
  spec.isDetected = false;
  try {
    expect(guess('email', six('jo@example.com'))).toBeUndefined();
  } finally {
    spec.isDetected = true;
  }
  expect(guess('email', six('jo@example.com'))).toBe('email sure');
});

test('the columns of a wide list are not searched once for each column', () => {
  const names = Array.from({length: 5}, (_, nth) => `c${nth}`);
  const searched = vi.fn(() => -1);
  Object.assign(names, {indexOf: searched, includes: searched});
  expect(listColumns(names).map(({isInList}) => isInList)).toEqual(six(false).slice(1));
  expect(searched).not.toHaveBeenCalled();
});
