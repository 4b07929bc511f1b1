import {describe, expect, test} from 'vitest';
import type {Attempt} from '../../../src/client/attempt.ts';
import {emptyTally} from '../../../src/ledger/run/tally.ts';
import type {Call, LookupOptions} from '../../../src/lookup/call.ts';
import {ServiceHealth} from '../../../src/lookup/pace/service-health.ts';

const call = {key: 'a', operation: 'ip', params: {ip: '192.0.2.1'}} as unknown as Call;
const heard = {latencyMs: 1, status: 429, pace: {limits: {}}};
const throttled = (retryAfter?: string): Attempt => ({
  ...{kind: 'throttled', ...heard, code: 'http_429'},
  pace: {limits: {}, retryAfter},
});
const rejected = (limits: Readonly<Record<string, string>> = {}): Attempt => ({
  ...{kind: 'rejected', ...heard, status: 404, code: 'not_found'},
  pace: {limits},
});
const givenBack = (closedMs: number, code: string): Attempt => ({
  ...{kind: 'not_sent', code, latencyMs: 1},
  closedMs,
});

/** The health of a service of which calls end at given times. */
function watched(random = 0, maxOutageMs = 1e9) {
  const clock = {now: 0};
  const stops: unknown[] = [];
  const ledger = {tally: emptyTally(), inFlight: 0};
  const options = {
    ...{maxOutageMs, random: () => random, now: () => clock.now, isAnswered: () => true},
    ...{policy: {resends: 2}, ledger, events: {refused: () => {}}},
  } as unknown as LookupOptions;
  const health = new ServiceHealth(
    options,
    () => undefined,
    () => {},
    reason => void stops.push(reason),
  );
  const ended = (attempt: Attempt, now: number, inFlight = 0) => {
    clock.now = now;
    // The call that ends is one of them until it is booked.
    ledger.inFlight = inFlight + 1;
    health.ended(call, attempt, false, now);
    return health.pause;
  };
  const at = (now: number) => {
    clock.now = now;
    return health.pause;
  };
  return {health, ended, at, stops};
}

test('nothing leaves for as long as was asked; calls leave at that very moment', () => {
  const {health, ended, at} = watched();
  expect(health.pause).toBeUndefined();
  const pause = {reason: 'throttled', detail: 'http_429', untilMs: 8_000};
  expect([ended(throttled('7'), 1_000), at(7_999), at(8_000)]).toEqual([pause, pause, undefined]);
  expect([health.room(7_999, 0), health.room(8_000, 0)]).toEqual([0, Number.POSITIVE_INFINITY]);
  expect(health.report()).toEqual({pause: undefined, pauses: 1, pausedMs: 7_000});
  health.stop();
});

test.each([
  ['a longer pause', 2_000, 'second'],
  ['one as long', 1_000, 'first'],
  ['a shorter one', 500, 'first'],
])('during a pause: %s', (_, closedMs, expected) => {
  const {ended} = watched();
  ended(givenBack(1_000, 'first'), 0);
  expect(ended(givenBack(closedMs, 'second'), 0)?.detail).toBe(expected);
});

test('each pause doubles the wait, however many calls were throttled at once, until something succeeds', () => {
  const {ended} = watched(0.5);
  const wait = (now: number) => {
    const first = (ended(throttled(), now)?.untilMs ?? 0) - now;
    // The others of the same moment count for the next pause.
    ended(throttled(), now);
    return first;
  };
  // 0.5 s doubled, half of it by chance.
  expect([0, 10_000, 20_000].map(wait)).toEqual([250, 500, 1_000]);
  ended(rejected(), 29_000);
  expect(wait(30_000)).toBe(250);
});

test('who is throttled for longer than an outage may last, or is asked to wait so long, stops', () => {
  const long = watched(0, 60_000);
  long.ended(throttled(), 0);
  long.ended(throttled(), 60_000);
  expect(long.stops).toEqual([]);
  long.ended(throttled(), 60_001);
  expect(long.stops).toMatchObject([{kind: 'outage', why: 'too long', sinceMs: 0, comeBackMs: 120_002}]);
  const asked = watched(0, 60_000);
  asked.ended(throttled('61'), 5);
  expect(asked.stops).toMatchObject([{kind: 'outage', why: 'asked', sinceMs: 5, comeBackMs: 61_005}]);
});

describe('a quota', () => {
  const quota = (remaining: number, resetSeconds: number) =>
    rejected({'ratelimit-remaining': `${remaining}`, 'ratelimit-reset': `${resetSeconds}`});

  test.each([
    ['has a call left beside those under way', 3, 10, 2, undefined],
    ['has as many left as are under way', 2, 10, 2, 11_000],
    ['is used up', 0, 10, 2, 11_000],
    ['is used up for longer than is believed', 0, 600, 0, 61_000],
    ['is used up and begins anew now', 0, 0, 2, undefined],
  ])('that %s', (_, remaining, reset, inFlight, untilMs) => {
    const {ended} = watched();
    ended(quota(9, 10), 0);
    const pause = untilMs && {reason: 'quota', detail: 'no calls left in this window', untilMs};
    expect(ended(quota(remaining, reset), 1_000, inFlight)).toEqual(pause);
  });

  test('is believed once it was seen to have calls left', () => {
    const {ended} = watched();
    ended(rejected(), 0);
    for (const remaining of [0, 0, 1]) expect(ended(quota(remaining, 10), 0, 2)).toBeUndefined();
    expect(ended(quota(0, 10), 0, 2)?.untilMs).toBe(10_000);
  });
});
