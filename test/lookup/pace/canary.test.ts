import {expect, test} from 'vitest';
import type {Attempt} from '../../../src/client/attempt.ts';
import {Canary} from '../../../src/lookup/pace/canary.ts';
import {policyNumbers} from '../../../src/lookup/policy.ts';

const {canaryValues, canaryInFlight} = policyNumbers;
const heard = {latencyMs: 1, pace: {limits: {}}};
const answered = {
  kind: 'answered',
  ...heard,
  status: 200,
  data: {},
  unknownFields: [],
  wrongTypes: [],
} as const;
const rejected = (code: string) => ({kind: 'rejected', ...heard, status: 404, code}) as const;
const unreadable = {kind: 'unreadable', ...heard, status: 200, code: 'bad_response', detail: ''} as const;
const reset = {kind: 'ambiguous', latencyMs: 1, code: 'x'} as const;
const times = <T>(count: number, one: T): T[] => Array(count).fill(one);

/** The code at which it stops, after these attempts, each for another value or all for one. */
function codeAfter(canary: Canary, attempts: readonly Attempt[], about = (n: number) => `value ${n}`) {
  return attempts.map((attempt, n) => canary.ended(attempt, about(n))).at(-1);
}

const open = (isKnownToAnswer = false) => new Canary(() => isKnownToAnswer);

test('a few in flight until something was answered', () => {
  const canary = open();
  expect([canary.allows(canaryInFlight - 1), canary.allows(canaryInFlight)]).toEqual([true, false]);
  canary.sent();
  expect(canary.allows(canaryInFlight - 1)).toBe(false);
  canary.ended(rejected('x'), 'a');
  expect([canary.allows(canaryInFlight - 1), canary.allows(canaryInFlight)]).toEqual([true, false]);
  canary.sent();
  canary.ended(answered, 'b');
  expect(canary.allows(1_000)).toBe(true);
});

test('ten values tried and nothing answered is no leave to go on', () => {
  const canary = open();
  for (let n = 0; n < 2 * canaryValues; n++) {
    canary.sent();
    canary.ended(reset, `value ${n}`);
  }
  expect(canary.allows(canaryInFlight)).toBe(false);
});

const refusals = times(canaryValues, rejected('forbidden'));
test.each([
  ['one refusal, ten times', refusals, 'forbidden'],
  ['nine times', refusals.slice(1), undefined],
  ['nothing that could be read', times(canaryValues, unreadable), 'bad_response'],
  ['two refusals in turns', [...refusals.slice(1), rejected('other'), ...refusals.slice(1)], undefined],
  ['ten failures', times(canaryValues, reset), undefined],
  ['a failure between refusals', [...refusals.slice(5), reset, ...refusals.slice(5)], 'forbidden'],
  ['an answer before', [answered, ...refusals], undefined],
])('%s: %s', (_, attempts, expected) => {
  expect(codeAfter(open(), attempts)).toBe(expected);
});

test('one value that is refused ten times says nothing of the others', () => {
  const canary = open();
  expect(codeAfter(canary, [...refusals, ...refusals], () => 'one')).toBeUndefined();
  expect(codeAfter(canary, refusals.slice(1))).toBe('forbidden');
});

test('where the service is known to answer, it is the values that are refused', () => {
  expect(codeAfter(open(true), refusals)).toBeUndefined();
});
