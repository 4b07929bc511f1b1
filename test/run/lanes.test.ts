import {expect, test} from 'vitest';
import type {Job} from '../../src/job/job.ts';
import {lanesOf} from '../../src/run/open/lanes.ts';

const perSecond = (count: number) => ({count, perMs: 1_000});

/** The lanes of a job for a live service. */
const lanes = (settings: object, account?: {rate: ReturnType<typeof perSecond>}) =>
  lanesOf({endpoint: {kind: 'live'}, settings} as unknown as Job, ['ip', 'email', 'phone'], account);

test('however many rates a job has, no more calls are in flight at once than --concurrency', () => {
  const rate = {ip: perSecond(50), email: perSecond(10)};
  expect(lanes({rate, concurrency: 10}).map(({name, concurrency}) => [name, concurrency])).toEqual([
    ['ip', 3],
    ['email', 3],
    ['all', 3],
  ]);
  expect(lanes({concurrency: 10})).toMatchObject([{name: 'all', concurrency: 10}]);
});

test("no rate of a job exceeds its account's, whatever operation it is for", () => {
  const rate = {ip: perSecond(50), email: perSecond(10), all: perSecond(100)};
  expect(lanes({rate}, {rate: perSecond(20)}).map(({name, rate}) => [name, rate])).toEqual([
    ['ip', perSecond(20)],
    ['email', perSecond(10)],
    ['all', perSecond(20)],
  ]);
});

test("without a rate of its own a job has its account's, also if that is faster than usual", () => {
  expect(lanes({}, {rate: perSecond(50)})).toMatchObject([{name: 'all', rate: perSecond(50)}]);
});
