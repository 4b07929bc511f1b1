import {test} from 'vitest';
import {expectNoViolation, FLEETS} from './play-seeds.ts';

test('150 sequences of commands, and 20 with a fleet, break no promise', {timeout: 600_000}, () =>
  expectNoViolation(['1+150', `${FLEETS}+20`]),
);
