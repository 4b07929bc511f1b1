import {expect, test} from 'vitest';
import {BitSet} from '../../src/ledger/run/distinct-keys.ts';

test('a set has the numbers that were added, and no others', () => {
  const bits = new BitSet();
  const added = [0, 7, 8, 32_767, 32_768, 1_000_003];
  for (const number of added) bits.add(number);
  const near = added.flatMap(number => [number - 1, number, number + 1]).filter(number => number >= 0);
  expect([...new Set(near)].filter(number => bits.has(number))).toEqual(added);
});
