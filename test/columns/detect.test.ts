import {describe, expect, test, vi} from 'vitest';
import {listColumns} from '../../src/columns/recognize/column.ts';
import {detectColumns} from '../../src/columns/recognize/detect.ts';
import {intelligenceNames, operations} from '../../src/operations/table.ts';
import {csvRows, ndjsonRow} from '../lookup/rows.ts';

const guessesOf = (...list: Parameters<typeof detectColumns>) => detectColumns(...list).guesses;

/** The guess for a column of this name and content: `ip sure`, or nothing. */
function guess(name: string, cells: readonly string[], country?: string): string | undefined {
  const found = guessesOf([name], csvRows(...cells.map(cell => [cell])), {fallback: country});
  return found[0] === undefined ? undefined : `${found[0].operation} ${found[0].confidence}`;
}

const six = <T>(cell: T): T[] => Array.from({length: 6}, () => cell);

test('a header counts without any values, is sure if half of the content confirms it, and else unsure', () => {
  expect(guess('email', ['', ' ', 'n/a'])).toBe('email sure');
  expect(guess('ip', ['192.0.2.1', '198.51.100.7', 'x', 'y'])).toBe('ip sure');
  expect(guess('ip', ['yes', 'no', 'yes', '192.0.2.1'])).toBe('ip unsure');
});

describe('content alone', () => {
  test.each([
    ['192.0.2.1', 'ip sure'],
    ['jo@example.com', 'email sure'],
    ['+12025550143', 'phone sure'],
    // It is named, and not taken: any column of such digits can be something else.
    ['2025550143', 'phone unsure'],
    ['some text', undefined],
  ])('six times %j in a column "a"', (cell, expected) => {
    expect(guess('a', six(cell), 'US')).toBe(expected);
  });

  test('one value is as good as a thousand; one in ten may be something else; with more it is unsure, and with half of them none', () => {
    expect(guess('a', ['192.0.2.1'])).toBe('ip sure');
    const nine = Array.from({length: 9}, (_, n) => `192.0.2.${n}`);
    expect(guess('a', [...nine, 'x'])).toBe('ip sure');
    expect(guess('a', [...nine.slice(1), 'hello', 'there'])).toBe('ip unsure');
    expect(guess('a', [...nine.slice(0, 4), ...Array(5).fill('hello')])).toBeUndefined();
  });
});

describe('countries', () => {
  test.each([
    ['Phone', 'Accountant Phone'],
    ['Accountant Phone', 'Manager Phone'],
  ])('that is right for %s is sure, whatever country %s is of', (own, other) => {
    const some = csvRows(...Array.from({length: 6}, (_, n) => [`6123 456${n}`, '2025550143', 'SG', 'SG']));
    const guesses = guessesOf([own, other, 'Country', 'Billing Country'], some);
    expect(guesses.filter(({operation}) => operation === 'country')).toMatchObject([
      {column: 'Country', confidence: 'sure'},
    ]);
  });

  test('of another address is unsure if the numbers are not valid there', () => {
    const some = csvRows(...six(['030 23125001', 'US']));
    expect(guessesOf(['Phone', 'Billing Country'], some)[0]).toMatchObject({
      operation: 'country',
      confidence: 'unsure',
    });
  });

  test('is sure beside one with which few numbers are valid', () => {
    const some = csvRows(...six(['2025550143', 'US', 'GB']), ['2079460123', 'US', 'GB']);
    const guesses = guessesOf(['Phone', 'Country', 'Country/Region'], some);
    expect(guesses.filter(({operation}) => operation === 'country')).toMatchObject([
      {column: 'Country', confidence: 'sure'},
    ]);
  });

  test('is named with all its phone columns', () => {
    const some = csvRows(...six(['2025550143', '2025550144', 'US']));
    expect(guessesOf(['Phone', 'Mobile', 'Country'], some)[0]).toMatchObject({
      column: 'Country',
      numbers: ['Phone', 'Mobile'],
    });
  });

  test('without phone numbers nothing is said of a country column', () => {
    const some = csvRows(...six(['jo@example.com', 'US']));
    expect(guessesOf(['email', 'country'], some).map(({column}) => column)).toEqual(['email']);
  });

  test('a column without names of countries is not a country column', () => {
    const named = csvRows(...six(['2025550143', 'Utopia']));
    expect(guessesOf(['phone', 'country'], named).map(found => found.operation)).toEqual(['phone']);
  });
});

test('numbers of which one is labelled as another person’s are left out, however many are not', () => {
  const labelled = ['Mobile', 'Home', 'Mobile', 'Spouse', 'Mobile', 'Home'];
  const rows = csvRows(...labelled.map((label, n) => ['+12025550143', label, `+1202555010${n}`]));
  expect(guessesOf(['Phone 1 - Value', 'Phone 2 - Label', 'Phone 2 - Value'], rows)).toMatchObject([
    {column: 'Phone 1 - Value', confidence: 'sure'},
    {column: 'Phone 2 - Value', confidence: 'unsure', aside: 'another'},
  ]);
});

test('an unsure column has its most frequent fault, with the first record that has it', () => {
  const rows = csvRows(...['192.0.2.1', 'x', ...six('192.0.2.0/24')].map(cell => [cell]));
  expect(guessesOf(['ip'], rows.slice(1))).toMatchObject([{fault: {code: 'ip_range', row: 3}}]);
});

test('a column that its header names is kept, however distinct the values of a nameless one are', () => {
  const rows = csvRows(...Array.from({length: 12}, (_, n) => [`+1202555017${n % 2}`, `+120255501${n + 10}`]));
  expect(guessesOf(['Phone', 'x'], rows)).toMatchObject([
    {column: 'Phone', confidence: 'sure'},
    {column: 'x', confidence: 'unsure', aside: 'values'},
  ]);
});

test('NDJSON: a column that may be another party’s is left out beside the first entry of a list', () => {
  const rows = Array.from({length: 6}, (_, n) =>
    ndjsonRow(`{"phones":["+1202555010${n}"],"accountant_phone":"+1202555011${n}"}`),
  );
  const guesses = guessesOf(['phones', 'accountant_phone'], rows);
  expect(guesses.map(({column, aside}) => [column, aside])).toEqual([
    ['accountant_phone', 'strange'],
    ['phones.0', 'list'],
  ]);
});

test('a value is counted once, however it is spelled', () => {
  const rows = csvRows(['+1 202 555 0143'], ['+12025550143'], ['tel:+1-202-555-0143'], ['+12025550144']);
  expect(guessesOf(['phone'], rows)).toMatchObject([{values: 4, distinct: 2}]);
});

test('unsupported addresses count as addresses; a column with mostly fitting values is named if no other fits', () => {
  const of = (names: string[], ...rows: string[][]) =>
    guessesOf(names, csvRows(...rows)).map(
      ({operation, column, confidence}) => `${operation} ${column} ${confidence}`,
    );
  const both = Array.from({length: 6}, (_, i) => [
    i % 2 === 0 ? `192.0.2.${i}` : `2001:db8::${i}`,
    `u${i}@example.com`,
  ]);
  expect(of(['seen_from', 'mail'], ...both)).toEqual(['ip seen_from unsure', 'email mail sure']);
  const most = Array.from({length: 8}, (_, i) => [
    i < 6 ? `u${i}@example.com` : 'none of it',
    i < 6 ? `+1202555010${i}` : 'call me',
  ]);
  expect(of(['contacto', 'nr'], ...most)).toEqual(['email contacto unsure', 'phone nr unsure']);
  expect(of(['contacto', 'mail'], ...most.map(([a = '']) => [a, 'jo@example.com']))).toEqual([
    'email contacto unsure',
    'email mail sure',
  ]);
});

test('without a header a few values are enough where there is nothing else', () => {
  const rows = csvRows(['192.0.2.1', 'hello'], ['198.51.100.7', 'jo@example.com']);
  expect(guessesOf(['column_1', 'column_2'], rows, {headless: true})).toMatchObject([
    {operation: 'ip', column: 'column_1', confidence: 'sure'},
    {operation: 'email', column: 'column_2', confidence: 'unsure', aside: 'values'},
  ]);
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
