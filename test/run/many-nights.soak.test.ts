import {test} from 'vitest';
import {expectNoGrowth} from './many-nights.ts';

const nights = Number(process.env.SOAK_NIGHTS ?? 60);

test(`over ${nights} nights nothing grows for ever`, {timeout: 600_000}, async () => {
  const [before, last] = await expectNoGrowth(nights);
  for (const [file, size] of Object.entries(last))
    process.stderr.write(`${file}: ${before[file]} bytes, then ${size}\n`);
});
