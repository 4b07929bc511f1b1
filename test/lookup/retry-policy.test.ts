import fc from 'fast-check';
import {expect, test} from 'vitest';
import {throttleMs} from '../../src/lookup/rate-limit.ts';
import {
  BACKOFF_CAP_MS,
  backoffMs,
  PATIENCE_MS,
  type RetrySettings,
  retryMs,
} from '../../src/lookup/retry-policy.ts';

/** How long to wait, whatever chance says. test/seams has what follows from each end of a call, and what it costs. */

const settings: RetrySettings = {resends: 2, cost: {throttled: 'free', rejected: 'maybe'}};

test('backoff is full jitter under 0.5 s · 2ⁿ, at most 30 s', () => {
  const longest = [0, 1, 2, 5, 6, 7, 60, 2_000].map(n => backoffMs(n, 30_000, 1 - 1e-9));
  expect(longest).toEqual([500, 1_000, 2_000, 16_000, 30_000, 30_000, 30_000, 30_000]);
  expect(backoffMs(4, 30_000, 0)).toBe(0);
  expect(backoffMs(4, 30_000, 0.5)).toBe(4_000);
});

const doubted = (doubts: number) => ({doubts, mayBeCarriedOut: doubts > 0, kills: 0, lastCode: ''});

test('a retry backs off from its first attempt that counts', () => {
  const waits = [0, 1, 2, 3].map(n => retryMs(doubted(n), false, {...settings, resends: 9}, 0.5));
  expect(waits).toEqual([250, 250, 500, 1_000]);
});

test('before its last attempt a value that can’t be told from an outage waits a minute', () => {
  expect(retryMs(doubted(1), true, settings, 0.5)).toBe(250);
  expect(retryMs(doubted(2), true, settings, 0.5)).toBe(PATIENCE_MS);
  expect(retryMs(doubted(2), false, settings, 0.5)).toBe(500);
  expect(retryMs(doubted(1), true, {...settings, resends: 1}, 0.5)).toBe(PATIENCE_MS);
  // An unsent or uncounted attempt is not the last one, however few are left.
  expect(retryMs(doubted(0), true, {...settings, resends: 0}, 0.5)).toBe(250);
});

test('throttled: at least the time that the service asks for, else backoff', () => {
  expect(throttleMs(undefined, 0, 0)).toBe(50);
  expect(throttleMs(undefined, 3, 0.5)).toBe(2_000);
  expect(throttleMs(7_000, 0, 0)).toBe(7_000);
  expect(throttleMs(7_000, 0, 0.999)).toBe(7_100);
  expect(throttleMs(0, 0, 0.5)).toBe(50);
  // Asked for too little, again and again.
  expect(throttleMs(0, 4, 0.5)).toBe(4_000);
});

test('throttled: never less than asked, never beyond the cap where nothing is asked', () => {
  fc.assert(
    fc.property(
      fc.option(fc.integer({min: 0, max: 86_400_000}), {nil: undefined}),
      fc.nat(200),
      fc.double({min: 0, max: 1, maxExcluded: true, noNaN: true}),
      (asked, streak, random) => {
        const wait = throttleMs(asked, streak, random);
        expect(wait).toBeGreaterThanOrEqual(asked ?? 50);
        expect(wait).toBeLessThanOrEqual(Math.max((asked ?? 0) + 100, BACKOFF_CAP_MS));
      },
    ),
    {seed: 4},
  );
});
