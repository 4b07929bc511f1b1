import {expect, test} from 'vitest';
import {
  isOwn,
  merged,
  type RunRecord,
  recordOf,
  recordOfCutOff,
  withoutPaths,
} from '../../src/report/run-record.ts';
import {fullSummary} from './summaries.ts';

const facts = {
  run_id: 'run',
  started_at: '2031-05-06T02:00:00.000Z',
  job: 'nightly',
  list: 'list.csv',
  account: {endpoint: 'https://api.example.com', label: 'default'},
};
const cutOff = (spent: number) =>
  recordOfCutOff(facts, '2031-05-06T02:10:00.000Z', {ip: {calls: spent, spent, maybe_spent: 1}});
const own = (spent: number): RunRecord => ({
  ...cutOff(spent),
  ended_at: '2031-05-06T02:11:00.000Z',
  reason: 'signal',
  exit_code: 143,
  rows: 7,
  saved: 0,
});

test('a session that was cut off is told of by its money alone', () => {
  expect(cutOff(5)).toMatchObject({
    reason: 'cut_off',
    exit_code: null,
    rows: null,
    calls: 5,
    credits: {spent: 5, maybe_spent: 1, by_operation: {ip: {calls: 5, spent: 5, maybe_spent: 1}}},
  });
  expect([isOwn(cutOff(5)), isOwn(own(5))]).toEqual([false, true]);
});

test('told by itself and by its ledger, in whichever order, a session is one line: its own, with the ledger’s money', () => {
  const both = {...own(5), calls: 6, credits: cutOff(6).credits};
  expect(merged(own(5), cutOff(6))).toEqual(both);
  expect(merged(cutOff(6), own(5))).toEqual(both);
  expect(merged(cutOff(5), cutOff(6))).toEqual(cutOff(6));
  expect(merged(own(5), own(6))).toEqual(own(6));
});

test('a line of the history has all that the run saved, its price, and the names of what jumped', () => {
  const summary = fullSummary();
  const {account, saved} = summary.credits;
  const price = {per_credit: 0.004, currency: 'EUR'};
  const by_operation = {
    ip: {calls: 3, spent: 0.101, maybe_spent: 0.7},
    email: {calls: 2, spent: 0.202, maybe_spent: 0.103},
  };
  const told = {
    ...summary,
    session: {...summary.session, by_operation},
    credits: {...summary.credits, account: {...account, price}},
  };
  const values = (of: 'distinct' | 'from_store') =>
    Object.values(summary.lookups).reduce((sum, counts) => sum + counts[of], 0);
  expect(recordOf(told, 'https://api.example.com')).toMatchObject({
    list: 'signups-2026-01-05.csv',
    price,
    calls: 5,
    credits: {spent: 0.303, maybe_spent: 0.803, by_operation},
    saved: saved.dedupe + saved.store + saved.prefilter,
    hit_rate: Math.round((values('from_store') / values('distinct')) * 1e6) / 1e6,
    store_trouble: false,
    drift: ['risk.high', 'risk.mean', 'rows', 'ip.is_vpn'],
  });
  const stdin = {...summary, input: {...summary.input, paths: ['-']}};
  expect(recordOf(stdin, 'https://api.example.com').list).toBeNull();
  expect(recordOf(summary, 'https://api.example.com')).not.toHaveProperty('price');
  const store = {trouble: 'SQLITE_BUSY', not_looked_up: 1, perhaps_paid_again: 1, not_stored: 0};
  expect(recordOf({...summary, store}, 'https://api.example.com').store_trouble).toBe(true);
});

test('the summary in the history names no directory, not of rejects either', () => {
  const whole = fullSummary({
    rejects: {path: 'secret/rejects.csv', bytes: 1, sha256: 'ab'.repeat(32)},
  });
  const kept = withoutPaths(whole);
  expect(kept).toMatchObject({
    input: {paths: ['signups-2026-01-05.csv']},
    output: {path: 'signups-2026-01-05.enriched.csv'},
    rejects: {path: 'rejects.csv', bytes: 1},
  });
  expect(JSON.stringify(kept)).not.toMatch(/secret|exports/);
});
