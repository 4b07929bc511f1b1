import {expect, test} from 'vitest';
import {intelligenceLookup} from '../../src/ledger/lookup.ts';
import {KeyFilter} from '../../src/ledger/run/key-filter.ts';

const keys = Array.from({length: 20_000}, (_, i) => intelligenceLookup('email', `a${i}@example.com`).key);

test('each key that was added may be known, and few others', () => {
  const filter = new KeyFilter(false);
  const [added, others] = [keys.slice(0, 10_000), keys.slice(10_000)];
  for (const key of added) filter.add(key);
  expect(added.every(key => filter.mayHave(key))).toBe(true);
  // One in 839 by chance.
  expect(others.filter(key => filter.mayHave(key)).length).toBeLessThan(40);
});

test('of a ledger that has rows already every key may be known', () => {
  const filter = new KeyFilter(true);
  expect(keys.every(key => filter.mayHave(key))).toBe(true);
});
