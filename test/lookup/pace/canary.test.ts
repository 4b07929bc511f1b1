import {expect, test} from 'vitest';
import {Canary} from '../../../src/lookup/pace/canary.ts';
import {policyNumbers} from '../../../src/lookup/policy.ts';

const {refusalStreak, canaryInFlight} = policyNumbers;
const heard = {latencyMs: 1, pace: {limits: {}}};
const answered = {
  kind: 'answered',
  ...heard,
  status: 200,
  data: {},
  unknownFields: [],
  wrongTypes: [],
} as const;
const rejected = (code: string, status = 404) => ({kind: 'rejected', ...heard, status, code}) as const;
const unreadable = {kind: 'unreadable', ...heard, status: 200, code: 'bad_response', detail: ''} as const;
const reset = {kind: 'ambiguous', latencyMs: 1, code: 'x'} as const;
const times = <T>(count: number, one: T): T[] => Array(count).fill(one);

const open = (isKnownToAnswer = false) => new Canary(() => isKnownToAnswer);

test('a few in flight until something was answered', () => {
  const canary = open();
  expect([canary.allows(canaryInFlight - 1), canary.allows(canaryInFlight)]).toEqual([true, false]);
  canary.sent();
  expect(canary.allows(canaryInFlight - 1)).toBe(false);
  canary.ended(rejected('x'));
  expect([canary.allows(canaryInFlight - 1), canary.allows(canaryInFlight)]).toEqual([true, false]);
  canary.sent();
  canary.ended(answered);
  expect(canary.allows(1_000)).toBe(true);
});

test('ten values tried and nothing answered is no leave to go on', () => {
  const canary = open();
  for (let n = 0; n < 2 * refusalStreak; n++) {
    canary.sent();
    canary.ended(reset);
  }
  expect(canary.allows(canaryInFlight)).toBe(false);
});

const refusals = times(refusalStreak, rejected('forbidden'));
test.each([
  ['one refusal, ten times', refusals, {code: 'forbidden', isMixed: false}],
  ['nine times', refusals.slice(1), undefined],
  ['nothing that could be read', times(refusalStreak, unreadable), {code: 'bad_response', isMixed: false}],
  ['two refusals in turns', [...refusals.slice(1), rejected('other')], {code: 'other', isMixed: true}],
  ['ten failures', times(refusalStreak, reset), undefined],
  ['a failure between refusals', [...refusals.slice(5), reset, ...refusals.slice(5)], {code: 'forbidden'}],
  ['an answer before', [answered, ...refusals], {isKnownToAnswer: true}],
  ['an answer in between', [...refusals.slice(1), answered, ...refusals.slice(1)], undefined],
])('%s: %j', (_, attempts, expected) => {
  const canary = open();
  const streak = attempts.map(attempt => canary.ended(attempt)).at(-1);
  if (expected === undefined) expect(streak).toBeUndefined();
  else expect(streak).toMatchObject({count: refusalStreak, ...expected});
});

test('where the service is known to answer, a streak says so, and no rejection of it is trusted', () => {
  const canary = open(true);
  expect(canary.isStreak).toBe(false);
  expect(refusals.map(attempt => canary.ended(attempt)).at(-1)).toMatchObject({isKnownToAnswer: true});
  expect(canary.isStreak).toBe(true);
  canary.ended(answered);
  expect(canary.isStreak).toBe(false);
});

test('a value that was refused so before is no news', () => {
  const canary = open(true);
  for (const attempt of refusals) canary.ended(attempt, true);
  expect(canary.isStreak).toBe(false);
});

test('a streak speaks of the caller where each of its refusals does', () => {
  const denied = rejected('denied', 403);
  const last = (...attempts: readonly ReturnType<typeof rejected>[]) => {
    const canary = open();
    return attempts.map(attempt => canary.ended(attempt)).at(-1)?.credentials;
  };
  expect(last(...times(refusalStreak, denied))).toBe(true);
  expect(last(...times(refusalStreak - 1, denied), rejected('invalid_token'))).toBe(true);
  expect(last(...times(refusalStreak, denied), rejected('other'))).toBe(false);
});
