import {describe, expect, test} from 'vitest';
import {ThrottleGate} from '../../../src/lookup/pace/throttle-gate.ts';

const throttled = (retryAfter?: string) =>
  ({
    kind: 'throttled',
    latencyMs: 1,
    status: 429,
    code: 'http_429',
    pace: {limits: {}, retryAfter},
  }) as const;
const gateAt = (random: number) => new ThrottleGate(() => random);
const pauseUntil = (untilMs: number, detail = 'x') => ({reason: 'fleet', detail, untilMs}) as const;

test('is closed for as long as was asked, and opens at that very moment', () => {
  const gate = gateAt(0);
  expect(gate.pause).toBeUndefined();
  gate.throttled(throttled('7'), 1_000);
  const pause = {reason: 'throttled', detail: 'http_429', untilMs: 8_000};
  expect(gate.pause).toEqual(pause);
  gate.reopen(7_999);
  expect(gate.pause).toEqual(pause);
  gate.reopen(8_000);
  expect(gate.pause).toBeUndefined();
});

test.each([
  ['a longer pause', 2_000, 'second'],
  ['one as long', 1_000, 'first'],
  ['a shorter one', 500, 'first'],
])('while it is closed: %s', (_, untilMs, expected) => {
  const gate = gateAt(0);
  gate.close(pauseUntil(1_000, 'first'));
  gate.close(pauseUntil(untilMs, 'second'));
  expect(gate.pause?.detail).toBe(expected);
});

test('each closing doubles the wait, however many calls were throttled at once, until something succeeds', () => {
  const gate = gateAt(0.5);
  const wait = (now: number) => {
    gate.reopen(now);
    gate.throttled(throttled(), now);
    gate.throttled(throttled(), now);
    return (gate.pause?.untilMs ?? 0) - now;
  };
  // 0.5 s doubled, half of it by chance; the second call of each is one of the next round.
  expect([0, 10_000, 20_000].map(wait)).toEqual([500, 1_000, 2_000]);
  gate.throttledSince = 5;
  gate.succeeded();
  expect(gate.throttledSince).toBeUndefined();
  expect(wait(30_000)).toBe(500);
});

describe('a quota', () => {
  const quota = (remaining: number, resetSeconds: number) => ({
    limits: {'ratelimit-remaining': `${remaining}`, 'ratelimit-reset': `${resetSeconds}`},
  });

  test.each([
    ['has a call left beside those under way', 3, 10, 2, undefined],
    ['has as many left as are under way', 2, 10, 2, 11_000],
    ['is used up', 0, 10, 2, 11_000],
    ['is used up for longer than is believed', 0, 600, 0, 61_000],
    ['is used up and begins anew now', 0, 0, 2, undefined],
  ])('that %s', (_, remaining, reset, inFlight, untilMs) => {
    const gate = gateAt(0);
    gate.observeQuota(quota(9, 10), 0, 0);
    gate.observeQuota(quota(remaining, reset), inFlight, 1_000);
    expect(gate.pause).toEqual(untilMs && {reason: 'quota', detail: 'no calls left in this window', untilMs});
  });

  test('is believed once it was seen to have calls left', () => {
    const gate = gateAt(0);
    gate.observeQuota({limits: {}}, 0, 0);
    for (const remaining of [0, 0, 1]) gate.observeQuota(quota(remaining, 10), 2, 0);
    expect(gate.pause).toBeUndefined();
    gate.observeQuota(quota(0, 10), 2, 0);
    expect(gate.pause?.untilMs).toBe(10_000);
  });
});
