import {expect, test} from 'vitest';
import {playRandomNights} from './nights.ts';
import {services} from './play.ts';
import {playService} from './services.ts';

test('random nights, for longer', () => {
  expect(playRandomNights(1_000_000, Number(process.env.SOAK_NIGHTS ?? 100_000))).toEqual([]);
}, 3_600_000);

test('20,000 values of each service', () => {
  expect(services.flatMap(service => playService(service, 20_000))).toEqual([]);
}, 600_000);
