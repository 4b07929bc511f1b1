import {describe, expect, test} from 'vitest';
import {intelligenceLookup} from '../../src/ledger/lookup.ts';
import {bestOf, dueAge, freshnessOf, oldestUse, termOf} from '../../src/ledger/store/freshness.ts';

const keys = Array.from({length: 5_000}, (_, i) => intelligenceLookup('email', `a${i}@example.com`).key);

test('what was bought in one night falls due evenly over the last fifth of its term, a value always at one age', () => {
  const ages = keys.map(key => dueAge(key, 30));
  expect(keys.map(key => dueAge(key, 30))).toEqual(ages);
  const byNight = [24, 25, 26, 27, 28, 29].map(day => ages.filter(age => age > day && age <= day + 1).length);
  expect(byNight.reduce((sum, count) => sum + count)).toBe(keys.length);
  expect(Math.max(...byNight)).toBeLessThan((keys.length / 6) * 1.15);
});

describe('what an answer is good for', () => {
  const [key = ''] = keys;
  const due = dueAge(key, 1_000);
  test.each([
    [0, 'fresh'],
    [800, 'fresh'],
    [due, 'fresh'],
    [due + 1, 'due'],
    [1_000, 'due'],
    [1_001, 'stale'],
    [1_500, 'stale'],
    [1_501, undefined],
  ])('at an age of %d: %s', (age, expected) => {
    expect(freshnessOf(key, age, 1_000, 500)).toBe(expected);
  });
  test('a term of 0 is none', () => {
    expect([freshnessOf(key, 0, 0, 0), freshnessOf(key, 1, 0, 0)]).toEqual(['fresh', undefined]);
  });
});

test('answers have the term of their operation, rejections one of their own; what is older than both is of no use', () => {
  const terms = {answers: {ip: 1, phone: 20, email: 3, verify: 0}, rejections: 7, stale: 100};
  expect([termOf({status: 'ok'}, 'phone', terms), termOf({status: 'failed'}, 'phone', terms)]).toEqual([
    20, 7,
  ]);
  expect([oldestUse('phone', terms), oldestUse('ip', terms)]).toEqual([120, 107]);
});

describe('of an answer and a rejection of one value', () => {
  const terms = {answers: {ip: 20, phone: 0, email: 0, verify: 0}, rejections: 7, stale: 5};
  const [key = ''] = keys;
  const answer = (at: number) => ({outcome: {status: 'ok', data: '{}'} as const, at});
  const rejection = (at: number) => ({
    outcome: {status: 'failed', error: 'odd', rejected: true} as const,
    at,
  });
  const best = (
    since: number,
    ...found: readonly (ReturnType<typeof answer> | ReturnType<typeof rejection>)[]
  ) => {
    const known = bestOf(key, found, {operation: 'ip', terms, since});
    return known && [known.outcome.status, known.freshness];
  };

  test.each([
    ['the answer, as long as it is within its term', 10, [answer(0), rejection(9)], ['ok', 'fresh']],
    ['also where that was refused since', 20, [rejection(19), answer(0)], ['ok', 'due']],
    ['the rejection, once the answer is past its term', 22, [answer(0), rejection(21)], ['failed', 'fresh']],
    ['a stale answer, once both are past theirs', 24, [answer(0), rejection(16)], ['ok', 'stale']],
    ['nothing of a rejection from before the answer', 26, [answer(0), rejection(-1)], undefined],
    ['no more than the code of a rejection that is past', 13, [rejection(0)], ['failed', 'past']],
    ['a rejection alone', 3, [rejection(0)], ['failed', 'fresh']],
    ['nothing', 3, [], undefined],
  ] as const)('it is %s', (_, since, found, expected) => {
    expect(best(since, ...found)).toEqual(expected);
  });
});
