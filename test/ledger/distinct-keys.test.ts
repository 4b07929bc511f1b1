import {expect, test, vi} from 'vitest';
import {Sqlite} from '../../src/disk/sqlite.ts';
import {intelligenceLookup} from '../../src/ledger/lookup-outcome.ts';
import {BitSet, DistinctKeys} from '../../src/ledger/run/distinct-keys.ts';

/** Keys that begin with the same four bytes, have the next four in common, or have zeros there. */
const alike = [0, 2 ** 14, 1, 1 + 2 ** 14].flatMap(first =>
  [0, 1, 2]
    .filter(second => first + second > 0)
    .map(second => ({key: Buffer.from(Int32Array.of(first, second, 0, 0).buffer).toString('base64url')})),
);

/** As many as fit into twice the least room for keys. */
const lookups = [
  ...alike,
  ...Array.from({length: 0.75 * 2 ** 15 - alike.length}, (_, n) =>
    intelligenceLookup('ip', `198.18.${n >> 8}.${n & 255}`),
  ),
];

test.each([
  ['in memory, which grows', 2 ** 15, false],
  ['in memory, and beyond it in a file', 2 ** 14, true],
])('each value is new once: %s', (_, slots, isWritten) => {
  const written = vi.spyOn(Sqlite.prototype, 'transaction');
  const keys = new DistinctKeys(slots);
  const given = lookups.flatMap((lookup, n) => [lookup, lookups[n >> 1] ?? lookup]);
  const fresh = new Set<string>();
  for (let n = 0; n < given.length; n += 1_000)
    for (const {key} of keys.fresh(given.slice(n, n + 1_000))) {
      expect(fresh.has(key)).toBe(false);
      fresh.add(key);
    }
  expect(fresh.size).toBe(lookups.length);
  expect(keys.fresh(lookups)).toEqual([]);
  expect(written.mock.calls.length > 0).toBe(isWritten);
  written.mockRestore();
  keys.close();
});

test('a set has the numbers that were added, and no others', () => {
  const bits = new BitSet();
  const added = [0, 7, 8, 32_767, 32_768, 1_000_003];
  for (const number of added) bits.add(number);
  const near = added.flatMap(number => [number - 1, number, number + 1]).filter(number => number >= 0);
  expect([...new Set(near)].filter(number => bits.has(number))).toEqual(added);
});
