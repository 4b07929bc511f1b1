import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {leaseSize, perSecond, RateController} from '../../src/lookup/pace/rate-controller.ts';

test.each([
  [{count: 20, perMs: 1_000}, 20],
  [{count: 90, perMs: 60_000}, 1.5],
  ['unlimited' as const, Number.POSITIVE_INFINITY],
])('%j is %d a second', (rate, expected) => {
  expect(perSecond(rate)).toBe(expected);
});

test('a lease holds whole permits of a hundredth of a second, and at least one', () => {
  expect([0.01, 1, 99, 100, 199, 200, 1_050].map(rate => leaseSize(rate))).toEqual([1, 1, 1, 1, 1, 2, 10]);
});

describe('the rate', () => {
  test('is the ceiling until the service throttles', () => {
    expect(new RateController(200).perSecond(5)).toBe(200);
    expect(new RateController(Number.POSITIVE_INFINITY).perSecond(5)).toBe(Number.POSITIVE_INFINITY);
  });

  test('falls below the rate that the service accepted, and climbs back to the ceiling', () => {
    const controller = new RateController(200);
    controller.throttled(0, 1_000, 50);
    expect(controller.perSecond(1_000)).toBeCloseTo(30);
    const climb = Array.from({length: 20}, (_, second) => controller.perSecond(1_000 + second * 1_000));
    expect(climb).toEqual([...climb].sort((a, b) => a - b));
    expect(climb.at(-1)).toBe(200);
  });

  test('calls that were under way when it fell say nothing new', () => {
    const controller = new RateController(200);
    controller.throttled(0, 1_000, 50);
    controller.throttled(500, 5_000, 10);
    expect(controller.perSecond(1_000)).toBeCloseTo(30);
    controller.throttled(2_000, 3_000, 50);
    expect(controller.perSecond(3_000)).toBeLessThan(30);
  });

  test('a call that was sent as the climb began says something new', () => {
    const controller = new RateController(200);
    controller.throttled(0, 1_000, 50);
    controller.throttled(1_000, 3_000, 10);
    expect(controller.perSecond(3_000)).toBeCloseTo(6);
  });

  test('a high ceiling is climbed to as well', () => {
    const controller = new RateController(20_000);
    controller.throttled(0, 0, 1_000);
    const climb = Array.from({length: 60}, (_, second) => controller.perSecond(second * 1_000));
    expect(climb.at(-1)).toBe(20_000);
    expect(climb.filter(rate => rate > 5_000 && rate < 20_000).length).toBeGreaterThan(3);
  });

  test('an unlimited rate is unlimited again in the end', () => {
    const controller = new RateController(Number.POSITIVE_INFINITY);
    controller.throttled(0, 0, 1_000);
    expect(controller.perSecond(1)).toBeCloseTo(600, 0);
    expect(controller.perSecond(120_000)).toBe(Number.POSITIVE_INFINITY);
  });

  test('never above the ceiling, never at nothing, however often it is throttled', () => {
    const event = fc.record({after: fc.nat(20_000), pause: fc.nat(5_000), used: fc.nat(500)});
    fc.assert(
      fc.property(fc.double({min: 0.01, max: 2_000, noNaN: true}), fc.array(event), (ceiling, events) => {
        const controller = new RateController(ceiling);
        let now = 0;
        for (const {after, pause, used} of events) {
          now += after;
          controller.throttled(now, now + pause, used);
          const rate = controller.perSecond(now + pause);
          expect(rate).toBeLessThanOrEqual(ceiling);
          expect(rate).toBeGreaterThanOrEqual(Math.min(0.1, ceiling));
        }
        expect(controller.perSecond(now + 3_600_000)).toBe(ceiling);
      }),
      {seed: 4},
    );
  });
});

/** A server that allows 20 a second and asks for a second's pause, and a client that uses every permit it has. */
test('converges to a real limit below the ceiling, and finds the way back up', () => {
  const controller = new RateController(200);
  const passed: number[] = [];
  let limit = 20;
  let now = 0;
  let gate = 0;
  const step = () => {
    const rate = controller.perSecond(now);
    now += 1_000 / rate;
    if (now < gate) now = gate;
    const recent = passed.filter(at => at > now - 1_000).length;
    if (recent < limit) passed.push(now);
    else {
      gate = now + 1_000;
      controller.throttled(now, gate, recent + 1);
    }
  };
  // A rate that is out of hand ends in a failure, and not never.
  for (let n = 0; now < 60_000 && n < 20_000; n++) step();
  const mean = passed.filter(at => at > 15_000).length / 45;
  expect(mean).toBeGreaterThan(10);
  expect(mean).toBeLessThanOrEqual(22);
  limit = Number.POSITIVE_INFINITY;
  for (let n = 0; now < 80_000 && n < 20_000; n++) step();
  expect(controller.perSecond(now)).toBe(200);
});
