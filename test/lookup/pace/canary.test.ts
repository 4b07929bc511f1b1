import {expect, test} from 'vitest';
import type {Attempt} from '../../../src/client/attempt.ts';
import {type RefusalTally, zeroRefusals} from '../../../src/ledger/run/tally.ts';
import {Canary} from '../../../src/lookup/pace/canary.ts';
import {policyNumbers} from '../../../src/lookup/retry-policy.ts';

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

/** The streak after these attempts, each for another value or all for one. */
function lastOf(canary: Canary, attempts: readonly Attempt[], about = (n: number) => `value ${n}`) {
  return attempts.map((attempt, n) => canary.ended(attempt, about(n))).at(-1);
}

const tallyOf = (count = 0): RefusalTally => ({
  refused: {...zeroRefusals(), count, code: count === 0 ? '' : 'forbidden'},
  longestStreak: 0,
});
const open = (isKnownToAnswer = false, tally = tallyOf()) => new Canary(() => isKnownToAnswer, tally);

test('a few in flight until something was answered', () => {
  const canary = open();
  const allowed = () => [canaryInFlight - 1, canaryInFlight, 1_000].map(count => canary.allows(() => count));
  expect(allowed()).toEqual([true, false, false]);
  canary.ended(rejected('x'), 'a');
  expect(allowed()).toEqual([true, false, false]);
  canary.ended(answered, 'b');
  expect(allowed()).toEqual([true, true, true]);
});

test('the streak of a killed session continues until a value is answered', () => {
  const before = tallyOf(refusalStreak - 1);
  expect(open(true, before).ended(rejected('denied', 403), 'a')).toMatchObject({
    count: refusalStreak,
    isMixed: true,
    isNew: true,
  });
  const other = open(true, tallyOf(refusalStreak - 1));
  other.ended(answered, 'a');
  expect(other.ended(rejected('denied'), 'b')).toBeUndefined();
});

test('a streak is told once in each session that makes it longer, and stays known after it ended', () => {
  const tally = tallyOf(refusalStreak + 5);
  const canary = open(true, tally);
  const told = [1, 2].map(n => canary.ended(rejected('forbidden'), `value ${n}`)?.isNew);
  expect([told, tally.longestStreak]).toEqual([[true, false], refusalStreak + 7]);
  canary.ended(answered, 'a');
  expect(tally).toEqual({refused: zeroRefusals(), longestStreak: refusalStreak + 7});
});

test('a streak of several codes is one of several, whatever its last ones were', () => {
  const codes = ['first', ...times(refusalStreak - 1, 'second')];
  expect(
    lastOf(
      open(),
      codes.map(code => rejected(code)),
    ),
  ).toMatchObject({isMixed: true, code: 'second'});
  expect(lastOf(open(), times(refusalStreak, rejected('only')))).toMatchObject({isMixed: false});
});

test('ten values tried without an answer lift no limit', () => {
  const canary = open();
  for (let n = 0; n < 2 * refusalStreak; n++) canary.ended(reset, `value ${n}`);
  expect(canary.allows(() => canaryInFlight)).toBe(false);
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
  const streak = lastOf(canary, attempts);
  if (expected === undefined) expect(streak).toBeUndefined();
  else expect(streak).toMatchObject({count: refusalStreak, ...expected});
});

test('one value that is refused ten times says nothing of the others', () => {
  const canary = open();
  expect(lastOf(canary, [...refusals, ...refusals], () => 'one')).toBeUndefined();
  expect(lastOf(canary, refusals.slice(1))).toMatchObject({code: 'forbidden'});
});

test('where the service is known to answer, a streak says so', () => {
  const canary = open(true);
  expect(lastOf(canary, refusals)).toMatchObject({isKnownToAnswer: true});
});

test('a value that was refused so before is no news', () => {
  const canary = open(true);
  for (const [n, attempt] of refusals.entries()) canary.ended(attempt, `value ${n}`, true);
  expect(lastOf(canary, refusals.slice(1), n => `other ${n}`)).toBeUndefined();
});

test('a streak speaks of the caller where each of its refusals does', () => {
  const denied = rejected('denied', 403);
  const last = (...attempts: readonly ReturnType<typeof rejected>[]) => lastOf(open(), attempts)?.credentials;
  expect(last(...times(refusalStreak, denied))).toBe(true);
  expect(last(...times(refusalStreak - 1, denied), rejected('invalid_token'))).toBe(true);
  expect(last(...times(refusalStreak, denied), rejected('other'))).toBe(false);
});

test('each streak after an answer is told, also one of values that were refused before', () => {
  const canary = open();
  for (const _ of [1, 2]) {
    expect(lastOf(canary, refusals.slice(1))).toBeUndefined();
    expect(canary.ended(rejected('forbidden'), 'tenth')).toMatchObject({count: refusalStreak, isNew: true});
    canary.ended(answered, 'a');
  }
});
