import {expect, test} from 'vitest';
import {chargedUnderLimit} from './budget.ts';

test.each([21])('the credit limit is never passed, whatever fails and is killed (seed %i)', async seed => {
  expect(await chargedUnderLimit(seed, 2)).toBeLessThanOrEqual(1_000);
});
