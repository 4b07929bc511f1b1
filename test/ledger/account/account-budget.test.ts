import {beforeEach, expect, test, vi} from 'vitest';
import {Sqlite} from '../../../src/disk/sqlite.ts';
import {OutputError} from '../../../src/errors.ts';
import {AccountBudget, type AccountBudgetOptions} from '../../../src/ledger/account/account-budget.ts';
import {newDirectory} from '../../support/new-directory.ts';

const within = newDirectory();
let now: number;

beforeEach(() => {
  now = Date.parse('2031-05-06T23:59:00Z');
});

const limitOf = (period: 'day' | 'month', maxCredits: number) => ({period, limit: 'a limit', maxCredits});
/** Limits of the day and the month. 0 means no limit. */
const open = (day: number, month = 0, more: Partial<AccountBudgetOptions> = {}) =>
  new AccountBudget({
    ...{directory: within(), owner: 'account', now: () => now},
    limits: [limitOf('day', day), limitOf('month', month)].filter(({maxCredits}) => maxCredits > 0),
    ...more,
  });

const used = (budget: AccountBudget) => budget.limits.map(limit => budget.useOf(limit).used);
const ones = (count: number) => Array.from({length: count}, () => 1);

test('runs that share an account take as many credits as its day has, each as it calls, and not one more', () => {
  const [a, b] = [open(250), open(250)];
  expect([a.take(ones(3)), b.take(ones(200)), a.take(ones(60)), b.take([1])]).toEqual([3, 200, 47, 0]);
  const exhausted = {...limitOf('day', 250), renewsAt: Date.parse('2031-05-07T00:00:00Z')};
  expect([used(a), used(b), b.exhausted]).toEqual([[250], [250], exhausted]);
  for (const budget of [a, b]) budget.close();
  expect([used(a), used(open(250)), used(open(250, 0, {owner: 'another'}))]).toEqual([[250], [250], [0]]);
});

test('calls get credits of the day and the month, in order, or of neither; each is renewed by itself', () => {
  now = Date.parse('2031-12-30T12:00:00Z');
  const budget = open(3_000, 5_000);
  expect([budget.take([2_000, 1_500, 500]), budget.exhausted?.period]).toEqual([1, 'day']);
  expect([budget.take([1_000]), used(budget)]).toEqual([1, [3_000, 3_000]]);
  now += 86_400_000;
  expect([budget.take([2_500]), budget.exhausted?.renewsAt]).toEqual([0, Date.parse('2032-01-01T00:00:00Z')]);
  expect([budget.take([2_000]), used(budget)]).toEqual([1, [2_000, 5_000]]);
  now += 86_400_000;
  expect([budget.take([3_000]), budget.exhausted, used(budget)]).toEqual([1, undefined, [3_000, 3_000]]);
});

test('a free call gives its credits back to the day and month that it was taken from', () => {
  const budget = open(2, 100);
  budget.take(ones(2));
  const takenAt = now;
  budget.refund(1, takenAt);
  expect([used(budget), used(open(2, 100))]).toEqual([Array(2).fill(1), Array(2).fill(2)]);
  expect([budget.take([1]), budget.take([1])]).toEqual([1, 0]);
  now += 120_000;
  expect(budget.take(ones(3))).toBe(2);
  budget.refund(1, takenAt);
  expect(budget.take([1])).toBe(0);
  budget.close();
  expect(used(open(2, 100))).toEqual([2, 3]);
  now -= 120_000;
  expect(used(open(2, 100))).toEqual([1, 3]);
});

test('credits that could not be written are not taken, and what was given back stays to be written', () => {
  const budget = open(1_000);
  budget.take([10]);
  budget.refund(4, now);
  const keep = vi.spyOn(Sqlite.prototype, 'transaction');
  keep.mockImplementationOnce(function (this: Sqlite, work) {
    // As SQLite rolls a transaction back whose commit the disk refuses.
    this.exec('BEGIN');
    work();
    this.exec('ROLLBACK');
    throw Object.assign(new Error('database or disk is full'), {code: 'SQLITE_FULL'});
  });
  expect(() => budget.take([1])).toThrow(OutputError);
  keep.mockRestore();
  expect(used(budget)).toEqual([6]);
  budget.close();
  expect(used(open(1_000))).toEqual([6]);
});

test('one that can not be written at its end tells the use as it was last read', () => {
  const budget = open(1_000);
  budget.take([10]);
  budget.refund(4, now);
  const write = vi.spyOn(Sqlite.prototype, 'transaction').mockImplementation(() => {
    throw Object.assign(new Error('database or disk is full'), {code: 'SQLITE_FULL'});
  });
  expect(() => budget.close()).toThrow(OutputError);
  write.mockRestore();
  expect([used(budget), used(open(1_000))]).toEqual([[10], [10]]);
});

test('says once when its share is used up, by whomever', () => {
  const said: string[] = [];
  const warnAt = {share: 0.8, warn: (sentence: string) => said.push(sentence)};
  const limits = [{...limitOf('day', 10_000), limit: 'max_credits_per_day in production.yaml'}];
  const budget = open(0, 0, {warnAt, limits});
  budget.take([7_900]);
  expect(said).toEqual([]);
  for (let n = 0; n < 3; n++) budget.take([100]);
  const of = '(max_credits_per_day in production.yaml)';
  expect(said).toEqual([`8 of the day's 10 credits ${of} are used by all runs together.`]);
  open(0, 0, {warnAt, limits}).close();
  expect(said).toHaveLength(2);
  // The next day has a share of its own.
  now += 86_400_000;
  budget.take([7_900]);
  expect(said).toHaveLength(2);
  budget.take([100]);
  expect(said).toHaveLength(3);
});

test('a count that lacks credits is raised to them, and tells how many it lacked', () => {
  const budget = open(100, 1_000);
  budget.take([30]);
  budget.raiseCounts((fromMs, toMs) => (toMs - fromMs > 86_400_000 ? 500 : 20));
  const [day, month] = budget.limits.map(limit => budget.useOf(limit));
  expect(day).toEqual({used: 30, lacked: 0});
  expect(month).toEqual({used: 500, lacked: 470});
});

test('periods that are over are forgotten', () => {
  for (const days of [0, 200, 200, 200, 10]) {
    now += days * 86_400_000;
    const budget = open(5);
    budget.take([1]);
    budget.close();
  }
  const db = new Sqlite(within('daily-credits.db'), {synchronous: 'FULL', busyTimeoutMs: 0});
  const kept = ['2032-06-09', '2032-12-26', '2033-01-05'].map(period => ({period}));
  expect(db.query(['period'], 'FROM used').all()).toEqual(kept);
  db.close();
});
