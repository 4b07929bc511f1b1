import {expect, test} from 'vitest';
import {countUp} from '../../src/ledger/tally.ts';

test('names that every object has are counted like others', () => {
  const counts: Record<string, number> = {};
  for (const name of ['constructor', 'toString', 'a', 'constructor']) countUp(counts, name);
  expect(counts).toEqual({constructor: 2, toString: 1, a: 1});
});
