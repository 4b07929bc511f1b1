import {expect, test} from 'vitest';
import {intelligenceLookup} from '../../src/ledger/lookup-outcome.ts';
import {BitSet} from '../../src/ledger/run/distinct-keys.ts';
import {bitOfKey} from '../../src/ledger/run/ledger-writer.ts';

test('a set has the numbers that were added, and no others', () => {
  const bits = new BitSet();
  const added = [0, 7, 8, 32_767, 32_768, 1_000_003];
  for (const number of added) bits.add(number);
  const near = added.flatMap(number => [number - 1, number, number + 1]).filter(number => number >= 0);
  expect([...new Set(near)].filter(number => bits.has(number))).toEqual(added);
});

test('few keys share a bit', () => {
  const keys = Array.from({length: 20_000}, (_, i) => intelligenceLookup('email', `a${i}@example.com`).key);
  const taken = new Set(keys.slice(0, 10_000).map(bitOfKey));
  // One in 839 by chance.
  expect(keys.slice(10_000).filter(key => taken.has(bitOfKey(key))).length).toBeLessThan(40);
});
