import {test} from 'vitest';
import {expectNoGrowth} from './many-nights.ts';

test('night after night nothing grows: not the store, not the state, not a file beside the output', async () => {
  await expectNoGrowth(9);
});
