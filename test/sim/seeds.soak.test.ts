import {test} from 'vitest';
import {expectNoViolationOf, FLEETS} from './play-seeds.ts';

/** 200,000 take an hour or two of one core. */
const SEQUENCES = Number(process.env.SIM_SEQUENCES ?? 200_000);
const FIRST = Number(process.env.SIM_FIRST ?? 10_001);

const parts = [`${FIRST}+${SEQUENCES}`, `${FLEETS + FIRST}+${Math.ceil(SEQUENCES / 4)}`];

test(`${SEQUENCES} sequences of commands break no promise, nor do fleets`, {timeout: 12 * 3_600_000}, () =>
  expectNoViolationOf(FIRST < FLEETS ? parts : parts.slice(0, 1), SEQUENCES),
);
