import {expect, test} from 'vitest';
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
const rejected: Attempt = {kind: 'rejected', ...heard, status: 404, code: 'not_found'};
const givenBack = (closedMs: number, code: string): Attempt => ({
  ...{kind: 'not_sent', code, latencyMs: 1},
  closedMs,
});

/** The health of a service of which calls end at given times. */
function watched(random = 0) {
  const clock = {now: 0};
  const options = {
    ...{maxOutageMs: 1e9, random: () => random, now: () => clock.now, isAnswered: () => true},
    ...{policy: {resends: 2}, ledger: {tally: emptyTally(), inFlight: 1}},
  } as unknown as LookupOptions;
  const health = new ServiceHealth(
    options,
    () => undefined,
    () => {},
    () => {},
  );
  const ended = (attempt: Attempt, now: number) => {
    clock.now = now;
    health.ended(call, attempt, false, now);
    return health.pause;
  };
  const at = (now: number) => {
    clock.now = now;
    return health.pause;
  };
  return {health, ended, at};
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
  ended(rejected, 29_000);
  expect(wait(30_000)).toBe(250);
});
