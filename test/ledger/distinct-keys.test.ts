import {existsSync} from 'node:fs';
import {expect, test} from 'vitest';
import {DistinctKeys} from '../../src/ledger/distinct-keys.ts';
import {intelligenceLookup} from '../../src/ledger/lookup.ts';
import {createSandbox} from '../support/command.ts';

/** As many as the least room for keys has slots. */
const lookups = Array.from({length: 2 ** 14}, (_, n) =>
  intelligenceLookup('ip', `198.18.${n >> 8}.${n & 255}`),
);

test.each([
  ['in memory, which grows', 2 ** 15, false],
  ['in memory, and beyond it in a file', 2 ** 14, true],
])('each value is new once: %s', (_, slots, isWritten) => {
  using sandbox = createSandbox();
  const path = sandbox.path('keys.db');
  const keys = new DistinctKeys(path, slots);
  const given = lookups.flatMap((lookup, n) => [lookup, lookups[n >> 1] ?? lookup]);
  const fresh = new Set<string>();
  for (let n = 0; n < given.length; n += 1_000)
    for (const {key} of keys.fresh(given.slice(n, n + 1_000))) {
      expect(fresh.has(key)).toBe(false);
      fresh.add(key);
    }
  expect(fresh.size).toBe(lookups.length);
  expect(keys.fresh(lookups)).toEqual([]);
  expect(existsSync(path)).toBe(isWritten);
  keys.close();
});
