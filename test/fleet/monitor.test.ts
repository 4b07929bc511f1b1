import type {Redis} from 'ioredis';
import {afterEach, beforeEach, expect, test, vi} from 'vitest';
import {FleetMonitor} from '../../src/fleet/monitor.ts';
import type {StopReason} from '../../src/lookup/call.ts';
import {whole} from '../support/whole.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Watches a Redis of which only what is given is looked at. */
function watch(redis: object, refused: () => string | undefined = () => undefined) {
  const warnings: string[] = [];
  const outages: StopReason[] = [];
  const capacities: number[] = [];
  const health = new FleetMonitor({
    redis: whole<Redis>(redis as Redis),
    where: 'queue',
    refused,
    maxOutageMs: 20_000,
    now: Date.now,
    warn: sentence => warnings.push(String(sentence)),
    onCapacity: (_, calls) => capacities.push(calls),
    onOutage: reason => outages.push(reason),
  });
  return {health, warnings, outages, capacities};
}

test('an outage begins with the first trouble, even if another follows, and each is told once', async () => {
  const start = Date.now();
  let refusal: string | undefined;
  const redis = {status: 'connecting'};
  const {health, warnings, outages} = watch(redis, () => refusal);
  await vi.advanceTimersByTimeAsync(2_000);
  expect([health.pause?.detail, warnings]).toEqual(["the fleet's Redis at queue can't be reached", []]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(warnings).toHaveLength(1);
  // The connection is there again, and Redis refuses writes.
  redis.status = 'ready';
  refusal = 'OOM';
  await vi.advanceTimersByTimeAsync(10_000);
  health.stop();
  expect(warnings).toHaveLength(2);
  expect(outages[0]).toMatchObject({kind: 'outage', sinceMs: start});
});

test('a Redis that is connected, but does not answer, is told of, and is an outage after its time', async () => {
  const redis = {status: 'ready', smembers: () => new Promise(() => {})};
  const {health, warnings, outages} = watch(redis);
  const silent = "the fleet's Redis at queue does not answer";
  const warned =
    "The fleet's Redis at queue does not answer: the run waits. It resumes by itself, or stops after --max-outage.";
  await vi.advanceTimersByTimeAsync(5_000);
  expect(health.pause).toBeUndefined();
  await vi.advanceTimersByTimeAsync(5_000);
  expect([health.pause?.detail, warnings, outages]).toEqual([silent, [warned], []]);
  await vi.advanceTimersByTimeAsync(20_000);
  health.stop();
  expect(warnings).toHaveLength(1);
  expect(outages[0]).toMatchObject({kind: 'outage', cause: silent, why: 'too long'});
});

test('an outage is over once the fleet can make calls: the next one counts from its own begin, and is told', async () => {
  const workers = [16, 4].map(concurrency => ({kind: 'worker', concurrency}));
  const smembers = async () => Object.keys(workers);
  const mget = async () => workers.map(worker => JSON.stringify(worker));
  const redis = {status: 'connecting', smembers, mget};
  const {health, warnings, outages, capacities} = watch(redis);
  for (const status of ['connecting', 'ready', 'connecting']) {
    redis.status = status;
    await vi.advanceTimersByTimeAsync(15_000);
    expect(health.pause === undefined, status).toBe(status === 'ready');
  }
  health.stop();
  expect([warnings.length, outages]).toEqual([2, []]);
  expect(new Set(capacities)).toEqual(new Set([20]));
});

test('a fleet without a worker waits, says how to start one, and is an outage after its time', async () => {
  const {health, warnings, outages} = watch({status: 'ready', smembers: async () => []});
  await vi.advanceTimersByTimeAsync(25_000);
  health.stop();
  const start = 'Start one with: bulk-enrich worker --redis queue';
  expect(warnings).toEqual([`No worker is running on queue: the run waits. ${start}`]);
  expect(outages[0]).toMatchObject({kind: 'outage', cause: 'no worker is running on queue'});
});
