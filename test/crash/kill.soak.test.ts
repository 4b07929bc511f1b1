import {expect, test} from 'vitest';
import {playAndCompare} from './kill.ts';

const KILLS = Number(process.env.SOAK_KILLS ?? 200);

test(`${KILLS} kills at random instants of runs of 20,000 rows`, async () => {
  let kills = 0;
  let extra = 0;
  let runs = 0;
  for (let seed = 100; kills < KILLS; seed++) {
    const result = await playAndCompare({rows: 20_000, distinct: 4_000, seed, maxKills: 20, withinMs: 2_500});
    kills += result.kills;
    extra += result.calls - result.distinct;
    runs += 1;
  }
  console.log(`${runs} runs, ${kills} kills, ${extra} extra calls (${(extra / kills).toFixed(1)} a kill)`);
  expect(kills).toBeGreaterThanOrEqual(KILLS);
});
