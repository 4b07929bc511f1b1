import {setTimeout as sleep} from 'node:timers/promises';
import {describe, expect, test, vi} from 'vitest';
import {Pacer} from '../../src/lookup/pace/pacer.ts';
import {RateController} from '../../src/lookup/pace/rate-controller.ts';
import {steadyClock} from '../../src/lookup/pace/steady-clock.ts';
import {until} from '../support/until.ts';
import {busiestWindow, dispatches, expectPace, inVirtualTime, lane} from './dispatches.ts';

const rates = [
  ['10/s', [lane('ip', 10)]],
  ['200/s', [lane('ip', 200)]],
  ['1,000/s', [lane('ip', 1_000)]],
  ['each operation at a rate of its own', [lane('ip', 150), lane('email', 30), lane('phone', 60, 2_000)]],
] as const;
const shared = {...lane('ip', 100), operations: ['ip', 'email']} as const;

// They wait for time to pass, each with an executor of its own. How much is used, a busy machine decides.
describe.concurrent('no sliding window holds more calls than the rate allows, however late timers are', () => {
  test.each(rates)('%s', async (_, lanes) => {
    await expectPace(lanes, 2.5);
  });
  test('several operations share one rate', async () => {
    await expectPace([shared], 2);
  });
});

describe('where nothing else holds it up, the rate is used', () => {
  test.each(rates)('%s', async (_, lanes) => {
    expect(await inVirtualTime(() => expectPace(lanes, 2.5))).toBeGreaterThanOrEqual(0.985);
  });
  test('by several operations that share it', async () => {
    const sent = await inVirtualTime(() => dispatches([shared], 2));
    const times = [...sent.values()].flat().sort((a, b) => a - b);
    expect(busiestWindow(times, 1_000)).toBeLessThanOrEqual(100);
    expect(times.length).toBeGreaterThan(190);
    expect(sent.size).toBe(2);
  });
});

test('a clock that is set back or forth changes nothing: it is read once', () => {
  let elapsed = 5;
  const clock = steadyClock(1_000, () => elapsed);
  elapsed = 12.5;
  expect(clock()).toBe(1_007.5);
});

test.each([-172_800, -40, 3_600])(
  'a clock that is set by %d s meanwhile does not hold the pace up',
  async seconds => {
    let granted = 0;
    const clock = steadyClock(Date.now());
    const pacer = new Pacer(
      {count: 100, perMs: 1_000},
      new RateController(100),
      permits => {
        granted += permits;
        for (let sent = 0; sent < permits; sent++) pacer.sent();
      },
      clock,
    );
    const real = Date.now.bind(Date);
    const lease = async () => {
      const before = granted;
      pacer.request();
      await until(() => granted > before);
    };
    const startedAt = performance.now();
    try {
      for (let leases = 0; leases < 10; leases++) {
        await lease();
        if (leases === 4) vi.spyOn(Date, 'now').mockImplementation(() => real() + seconds * 1_000);
      }
    } finally {
      vi.restoreAllMocks();
    }
    // Ten of ten milliseconds each: a machine may be busy, but a clock that is set holds it up for longer.
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  },
);

test('a wait by a clock that was set back ends with the run: it would keep the process alive', async () => {
  const pacer = new Pacer(
    {count: 20, perMs: 1_000},
    new RateController(20),
    () => {},
    steadyClock(Date.now()),
  );
  const set = vi.spyOn(globalThis, 'setTimeout');
  const cleared = vi.spyOn(globalThis, 'clearTimeout');
  const real = Date.now.bind(Date);
  const dayLong = () => set.mock.calls.findIndex(([, ms = 0]) => ms > 80_000_000);
  try {
    pacer.request();
    await sleep(20);
    vi.spyOn(Date, 'now').mockImplementation(() => real() - 86_400_000);
    pacer.request();
    await until(() => dayLong() >= 0);
    pacer.stop();
    await until(() => cleared.mock.calls.some(([timer]) => timer === set.mock.results[dayLong()]?.value));
  } finally {
    vi.restoreAllMocks();
  }
});

test('permits that were not used do not pile up', async () => {
  let now = 0;
  const granted: number[] = [];
  const rate = {count: 50, perMs: 1_000};
  const pacer = new Pacer(
    rate,
    new RateController(50),
    permits => granted.push(permits),
    () => now,
  );
  for (const passed of [0, 300, 60, 60]) {
    now += passed;
    const before = granted.length;
    pacer.request();
    await until(() => granted.length > before);
  }
  expect(granted).toEqual([1, 1, 1, 1]);
});
