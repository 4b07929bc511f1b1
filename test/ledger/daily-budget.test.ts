import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {DailyBudget} from '../../src/ledger/daily-budget.ts';

let directory: string;
let now: number;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-daily-'));
  now = Date.parse('2031-05-06T23:59:00Z');
});
afterEach(() => rmSync(directory, {recursive: true, force: true}));

const open = (maxCredits: number, job = 'nightly') =>
  new DailyBudget({directory, job, maxCredits, now: () => now});

const takeAll = (budget: DailyBudget, prefix = 'k') => {
  let taken = 0;
  while (budget.take(`${prefix}${taken}`, 1)) taken += 1;
  return taken;
};

test('gives out as many credits as the day has, over all that share it, and not one more', () => {
  const [a, b] = [open(250), open(250)];
  expect(a.take('x', 1)).toBe(true);
  expect(b.take('y', 1)).toBe(true);
  const more = takeAll(a);
  // What the other holds of its block is still its own.
  expect(2 + more + takeAll(b)).toBe(250);
  expect([a.take('z', 1), b.take('z', 1)]).toEqual([false, false]);
  for (const budget of [a, b]) budget.close();
  expect(open(250).used).toBe(250);
});

test('what was taken and not spent is returned at the end; a crash loses a block at most', () => {
  const ended = open(1_000);
  for (let i = 0; i < 3; i++) ended.take(`k${i}`, 1);
  ended.close();
  expect(open(1_000).used).toBe(3);
  open(1_000).take('crashed', 1);
  const next = open(1_000);
  expect(next.used).toBeLessThanOrEqual(3 + 10);
  expect(3 + 1 + takeAll(next)).toBeLessThanOrEqual(1_000);
});

test('a free call gives its credits back to the day that it was taken from, never to the next', () => {
  const budget = open(2);
  budget.take('before', 1);
  budget.take('other', 1);
  budget.settle('other', 1, true);
  expect(budget.take('again', 1)).toBe(true);
  expect(budget.take('more', 1)).toBe(false);
  now += 120_000;
  expect(takeAll(budget)).toBe(2);
  budget.settle('before', 1, true);
  expect(budget.take('late', 1)).toBe(false);
  expect(budget.used).toBe(2);
  expect(budget.renewsAt).toBe(Date.parse('2031-05-08T00:00:00Z'));
});

test('costs that are no whole numbers, and larger than a block, fit as long as there is room', () => {
  const budget = open(10);
  expect(budget.take('a', 7.5)).toBe(true);
  expect(budget.affords(2.5)).toBe(true);
  expect(budget.take('b', 2.6)).toBe(false);
  expect(budget.take('c', 2.5)).toBe(true);
  expect(budget.affords(0.1)).toBe(false);
});

test("one job's credits are not another's", () => {
  expect(takeAll(open(5))).toBe(5);
  expect(takeAll(open(5, 'weekly'))).toBe(5);
});
