import {expect, test} from 'vitest';
import {makeRunRecord, stripDirectories, UNFINISHED_REASON} from '../../src/report/run-record.ts';
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
  const summary = fullSummary({
    reason: UNFINISHED_REASON,
    endpoint: {kind: 'embedded', base_url: 'http://127.0.0.1:1'},
  });
  expect(makeRunRecord(summary)).toMatchObject({exit_code: null, account: {endpoint: 'embedded'}});
});

test('the summary in the history names no directory, not of rejects either', () => {
  const whole = fullSummary({
    rejects: {path: 'secret/rejects.csv', bytes: 1, sha256: 'ab'.repeat(32)},
  });
  const kept = stripDirectories(whole);
  expect(kept).toMatchObject({
    input: {paths: ['signups-2026-01-05.csv']},
    output: {path: 'signups-2026-01-05.enriched.csv'},
    rejects: {path: 'rejects.csv', bytes: 1},
  });
  expect(JSON.stringify(kept)).not.toMatch(/secret|exports/);
});
