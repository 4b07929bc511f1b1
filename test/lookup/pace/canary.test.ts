import {expect, test} from 'vitest';
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

const open = (isKnownToAnswer = false) => new Canary(() => isKnownToAnswer);

test('a few in flight until something was answered and ten values were tried', () => {
  const canary = open();
  expect([canary.allows(canaryInFlight - 1), canary.allows(canaryInFlight)]).toEqual([true, false]);
  const call = (key: string) => {
    canary.sent(key);
    canary.ended(answered);
  };
  canary.sent('v0');
  expect(canary.allows(canaryInFlight - 1)).toBe(false);
  canary.ended(answered);
  expect(canary.allows(canaryInFlight - 1)).toBe(true);
  for (let n = 1; n < canaryValues - 1; n++) call(`v${n}`);
  // One value again and again is one.
  for (const key of times(20, 'v1')) call(key);
  expect(canary.allows(canaryInFlight)).toBe(false);
  call('last');
  expect(canary.allows(1_000)).toBe(true);
});

test('ten values tried and nothing answered is no leave to go on', () => {
  const canary = open();
  for (let n = 0; n < 2 * canaryValues; n++) {
    canary.sent(`v${n}`);
    canary.ended(reset);
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
  const canary = open();
  expect(attempts.map(attempt => canary.ended(attempt)).at(-1)).toBe(expected);
});

test('where the service is known to answer, it is the values that are refused', () => {
  const canary = open(true);
  expect(refusals.map(attempt => canary.ended(attempt)).at(-1)).toBeUndefined();
});
