import {expect, test} from 'vitest';
import {chargedUnderLimit} from './budget.ts';

const SEEDS = Number(process.env.SOAK_SEEDS ?? 50);

test(`the credit limit is never passed over ${SEEDS} seeds`, async () => {
  const charged: number[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) charged.push(await chargedUnderLimit(seed, 6));
  console.log(`charged: ${Math.min(...charged)} to ${Math.max(...charged)} of 1000`);
  expect(Math.max(...charged)).toBeLessThanOrEqual(1_000);
});
