import {expect, test} from 'vitest';
import type {Attempt} from '../../../src/client/attempt.ts';
import {type StreakTally, zeroRefusalStreak} from '../../../src/ledger/run/tally.ts';
import {Canary} from '../../../src/lookup/pace/canary.ts';
import {policyNumbers} from '../../../src/lookup/retry-policy.ts';

const {refusalStreak} = policyNumbers;
const heard = {latencyMs: 1, pace: {limits: {}}};
const noFields = {data: {}, unknownFields: [], wrongTypes: []};
const answered: Attempt = {kind: 'answered', ...heard, status: 200, ...noFields};
const rejected = (code: string): Attempt => ({kind: 'rejected', ...heard, status: 404, code});
const refusals = Array(refusalStreak).fill(rejected('forbidden'));

const tallyOf = (count = 0): StreakTally => ({
  refused: {...zeroRefusalStreak(), count, code: count === 0 ? '' : 'forbidden'},
  longestStreak: 0,
});

/** The streak after these attempts, each for another value. */
const lastOf = (canary: Canary, attempts: readonly Attempt[]) =>
  attempts.map((attempt, n) => canary.ended(attempt, `value ${n}`)).at(-1);

test('a streak is told once in each session that makes it longer, and stays known after it ended', () => {
  const tally = tallyOf(refusalStreak + 5);
  const canary = new Canary(() => true, tally);
  const told = [1, 2].map(n => canary.ended(rejected('forbidden'), `value ${n}`)?.isNew);
  expect([told, tally.longestStreak]).toEqual([[true, false], refusalStreak + 7]);
  canary.ended(answered, 'a');
  expect(tally).toEqual({refused: zeroRefusalStreak(), longestStreak: refusalStreak + 7});
});

test.each([
  ['one code', refusals, {code: 'forbidden', isMixed: false}],
  ['a code, and another at last', [...refusals.slice(1), rejected('other')], {code: 'other', isMixed: true}],
  [
    'a code, and others after it',
    [rejected('other'), ...refusals.slice(1)],
    {code: 'forbidden', isMixed: true},
  ],
])('a streak of refusals has %s', (_, attempts, expected) => {
  expect(lastOf(new Canary(() => false, tallyOf()), attempts)).toMatchObject({
    count: refusalStreak,
    ...expected,
  });
});

test('each streak after an answer is told, also one of values that were refused before', () => {
  const canary = new Canary(() => false, tallyOf());
  for (const _ of [1, 2]) {
    expect(lastOf(canary, refusals.slice(1))).toBeUndefined();
    expect(canary.ended(rejected('forbidden'), 'tenth')).toMatchObject({count: refusalStreak, isNew: true});
    canary.ended(answered, 'a');
  }
});
