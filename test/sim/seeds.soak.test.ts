import {test} from 'vitest';
import {expectNoViolationOf} from './play-seeds.ts';

/** 200,000 take an hour or two of one core. */
const SEQUENCES = Number(process.env.SIM_SEQUENCES ?? 200_000);
const FIRST = Number(process.env.SIM_FIRST ?? 10_001);

test(`${SEQUENCES} sequences of commands break no promise`, {timeout: 12 * 3_600_000}, () =>
  expectNoViolationOf(FIRST, SEQUENCES),
);
