import {test} from 'vitest';
import {fuzzRun} from './fuzz.ts';

/** Rounds of 500 answers; 10,000 answers by default. */
const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 20);

test(`${ROUNDS * 500} generated answers: no crash, no hang, no row missing`, async () => {
  for (let seed = 2; seed < 2 + ROUNDS; seed++) await fuzzRun(seed, 500);
});
