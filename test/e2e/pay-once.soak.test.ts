import {test} from 'vitest';
import {expectPaidOnce} from './pay-once.ts';

test('100,000 rows with 40% repeated values in varied spelling: each distinct value is one call', {
  timeout: 600_000,
}, async () => {
  await expectPaidOnce(Number(process.env.SOAK_ROWS ?? 100_000));
});
