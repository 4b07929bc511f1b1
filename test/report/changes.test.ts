import {expect, test} from 'vitest';
import {levelGrid} from '../../src/report/changes.ts';

test('rows by level have a column for each level that they have now, or had before', () => {
  expect(levelGrid({low: {low: 9, high: 3}, unknown: {low: 1}})).toEqual({
    names: ['low', 'high', 'unknown'],
    rows: [
      ['low', '9', '3', '0'],
      ['high', '0', '0', '0'],
      ['unknown', '1', '0', '0'],
    ],
  });
});
