import {test} from 'vitest';
import {expectPaidOnce} from './pay-once.ts';

test('300 rows with 40% repeated values in varied spelling: each distinct value is one call', async () => {
  await expectPaidOnce(300);
});
