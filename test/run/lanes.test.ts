import {expect, test} from 'vitest';
import type {Job} from '../../src/job/job.ts';
import type {Rate} from '../../src/job/setting-types.ts';
import {planLanes} from '../../src/run/open/connection.ts';
import {whole} from '../support/whole.ts';

const perSecond = (count: number) => ({count, perMs: 1_000});

/** The lanes of a job for a live service. */
const lanes = (settings: object, account?: {rate: ReturnType<typeof perSecond>}) =>
  planLanes(whole<Job>({endpoint: {kind: 'live'}, settings}), ['ip', 'email', 'phone'], account);

test("a job's rates together are at most its account's: they are lowered by one factor", () => {
  const rate = {ip: perSecond(50), email: perSecond(10), all: perSecond(100)};
  const within = (account: object) =>
    lanes({rate}, {rate: account as Rate}).map(({name, rate}) => [name, rate] as const);
  expect(within(perSecond(20))).toEqual([
    ['ip', perSecond(8)],
    ['email', perSecond(4)],
    ['all', perSecond(8)],
  ]);
  // A minute's calls do not all leave in the first second of it.
  expect(within({count: 7_200, perMs: 60_000})).toEqual([
    ['ip', perSecond(37)],
    ['email', perSecond(7)],
    ['all', perSecond(75)],
  ]);
  expect(within(perSecond(1))).toEqual([
    ['ip', {count: 1, perMs: 3_000}],
    ['email', {count: 1, perMs: 3_000}],
    ['all', {count: 1, perMs: 3_000}],
  ]);
  expect(within(perSecond(160))).toEqual(Object.entries(rate));
});

test("without a rate of its own a job has its account's, also if that is faster than usual", () => {
  expect(lanes({}, {rate: perSecond(50)})).toMatchObject([{name: 'all', rate: perSecond(50)}]);
});
