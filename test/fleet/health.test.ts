import type {Redis} from 'ioredis';
import {afterEach, beforeEach, expect, test, vi} from 'vitest';
import {Health} from '../../src/fleet/health.ts';
import type {StopReason} from '../../src/lookup/pace/pause.ts';
import {whole} from '../support/whole.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('an outage begins with the first trouble, even if another follows, and each is told once', async () => {
  const start = Date.now();
  const warnings: string[] = [];
  const outages: StopReason[] = [];
  let refusal: string | undefined;
  const redis = {status: 'connecting'};
  const health = new Health({
    redis: whole<Redis>(redis as unknown as Redis),
    where: 'queue',
    refused: () => refusal,
    maxOutageMs: 20_000,
    now: Date.now,
    warn: sentence => warnings.push(sentence),
    onCapacity: () => {},
    onOutage: reason => outages.push(reason),
  });
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
