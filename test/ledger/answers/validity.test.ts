import {describe, expect, test} from 'vitest';
import {
  CLOCK_SKEW_MS,
  chooseBestAnswer,
  createValidityJudge,
  expiryAgeMs,
  isUsable,
  longestUsableAgeMs,
  type ValidityTerm,
} from '../../../src/ledger/answers/validity.ts';
import {intelligenceLookup, type Outcome} from '../../../src/ledger/lookup-outcome.ts';
import {perOperation} from '../../../src/operations/table.ts';

const keys = Array.from({length: 5_000}, (_, i) => intelligenceLookup('email', `a${i}@example.com`).key);

test('answers of one night expire evenly over the last fifth of their maximum age, each always at the same age', () => {
  const ageOf = (key: string) => expiryAgeMs(key, 30);
  const ages = keys.map(ageOf);
  expect(keys.map(ageOf)).toEqual(ages);
  const byNight = [24, 25, 26, 27, 28, 29].map(day => ages.filter(age => age > day && age <= day + 1).length);
  expect(byNight.reduce((sum, count) => sum + count)).toBe(keys.length);
  expect(Math.max(...byNight)).toBeLessThan((keys.length / 6) * 1.15);
});

const judgeOf = (term: ValidityTerm, now: number, since?: number, clock?: () => number) =>
  createValidityJudge(
    perOperation(() => term),
    now,
    since,
    clock,
  );

describe('the validity of an answer', () => {
  const [key = ''] = keys;
  const now = 1_000_000;
  const bought = (age: number) => ({status: 'ok', data: '{}', boughtAt: now - age}) as const;
  const term = {answers: 1_000, rejections: 100, stale: 500};
  const end = Math.floor(expiryAgeMs(key, 1_000));
  const validityOf = (outcome: Outcome, of: ValidityTerm, since = now) =>
    judgeOf(of, now, since)({operation: 'ip', key}, outcome);
  test.each([
    [-1, 'fresh'],
    [0, 'fresh'],
    [800, 'fresh'],
    [end, 'fresh'],
    [end + 1, 'stale'],
    [1_001, 'stale'],
    [end + 500, 'stale'],
    [end + 501, undefined],
  ])('at an age of %d: %s', (age, expected) => {
    expect(validityOf(bought(age), term)).toBe(expected);
  });
  test('dated after the clock, and more than clocks may differ: of no use', () => {
    const of = (clock: number, boughtAt: number) =>
      judgeOf(term, now, now, () => clock)({operation: 'ip', key}, bought(now - boughtAt));
    const later = now + 10 * 60_000;
    expect([of(later, later), of(later, later + 60_000)]).toEqual(['fresh', 'fresh']);
    expect(of(now, later)).toBeUndefined();
  });
  test('a rejection has a term of its own', () => {
    const rejected = (age: number) =>
      ({...bought(age), status: 'failed', error: 'odd', rejected: 'twice'}) as const;
    const found = [0, 80, 101, 580, 601].map(age => validityOf(rejected(age), term));
    expect(found).toEqual(['fresh', 'fresh', 'stale', 'stale', 'past']);
  });
  test('a maximum age of 0 keeps no answer but those since the run began', () => {
    const none = {answers: 0, rejections: 0, stale: 0};
    expect([0, 1].map(age => validityOf(bought(age), none))).toEqual(['fresh', undefined]);
    expect([50, 51].map(age => validityOf(bought(age), none, now - 50))).toEqual(['fresh', undefined]);
  });
  test('an answer that can not be renewed is valid forever', () => {
    const forever = {answers: Number.POSITIVE_INFINITY, rejections: Number.POSITIVE_INFINITY, stale: 0};
    expect(validityOf(bought(now), forever)).toBe('fresh');
  });
});

test('an answer older than every term is of no use', () => {
  expect(longestUsableAgeMs({answers: 20, rejections: 7, stale: 100})).toBe(120);
  expect(longestUsableAgeMs({answers: 1, rejections: 7, stale: 100})).toBe(107);
});

describe('of an answer and a rejection of one value', () => {
  const term = {answers: 20, rejections: 7, stale: 5};
  const [key = ''] = keys;
  const answer = (boughtAt: number) => ({status: 'ok', data: '{}', boughtAt}) as const;
  const rejection = (boughtAt: number) =>
    ({status: 'failed', error: 'odd', rejected: 'twice', boughtAt}) as const;

  test.each([
    ['the answer, as long as it is within its term', 10, [answer(0), rejection(9)], ['ok', 'fresh']],
    ['also where that was refused since', 16, [rejection(15), answer(0)], ['ok', 'fresh']],
    ['the rejection, once the answer is past its term', 21, [answer(0), rejection(20)], ['failed', 'fresh']],
    ['a stale answer, once both are past theirs', 21, [answer(0), rejection(11)], ['ok', 'stale']],
    ['nothing of a rejection from before the answer', 26, [answer(0), rejection(-1)], undefined],
    ['no more than the code of a rejection that is past', 13, [rejection(0)], ['failed', 'past']],
    ['a rejection alone', 3, [rejection(0)], ['failed', 'fresh']],
    ['nothing of a rejection that a wrong clock dated', -CLOCK_SKEW_MS - 1, [rejection(0)], undefined],
    ['nothing', 3, [], undefined],
  ] as const)('it is %s', (_, now, found, expected) => {
    const known = chooseBestAnswer({operation: 'ip', key}, found, judgeOf(term, now));
    expect(known && [known.outcome.status, known.validity]).toEqual(expected);
  });

  test.each([
    [0, false],
    [11.99, false],
    [12, true],
    [10_000, true],
    [-1, undefined],
  ])('a refusal that came once is confirmed by a run that began %d hours later: %s', (hours, confirms) => {
    const once = {...rejection(0), rejected: 'once'} as const;
    const known = chooseBestAnswer({operation: 'ip', key}, [once], judgeOf(term, hours * 3_600_000));
    expect([known?.rejection?.confirms, isUsable(known)]).toEqual([confirms, false]);
  });

  test('a run that began earlier confirms none, however late it asks', () => {
    const once = {...rejection(0), rejected: 'once'} as const;
    const [now, since] = [200, 11].map(hours => hours * 3_600_000) as [number, number];
    expect(judgeOf(term, now, since)({operation: 'ip', key}, once)).toBe('early');
  });
});
