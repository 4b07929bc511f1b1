import {test} from 'vitest';
import {playAndCompare} from './kill.ts';

const ROWS = Number(process.env.SOAK_ROWS ?? 100_000);

test.each([21, 22])(`${ROWS} rows through random faults and kills, seed %i`, async seed => {
  const result = await playAndCompare({
    rows: ROWS,
    distinct: Math.ceil(ROWS / 12),
    seed,
    serverFaults: 0.03,
    networkFaults: 0.02,
    maxKills: 10,
    withinMs: 8_000,
  });
  console.log(`seed ${seed}: ${JSON.stringify(result)}`);
});
