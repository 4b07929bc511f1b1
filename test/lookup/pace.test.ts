import {describe, expect, test} from 'vitest';
import type {Attempt} from '../../src/client/attempt.ts';
import type {Operation} from '../../src/client/wire.ts';
import type {Rate} from '../../src/job/values.ts';
import type {LaneSettings} from '../../src/lookup/local-executor.ts';
import {LocalExecutor} from '../../src/lookup/local-executor.ts';
import {Pacer} from '../../src/lookup/pacer.ts';
import {RateController} from '../../src/lookup/rate-controller.ts';
import {steadyClock} from '../../src/lookup/steady-clock.ts';

const answered: Attempt = {
  kind: 'answered',
  status: 200,
  latencyMs: 1,
  pace: {limits: {}},
  data: {},
  unknownFields: [],
  wrongTypes: [],
};

/** When each call was handed to the client, by operation, over `seconds` of real time; there is always work. */
async function dispatches(lanes: readonly LaneSettings[], seconds: number) {
  const sent = new Map<Operation, number[]>();
  const random = Math.random;
  const executor = new LocalExecutor({
    lanes,
    maxOutageMs: 60_000,
    onBudget: 'stop',
    now: steadyClock(Date.now()),
    random,
    client: {
      async send(operation) {
        const times = sent.get(operation) ?? [];
        times.push(performance.now());
        sent.set(operation, times);
        await new Promise(resolve => setTimeout(resolve, 5 * random()));
        return answered;
      },
    },
    ledger: {reserve: batch => batch.length, record: async () => {}, affords: () => true},
    policy: {
      maxAttempts: 6,
      maxResends: 2,
      resend: 'always',
      throttledCharge: 'free',
      rejectedCharge: 'maybe',
    },
    events: {settled() {}, stopped() {}},
  });
  const end = performance.now() + seconds * 1_000;
  const feed = async (operation: Operation) => {
    for (let n = 0; performance.now() < end; n++) {
      const lookup = {operation, key: `${operation}${n}`, params: {}};
      await executor.submit({lookup, cost: 1, known: false, ambiguous: false});
    }
  };
  await Promise.all(lanes.flatMap(({operations}) => operations.map(feed)));
  executor.stop();
  return sent;
}

function busiestWindow(times: readonly number[], windowMs: number): number {
  let first = 0;
  let most = 0;
  for (const [last, time] of times.entries()) {
    while ((times[first] as number) <= time - windowMs) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

const lane = (operation: Operation, count: number, perMs = 1_000): LaneSettings => ({
  operations: [operation],
  rate: {count, perMs},
  concurrency: 64,
});

/** Calls a second once the canary is over, which holds the first calls back. */
function mean(times: readonly number[]): number {
  const steady = times.filter(time => time >= (times[0] ?? 0) + 500);
  const span = (steady.at(-1) ?? 0) - (steady[0] ?? 0);
  return ((steady.length - 1) * 1_000) / span;
}

/** The quota is never passed, in no try; that it is used needs a machine that is not busy, so it gets three. */
async function expectPace(lanes: readonly LaneSettings[], seconds: number): Promise<void> {
  let used = 0;
  for (let attempt = 1; attempt <= 3 && used < 0.985; attempt++) {
    const sent = await dispatches(lanes, seconds);
    const shares = lanes.map(({operations, rate}) => {
      const times = operations.flatMap(operation => sent.get(operation) ?? []).sort((a, b) => a - b);
      const {count, perMs} = rate as Rate;
      expect(busiestWindow(times, perMs)).toBeLessThanOrEqual(count);
      return mean(times) / ((count * 1_000) / perMs);
    });
    used = Math.min(...shares);
  }
  expect(used).toBeGreaterThanOrEqual(0.985);
}

describe('no sliding window holds more calls than the rate allows, and it is used', () => {
  test('10/s', () => expectPace([lane('ip', 10)], 3));
  test('200/s', () => expectPace([lane('ip', 200)], 3));
  test('1,000/s', () => expectPace([lane('ip', 1_000)], 3));
  test('each operation at a rate of its own', () =>
    expectPace([lane('ip', 150), lane('email', 30), lane('phone', 60, 2_000)], 3));
});

test('several operations share one rate', async () => {
  const sent = await dispatches([{...lane('ip', 100), operations: ['ip', 'email']}], 2);
  const times = [...sent.values()].flat().sort((a, b) => a - b);
  expect(busiestWindow(times, 1_000)).toBeLessThanOrEqual(100);
  expect(times.length).toBeGreaterThan(100);
});

test('a clock that is set back or forth changes nothing: it is read once', () => {
  let elapsed = 5;
  const clock = steadyClock(1_000, () => elapsed);
  elapsed = 12.5;
  expect(clock()).toBe(1_007.5);
});

test('permits that were not used do not pile up', async () => {
  const rate = {count: 50, perMs: 1_000};
  const granted: number[] = [];
  const pacer = new Pacer(rate, new RateController(50), permits => granted.push(permits), steadyClock(0));
  pacer.request();
  await new Promise(resolve => setTimeout(resolve, 300));
  for (let n = 0; n < 3; n++) {
    pacer.request();
    await new Promise(resolve => setTimeout(resolve, 60));
  }
  expect(granted).toHaveLength(4);
  expect(Math.max(...granted)).toBeLessThanOrEqual(2);
});
