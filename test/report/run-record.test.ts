import {afterEach, expect, test, vi} from 'vitest';
import {
  makeRunRecord,
  type RunRecord,
  stripDirectories,
  sumSpending,
  UNFINISHED_REASON,
} from '../../src/report/run-record.ts';
import {fullSummary} from './summaries.ts';

test('a record has all that the run spent and saved, its price, and the names of what jumped', () => {
  const summary = fullSummary();
  const {account, saved, spent, maybe_spent, by_operation} = summary.credits;
  const price = {per_credit: 0.004, currency: 'EUR'};
  const values = (of: 'distinct' | 'from_store') =>
    Object.values(summary.lookups).reduce((sum, counts) => sum + counts[of], 0);
  const record = makeRunRecord({
    ...summary,
    endpoint: {kind: 'live', base_url: 'https://api.example.com'},
    credits: {...summary.credits, account: {...account, price}},
  });
  expect(record).toMatchObject({
    list: 'signups-2026-01-05.csv',
    account: {endpoint: 'https://api.example.com', label: 'default'},
    price,
    calls: summary.calls.total,
    credits: {spent, maybe_spent, by_operation: {ip: {calls: summary.lookups.ip?.calls, ...by_operation.ip}}},
    saved: saved.dedupe + saved.store + saved.prefilter,
    hit_rate: Math.round((values('from_store') / values('distinct')) * 1e6) / 1e6,
    store_trouble: false,
    drift: ['risk.high', 'risk.mean', 'rows', 'ip.is_vpn'],
  });
  const stdin = {...summary, input: {...summary.input, paths: ['-']}};
  expect(makeRunRecord(stdin).list).toBeNull();
  expect(makeRunRecord(summary)).not.toHaveProperty('price');
  const store = {trouble: 'SQLITE_BUSY', not_looked_up: 1, perhaps_paid_again: 1, not_stored: 0};
  expect(makeRunRecord({...summary, store}).store_trouble).toBe(true);
});

test('a run under way, or killed, has no exit code; the embedded service is no address', () => {
  const endpoint = {kind: 'embedded', base_url: 'http://127.0.0.1:1'};
  const summary = fullSummary({reason: UNFINISHED_REASON, endpoint});
  expect(makeRunRecord(summary)).toMatchObject({exit_code: null, account: {endpoint: 'embedded'}});
});

test('the summary in the history names no directory, not of rejects either', () => {
  const whole = fullSummary({rejects: {path: 'secret/rejects.csv', bytes: 1, sha256: 'ab'.repeat(32)}});
  const kept = stripDirectories(whole);
  expect(kept).toMatchObject({
    input: {paths: ['signups-2026-01-05.csv']},
    output: {path: 'signups-2026-01-05.enriched.csv'},
    rejects: {path: 'rejects.csv', bytes: 1},
  });
  expect(JSON.stringify(kept)).not.toMatch(/secret|exports/);
});

afterEach(() => void vi.unstubAllEnvs());

const spent = (spent: number, maybe_spent = 0): Pick<RunRecord, 'calls' | 'credits'> => ({
  calls: 1,
  credits: {spent, maybe_spent, by_operation: {ip: {calls: 1, spent, maybe_spent}}},
});

const ended = (ended_at: string): RunRecord => ({
  ...makeRunRecord(fullSummary()),
  ...{ended_at, job: null, list: 'list.csv'},
  ...spent(1),
});

test.each(['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'UTC'])('days of spend are UTC days in %s', zone => {
  vi.stubEnv('TZ', zone);
  const records = ['2031-05-06T00:30:00.000Z', '2031-05-06T23:30:00.000Z', '2031-05-08T12:00:00.000Z'];
  const {groups} = sumSpending(records.map(ended), '2031-05-01', 'day');
  expect(groups.map(({name, spent}) => [name, spent])).toEqual([
    ['2031-05-06', 2],
    ['2031-05-07', 0],
    ['2031-05-08', 1],
  ]);
});

test('credits that cost less than a cent add up to money', () => {
  const price = {per_credit: 0.004, currency: 'EUR'};
  const records = Array.from({length: 100}, () => ({...ended('2031-05-06T00:30:00.000Z'), price}));
  const {groups, total} = sumSpending(records, '2031-05-01', 'job');
  expect(groups.map(({money}) => money)).toEqual([{EUR: 0.4}]);
  expect(total.money).toEqual({EUR: 0.4});
});

test('the largest come first, with credits that are perhaps spent; money is only of those that are', () => {
  const price = {per_credit: 0.5, currency: 'EUR'};
  const of = (job: string, certain: number, maybe: number, more = {}) => ({
    ...ended('2031-05-06T00:30:00.000Z'),
    ...spent(certain, maybe),
    ...{job, ...more},
  });
  const records = [of('certain', 3, 0, {price}), of('doubtful', 2, 4, {price}), of('unpriced', 4, 0)];
  const {groups, total} = sumSpending(records, '2031-05-01', 'job');
  expect(groups.map(({name, money}) => [name, money])).toEqual([
    ['doubtful', {EUR: 1}],
    ['unpriced', {}],
    ['certain', {EUR: 1.5}],
  ]);
  expect(total).toEqual({runs: 3, calls: 3, spent: 9, maybe_spent: 4, money: {EUR: 2.5}});
});

test('each currency has a sum of its own', () => {
  const of = (ended_at: string, currency: string) => ({...ended(ended_at), price: {per_credit: 2, currency}});
  const records = [
    of('2031-05-06T23:40:00.000Z', 'EUR'),
    of('2031-05-07T00:10:00.000Z', 'USD'),
    of('2031-05-07T00:20:00.000Z', 'EUR'),
  ];
  const {groups, total} = sumSpending(records, '2031-05-01', 'day');
  expect(groups.map(({name, runs, money}) => [name, runs, money])).toEqual([
    ['2031-05-06', 1, {EUR: 2}],
    ['2031-05-07', 2, {EUR: 2, USD: 2}],
  ]);
  expect(total).toEqual({runs: 3, calls: 3, spent: 3, maybe_spent: 0, money: {EUR: 4, USD: 2}});
  expect(sumSpending(records, '2031-05-01', 'job').groups).toMatchObject([
    {runs: 3, money: {EUR: 4, USD: 2}},
  ]);
});
