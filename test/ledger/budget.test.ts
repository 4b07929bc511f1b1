import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {type Period, PeriodBudget} from '../../src/account/period-budget.ts';
import {OutputError} from '../../src/errors.ts';
import {type Books, emptyBooks, spend} from '../../src/ledger/books.ts';
import {Budget} from '../../src/ledger/budget.ts';
import {newDirectory} from '../support/new-directory.ts';

describe('a limit of the run', () => {
  const limited = (maxCredits: number | undefined, spent = 0) => {
    const books = emptyBooks();
    spend(books, 0, 'ip', {spent});
    return {books, budget: new Budget({maxCredits}, books, 0)};
  };

  test('is never exceeded, not by one', () => {
    const {budget} = limited(10, 4);
    expect([budget.affords(6), budget.affords(7)]).toEqual([true, false]);
    expect([budget.take('a', 7), budget.committed]).toEqual([false, 4]);
    expect([budget.take('a', 4), budget.take('b', 2), budget.committed]).toEqual([true, true, 10]);
    expect([budget.take('c', 1), budget.affords(1)]).toEqual([false, false]);
    expect([budget.exhausted, budget.uses]).toEqual([undefined, []]);
  });

  test('is where there is one', () => {
    const {budget} = limited(undefined);
    expect([budget.affords(1e9), budget.take('a', 1e9)]).toEqual([true, true]);
  });

  test('holds the credits of calls in flight until they are booked', () => {
    const {books, budget} = limited(10);
    budget.take('a', 4);
    budget.take('b', 3);
    spend(books, 0, 'ip', {spent: 4});
    budget.release('a', 4, 'spent');
    expect(budget.committed).toBe(7);
    budget.clear();
    expect(budget.committed).toBe(4);
  });
});

describe('limits that are shared', () => {
  const within = newDirectory();
  let opened: PeriodBudget[];
  let now: number;
  beforeEach(() => {
    now = Date.parse('2031-05-06T07:08:09Z');
    opened = [];
  });
  afterEach(() => {
    for (const budget of opened) budget.close();
  });
  const shared = (period: Period, maxCredits: number) => {
    return new PeriodBudget({
      directory: within(),
      owner: 'nightly',
      period,
      limit: 'a limit',
      maxCredits,
      now: () => now,
    });
  };
  const dayAndMonth = (day: number, month: number, maxCredits?: number, books: Books = emptyBooks()) => {
    const of = {day: shared('day', day), month: shared('month', month)};
    return {...of, budget: new Budget({maxCredits, shared: [of.day, of.month]}, books, 0)};
  };

  test('hold each for itself; where one refuses, the others have theirs back', () => {
    const {day, month, budget} = dayAndMonth(5, 3, 100);
    opened.push(day, month);
    expect([budget.affords(3), budget.affords(4)]).toEqual([true, false]);
    expect([budget.take('a', 3), budget.exhausted]).toEqual([true, undefined]);
    expect([budget.take('b', 1), budget.exhausted]).toEqual([false, month]);
    expect([day.used, month.used, budget.committed]).toEqual([3, 3, 3]);
    // No shared limit has the name of the run's own.
    expect([budget.take('c', 98), budget.exhausted]).toEqual([false, undefined]);
  });

  test('get credits of free calls back, and keep those that may have been charged', () => {
    const {day, month, budget} = dayAndMonth(10, 100);
    opened.push(day, month);
    for (const [key, cost] of [
      ['a', 1],
      ['b', 2],
      ['c', 4],
    ] as const)
      budget.take(key, cost);
    budget.release('a', 1, 'free');
    budget.release('b', 2, 'maybe');
    expect([day.used, month.used, budget.committed]).toEqual([6, 6, 4]);
  });

  test('are read until they are closed, which gives unspent credits back', () => {
    const {budget} = dayAndMonth(10, 100);
    budget.take('a', 2);
    const use = (period: Period, limit: number, used: number) => ({period, limit, used});
    expect(budget.uses).toEqual([use('day', 10, 2), use('month', 100, 2)]);
    budget.take('b', 1);
    budget.close();
    const other = dayAndMonth(10, 100);
    opened.push(other.day, other.month);
    expect(other.day.used).toBe(3);
    other.budget.take('c', 7);
    expect(budget.uses).toEqual([use('day', 10, 3), use('month', 100, 3)]);
  });

  test('give half of the smallest limit to renewals', () => {
    const {day, month, budget} = dayAndMonth(20, 6, 100);
    opened.push(day, month);
    const took = (...keys: string[]) => keys.map(key => budget.take(key, 1, true));
    expect(took('a', 'b', 'c', 'd')).toEqual([true, true, true, false]);
    expect([budget.affords(1, true), budget.affords(3), budget.affords(4)]).toEqual([false, true, false]);
    // A free call's credits may be spent again; a maybe charged call's count.
    budget.release('a', 1, 'free');
    budget.release('b', 1, 'maybe');
    expect(took('a', 'd')).toEqual([true, false]);
    expect([budget.take('x', 3), budget.affords(1)]).toEqual([true, false]);
  });

  test('know how much that was in an earlier session, and nothing of it in another period', () => {
    const tally = emptyBooks();
    const before = dayAndMonth(6, 100, undefined, tally);
    for (const key of ['a', 'b', 'c']) before.budget.take(key, 1, true);
    before.budget.close();
    const {day, month, budget} = dayAndMonth(6, 100, undefined, JSON.parse(JSON.stringify(tally)));
    opened.push(day, month);
    expect([budget.affords(1, true), budget.affords(3)]).toEqual([false, true]);
    now += 86_400_000;
    expect([budget.affords(3, true), budget.affords(4, true)]).toEqual([true, false]);
  });

  test('give renewals half of the credits that other runs left', () => {
    const [one, other] = [dayAndMonth(10, 100), dayAndMonth(10, 100)];
    opened.push(one.day, one.month, other.day, other.month);
    other.budget.take('x', 6);
    expect([one.budget.affords(2, true), one.budget.affords(3, true)]).toEqual([true, false]);
    one.budget.take('a', 1, true);
    other.budget.take('y', 2);
    expect([one.budget.affords(1, true), one.budget.affords(1)]).toEqual([false, true]);
  });

  test('are all closed, whatever one of them has against it', () => {
    const {day, month, budget} = dayAndMonth(1_000, 1_000);
    budget.take('a', 2);
    day.close();
    expect(() => budget.close()).toThrow(OutputError);
    expect(() => month.used).toThrow(OutputError);
    expect(budget.uses).toEqual([]);
  });

  test('have nothing taken where one of them can not be written', () => {
    const {day, month, budget} = dayAndMonth(1_000, 1_000);
    opened.push(day);
    month.close();
    expect(() => budget.take('a', 2)).toThrow(OutputError);
    expect([day.used, budget.committed]).toEqual([0, 0]);
  });
});
