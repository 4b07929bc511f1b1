import {expect, test} from 'vitest';
import {countReject, emptyCounters} from '../../src/run/counters.ts';

test('of each error code the first ten rows are named, and all are counted', () => {
  const counters = emptyCounters();
  for (let record = 1; record <= 12; record++) {
    const place = {record, line: record, file: 'a.csv', detail: '', raw: ''};
    countReject(counters, {type: 'reject', reason: 'column_count', ...place});
  }
  expect(counters.errors).toEqual({
    'rejected.column_count': {count: 12, rows: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]},
  });
  expect(counters.rows).toEqual({written: 0, rejected: 12, ok: 0, with_errors: 0});
});
