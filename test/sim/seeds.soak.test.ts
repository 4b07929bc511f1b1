import {test} from 'vitest';
import {expectNoViolation} from './play-seeds.ts';

/** 200,000 take about an hour of one core. */
const SEQUENCES = Number(process.env.SIM_SEQUENCES ?? 200_000);

test(`${SEQUENCES} sequences of commands break no promise`, {timeout: 6 * 3_600_000}, () =>
  expectNoViolation(10_001, SEQUENCES, 20),
);
