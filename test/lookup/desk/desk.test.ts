import {expect, test} from 'vitest';
import {playRandomNights} from './nights.ts';
import {broken, ok, play, rejected} from './play.ts';
import {playService, services} from './services.ts';

/** The desk alone, in virtual time. test/seams has nights of whole runs. */

const isSoak = process.env.SOAK !== undefined;

test.each(services)('%s: near the ideal, a quarter of the calls refused at most', (...service) => {
  expect(playService(service, isSoak ? 20_000 : (service[1].values ?? 1_500))).toEqual([]);
});

test('random nights: each value is told once, no limit, rate or pause is exceeded, and the books are the service’s', () => {
  expect(isSoak ? playRandomNights(1_000_000, 100_000) : playRandomNights(1, 2_500)).toEqual([]);
  // Rare ones that once broke a promise: in an outage the last value ended for want of credits.
  for (const night of [1_002_012, 1_065_181]) expect(playRandomNights(night, 1)).toEqual([]);
});

test('a refusal that ends the calls is told once', () => {
  const forbidden = {...rejected('forbidden'), status: 403} as const;
  const {notices} = play({values: 50, latencyMs: 20, isAnswered: () => true}, () => ({attempt: forbidden}));
  expect(notices).toEqual(['stopped']);
});

test('an operation that always fails does not hold up another', () => {
  const rate = {count: 50, perMs: 1_000};
  const {told} = play(
    {
      ...{values: 1_000, latencyMs: 20, rate, closesAt: 120_000},
      operationOf: value => (value % 2 === 0 ? 'ip' : 'email'),
    },
    ({value}) => ({attempt: value % 2 === 0 ? ok : broken}),
  );
  expect([...told.values()].filter(({status}) => status === 'ok')).toHaveLength(500);
});
