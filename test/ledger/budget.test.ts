import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {type Period, PeriodBudget} from '../../src/ledger/account/period-budget.ts';
import {Budget} from '../../src/ledger/budget.ts';

describe('a limit of the run', () => {
  const limited = (maxCredits: number | undefined, spent = 0) => {
    const books = {spent};
    return {books, budget: new Budget({maxCredits}, () => books.spent)};
  };

  test('is never passed, not by one', () => {
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

  test('holds what is in flight until that is booked', () => {
    const {books, budget} = limited(10);
    budget.take('a', 4);
    budget.take('b', 3);
    books.spent = 4;
    budget.release('a', 4, 'spent');
    expect(budget.committed).toBe(7);
    budget.hold(2);
    expect(budget.committed).toBe(9);
    budget.clear();
    expect(budget.committed).toBe(4);
  });
});

describe('limits that are shared', () => {
  let directory: string;
  let opened: PeriodBudget[];
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-budget-'));
    opened = [];
  });
  afterEach(() => {
    for (const budget of opened) budget.close();
    rmSync(directory, {recursive: true, force: true});
  });
  const shared = (period: Period, maxCredits: number) => {
    const now = () => Date.parse('2031-05-06T07:08:09Z');
    return new PeriodBudget({directory, owner: 'nightly', period, limit: 'a limit', maxCredits, now});
  };
  const dayAndMonth = (day: number, month: number, maxCredits?: number) => {
    const of = {day: shared('day', day), month: shared('month', month)};
    return {...of, budget: new Budget({maxCredits, shared: [of.day, of.month]}, () => 0)};
  };

  test('hold each for itself; where one refuses, the others have theirs back', () => {
    const {day, month, budget} = dayAndMonth(5, 3, 100);
    opened.push(day, month);
    expect([budget.affords(3), budget.affords(4)]).toEqual([true, false]);
    expect([budget.take('a', 3), budget.exhausted]).toEqual([true, undefined]);
    expect([budget.take('b', 1), budget.exhausted]).toEqual([false, month]);
    expect([day.used, month.used, budget.committed]).toEqual([3, 3, 3]);
    // The run's own limit is named by nobody else's.
    expect([budget.take('c', 98), budget.exhausted]).toEqual([false, undefined]);
  });

  test('have back what was free, and keep what may have been charged', () => {
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

  test('are read until they are closed, which gives back what was not spent', () => {
    const {budget} = dayAndMonth(10, 100);
    budget.take('a', 2);
    const use = (period: Period, limit: number, used: number) => ({owner: 'nightly', period, limit, used});
    expect(budget.uses).toEqual([use('day', 10, 2), use('month', 100, 2)]);
    budget.take('b', 1);
    budget.close();
    const other = dayAndMonth(10, 100);
    opened.push(other.day, other.month);
    expect(other.day.used).toBe(3);
    other.budget.take('c', 7);
    expect(budget.uses).toEqual([use('day', 10, 3), use('month', 100, 3)]);
  });

  test('that are abandoned are closed, and not read again', () => {
    const {budget} = dayAndMonth(1_000, 1_000);
    budget.take('a', 2);
    budget.abandon();
    expect(budget.uses).toEqual([]);
    const again = shared('day', 1_000);
    opened.push(again);
    expect(again.used).toBe(2);
  });
});
