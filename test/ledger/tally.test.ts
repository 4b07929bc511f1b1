import {expect, test} from 'vitest';
import {countAttempt, countBooked, countUp, emptyTally, latencyPercentile} from '../../src/ledger/tally.ts';

test('names that every object has are counted like others, and a count that is taken back to 0 is gone', () => {
  const counts: Record<string, number> = {};
  for (const name of ['constructor', 'toString', 'a', 'constructor']) countUp(counts, name);
  expect(counts).toEqual({constructor: 2, toString: 1, a: 1});
  countUp(counts, 'a', -1);
  expect(Object.keys(counts)).toEqual(['constructor', 'toString']);
});

test('an attempt is a call once it was sent, and a retry where its value had an attempt before', () => {
  const tally = emptyTally();
  const counted = (attempt: object, retry: boolean) => {
    countBooked(tally, {
      ...{key: 'a', operation: 'ip', dispatch: 1, cost: 1, charge: 'free', doubt: false, retry},
      attempt: {latencyMs: 7, boughtAt: 1_000, ...attempt} as never,
    });
    const {calls, retries} = tally.operations.ip;
    return [calls, retries];
  };
  const busy = {kind: 'ambiguous', code: 'http_503', status: 503};
  expect(counted(busy, false)).toEqual([1, 0]);
  expect(counted({kind: 'not_sent', code: 'econnrefused'}, true)).toEqual([1, 0]);
  expect(counted(busy, true)).toEqual([2, 1]);
});

test('latencies: half of the calls took no longer than the median, and no figure is beyond the longest', () => {
  const tally = emptyTally();
  expect(latencyPercentile(tally, 0.5)).toBeNull();
  for (const latencyMs of [10, 1_000])
    countAttempt(tally, {kind: 'ambiguous', code: 'http_503', status: 503, latencyMs} as never);
  expect(latencyPercentile(tally, 0.5)).toBe(10);
  expect(latencyPercentile(tally, 0.95)).toBe(1_000);
  expect(tally).toMatchObject({byStatus: {'503': 2}, unsent: 0, unconfirmed: 0, latencyMaxMs: 1_000});
});

test('what was not sent, or perhaps was not, is no call and has no latency', () => {
  const tally = emptyTally();
  const attempts = [
    {kind: 'not_sent', code: 'econnrefused', latencyMs: 7},
    {kind: 'fatal', reason: 'tls', code: 'cert_has_expired', latencyMs: 7},
    {kind: 'ambiguous', code: 'interrupted', lost: true, latencyMs: 7},
  ];
  expect(attempts.map(attempt => countAttempt(tally, attempt as never))).toEqual([false, false, false]);
  expect(countAttempt(tally, {kind: 'fatal', reason: 'credits', code: 'x', status: 402, latencyMs: 7})).toBe(
    true,
  );
  expect(tally).toMatchObject({
    ...{unsent: 2, unconfirmed: 1},
    byError: {econnrefused: 1, cert_has_expired: 1, interrupted: 1},
    byStatus: {'402': 1},
    latencyMaxMs: 7,
  });
  expect(Object.values(tally.latency)).toEqual([1]);
});

test('of the names that a service may make up, the first 200 are counted', () => {
  const counts: Record<string, number> = {};
  for (let n = 0; n < 300; n++) countUp(counts, `name ${n}`);
  countUp(counts, 'name 0');
  countUp(counts, 'name 299');
  expect([Object.keys(counts).length, counts['name 0'], counts['name 299']]).toEqual([200, 2, undefined]);
});
