import {expect, test} from 'vitest';
import {playAndCompare} from './kill.ts';

test('a run killed at random instants ends with the bytes of one that was not, for the calls in flight at most', async () => {
  const {kills} = await playAndCompare({
    rows: 6_000,
    distinct: 600,
    seed: 11,
    maxKills: 4,
    withinMs: 1_000,
  });
  expect(kills).toBeGreaterThan(1);
});
