import {randomUUID} from 'node:crypto';
import {beforeEach, expect, test, vi} from 'vitest';
import {Sqlite} from '../../../src/disk/sqlite.ts';
import {OutputError} from '../../../src/errors.ts';
import {
  PeriodBudget,
  type PeriodBudgetOptions,
  refundUnspentCredits,
} from '../../../src/ledger/account/period-budget.ts';
import {newDirectory} from '../../support/new-directory.ts';

const within = newDirectory();
let now: number;

beforeEach(() => {
  now = Date.parse('2031-05-06T23:59:00Z');
});

const open = (maxCredits: number, owner = 'nightly', more: Partial<PeriodBudgetOptions> = {}) =>
  new PeriodBudget({
    directory: within(),
    owner,
    holder: randomUUID(),
    period: 'day',
    limit: 'a limit',
    maxCredits,
    now: () => now,
    ...more,
  });

const takeAll = (budget: PeriodBudget) => {
  let taken = 0;
  while (budget.take(1)) taken += 1;
  return taken;
};

test('gives out as many credits as the day has, over all that share it, and not one more', () => {
  const [a, b] = [open(250), open(250)];
  expect(a.take(1)).toBe(true);
  expect(b.take(1)).toBe(true);
  const more = takeAll(a);
  // The other still holds its block.
  expect(2 + more + takeAll(b)).toBe(250);
  expect([a.take(1), b.take(1)]).toEqual([false, false]);
  for (const budget of [a, b]) budget.close();
  expect(open(250).used).toBe(250);
});

test('unspent credits are returned at the end; a crash loses a block at most', () => {
  const ended = open(1_000);
  for (let i = 0; i < 3; i++) ended.take(1);
  ended.close();
  expect(open(1_000).used).toBe(3);
  open(1_000).take(1);
  const next = open(1_000);
  expect(next.used).toBeLessThanOrEqual(3 + 10);
  expect(3 + 1 + takeAll(next)).toBeLessThanOrEqual(1_000);
});

test('a block that could not be written is not given back: no run gets more than the day has', () => {
  const first = open(1_000);
  takeAll(first);
  first.close();
  const budget = open(2_000);
  const keep = vi.spyOn(Sqlite.prototype, 'transaction').mockImplementationOnce(function (
    this: Sqlite,
    work,
  ) {
    // As SQLite rolls a transaction back whose commit the disk refuses.
    this.exec('BEGIN');
    work();
    this.exec('ROLLBACK');
    throw Object.assign(new Error('database or disk is full'), {code: 'SQLITE_FULL'});
  });
  expect(() => budget.take(1)).toThrow(OutputError);
  keep.mockRestore();
  expect(budget.used).toBe(1_000);
  budget.close();
  expect(open(2_000).used).toBe(1_000);
});

test('unspent credits of a killed session are given back, once', () => {
  const day = open(100_000, 'account', {holder: 'killed'});
  const month = open(200_000, 'account', {holder: 'killed', period: 'month'});
  for (const budget of [day, month]) budget.take(300);
  now += 86_400_000;
  for (const budget of [day, month]) budget.take(20);
  const other = open(100_000, 'account');
  other.take(5);
  const next = open(100_000, 'account');
  expect([next.used, open(200_000, 'account', {period: 'month'}).used]).toEqual([1_000 + 1_000, 300 + 1_000]);
  const giveBack = () => refundUnspentCredits({directory: within(), now: () => now}, 'killed', 320);
  giveBack();
  const left = () => [next.used, open(200_000, 'account', {period: 'month'}).used];
  expect(left()).toEqual([20 + 1_000, 320]);
  giveBack();
  expect(left()).toEqual([20 + 1_000, 320]);
  now -= 86_400_000;
  expect(open(100_000, 'account').used).toBe(300);
});

test('nothing is given back of a session that has ended, and of a killed one whatever account it had', () => {
  const ended = open(100_000, 'account', {holder: 'ended'});
  ended.take(300);
  ended.close();
  open(100_000, 'another', {holder: 'killed'}).take(300);
  const next = open(100_000, 'account');
  refundUnspentCredits({directory: within(), now: () => now}, 'ended', 0);
  expect([next.used, open(100_000, 'another').used]).toEqual([300, 1_000]);
  refundUnspentCredits({directory: within('none'), now: () => now}, 'killed', 0);
  refundUnspentCredits({directory: within(), now: () => now}, 'killed', 300);
  expect([next.used, open(100_000, 'another').used]).toEqual([300, 300]);
});

test('a call beside runs takes its own cost, and no block', () => {
  open(100_000, 'account', {holder: undefined}).take(7);
  expect(open(100_000, 'account').used).toBe(7);
});

test('a free call gives its credits back to the day that it was taken from, never to the next', () => {
  const budget = open(2);
  const {name} = budget;
  budget.take(1);
  budget.take(1);
  budget.refund(name, 1);
  expect(budget.take(1)).toBe(true);
  expect(budget.take(1)).toBe(false);
  now += 120_000;
  expect(takeAll(budget)).toBe(2);
  budget.refund(name, 1);
  expect(budget.take(1)).toBe(false);
  expect(budget.used).toBe(2);
  expect(budget.renewsAt).toBe(Date.parse('2031-05-08T00:00:00Z'));
  now -= 120_000;
  expect(open(2).used).toBe(1);
});

test('what is left of a block when its day ends is returned to that day', () => {
  const budget = open(1_000);
  budget.take(1);
  now += 86_400_000;
  budget.take(1);
  now -= 86_400_000;
  expect(open(1_000).used).toBe(1);
});

test('costs larger than a block fit as long as there is room', () => {
  const budget = open(10_000);
  expect(budget.take(7_500)).toBe(true);
  expect(budget.left()).toBe(2_500);
  expect(budget.take(2_600)).toBe(false);
  expect(budget.take(2_500)).toBe(true);
  expect(budget.left()).toBe(0);
});

test('the rest of a block and the last of the day make a call together', () => {
  const budget = open(10_000);
  expect([budget.take(9_870), budget.take(60), budget.left()]).toEqual([true, true, 70]);
  expect([budget.take(71), budget.take(70), budget.left()]).toEqual([false, true, 0]);
});

test("a month's credits are counted apart from a day's, and renewed with the next month", () => {
  const month = {period: 'month'} as const;
  now = Date.parse('2031-12-30T12:00:00Z');
  expect(takeAll(open(3))).toBe(3);
  const budget = open(5, 'account', month);
  expect(takeAll(budget)).toBe(5);
  expect(budget.renewsAt).toBe(Date.parse('2032-01-01T00:00:00Z'));
  now += 86_400_000;
  expect(takeAll(open(3))).toBe(3);
  expect(open(5, 'account', month).take(1)).toBe(false);
  now += 86_400_000;
  expect(takeAll(budget)).toBe(5);
});

test('says once when its share is used up, by whomever', () => {
  const said: string[] = [];
  const warnAt = {share: 0.8, warn: (sentence: string) => said.push(sentence)};
  const budget = open(10_000, 'account', {warnAt, limit: 'max_credits_per_day in production.yaml'});
  budget.take(7_900);
  expect(said).toEqual([]);
  for (let n = 0; n < 3; n++) budget.take(100);
  expect(said).toEqual([
    "8 of the day's 10 credits (max_credits_per_day in production.yaml) are used by all runs together.",
  ]);
  const other = open(10_000, 'account', {warnAt});
  expect(said).toHaveLength(2);
  other.close();
  // The next day has a share of its own.
  now += 86_400_000;
  for (const cost of [7_900, 100]) budget.take(cost);
  expect(said).toHaveLength(2);
  budget.take(100);
  expect(said).toHaveLength(3);
  budget.close();
});

test('a session that was killed when it had closed one of its two budgets has the block of the other given back', () => {
  const day = open(100_000, 'account', {holder: 'killed'});
  const month = open(200_000, 'account', {holder: 'killed', period: 'month'});
  for (const budget of [day, month]) budget.take(300);
  day.close();
  refundUnspentCredits({directory: within(), now: () => now}, 'killed', 300);
  const used = [open(100_000, 'account'), open(200_000, 'account', {period: 'month'})].map(one => one.used);
  expect(used).toEqual([300, 300]);
});

test('periods that are over are forgotten', () => {
  for (const days of [0, 200, 200, 200, 10]) {
    now += days * 86_400_000;
    const budget = open(5);
    budget.take(1);
    budget.close();
  }
  const db = new Sqlite(within('daily-credits.db'), {synchronous: 'FULL', busyTimeoutMs: 0});
  expect(db.query(['period'], 'FROM used').all()).toEqual(
    ['2032-06-09', '2032-12-26', '2033-01-05'].map(period => ({period})),
  );
  db.close();
});

test("a month's use has no credits that others hold unspent, beyond those of their day", () => {
  const session = {holder: randomUUID()};
  const [day, month] = [
    open(200, 'account', session),
    open(10_000, 'account', {...session, period: 'month'}),
  ];
  for (let i = 0; i < 100; i++) expect([day.take(1), month.take(1)]).toEqual([true, true]);
  const others = open(10_000, 'account', {period: 'month'});
  others.take(1);
  expect([others.used, others.left() <= 10_000 - 101]).toEqual([101, true]);
  for (const budget of [day, month, others]) budget.close();
});
