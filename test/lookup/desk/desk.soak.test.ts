import {expect, test} from 'vitest';
import {playRandomNights} from './nights.ts';

test('random nights, for longer', () => {
  expect(playRandomNights(1_000_000, Number(process.env.SOAK_NIGHTS ?? 100_000))).toEqual([]);
}, 3_600_000);
