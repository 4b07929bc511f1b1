import {describe, expect, test} from 'vitest';
import {Pacer} from '../../src/lookup/pace/pacer.ts';
import {RateController} from '../../src/lookup/pace/rate-controller.ts';
import {steadyClock} from '../../src/lookup/pace/steady-clock.ts';
import {until} from '../support/until.ts';
import {busiestWindow, dispatches, expectPace, lane} from './dispatches.ts';

/** The contract's 98.5% is the soak's to show: here the machine may be busy with other tests. */
const USED = 0.8;

// They wait for time to pass, each with an executor of its own.
describe.concurrent('no sliding window holds more calls than the rate allows, and it is used', () => {
  test('10/s', () => expectPace([lane('ip', 10)], 2.5, USED));
  test('200/s', () => expectPace([lane('ip', 200)], 2.5, USED));
  test('1,000/s', () => expectPace([lane('ip', 1_000)], 2.5, USED));
  test('each operation at a rate of its own', () =>
    expectPace([lane('ip', 150), lane('email', 30), lane('phone', 60, 2_000)], 2.5, USED));
  test('several operations share one rate', async () => {
    const sent = await dispatches([{...lane('ip', 100), operations: ['ip', 'email']}], 2);
    const times = [...sent.values()].flat().sort((a, b) => a - b);
    expect(busiestWindow(times, 1_000)).toBeLessThanOrEqual(100);
    expect(times.length).toBeGreaterThan(100);
  });
});

test('a clock that is set back or forth changes nothing: it is read once', () => {
  let elapsed = 5;
  const clock = steadyClock(1_000, () => elapsed);
  elapsed = 12.5;
  expect(clock()).toBe(1_007.5);
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
