import {expect, it} from 'vitest';
import {columnNames, numberedColumns} from '../../src/input/row.ts';

it.each([
  ['a,b', 'a,b'],
  ['a,a,a', 'a,a#2,a#3'],
  ['a,, ', 'a,column_2,column_3'],
  ['a,a,a#2', 'a,a#3,a#2'],
  [',column_1,column_1', 'column_1#2,column_1,column_1#3'],
  ['a,A, a', 'a,A, a'],
])('%j is addressed as %j', (header, names) => {
  expect(columnNames(header.split(',')).join()).toBe(names);
});

it('is quick where a name is repeated very often', () => {
  const names = columnNames(new Array(100_000).fill('a'));
  expect(new Set(names).size).toBe(100_000);
});

it('numbers the columns of a file without a header', () => {
  expect(numberedColumns(2)).toEqual(['column_1', 'column_2']);
});
