import {expect} from 'vitest';
import type {Summary} from '../../src/report/summary.ts';

/** The accounts inside a summary: whatever happened, these hold. */
export function expectAccounts(summary: Summary): void {
  const {status, rows, lookups, calls, credits, errors} = summary;
  expect(rows.read).toBe(rows.written + rows.rejected);
  expect(rows.written).toBe(rows.ok + rows.with_errors);
  const sum = (of: (one: (typeof lookups)[string]) => number) =>
    Object.values(lookups).reduce((total, one) => total + of(one), 0);
  for (const one of Object.values(lookups)) {
    expect(one.values).toBe(one.empty + one.invalid + one.answered + one.failed + one.unknown + one.skipped);
    expect(one.values % Math.max(1, rows.written)).toBe(0);
    // In a run that stopped, fewer rows are written than values were sent.
    if (status === 'completed' || status === 'partial')
      expect(one.distinct).toBeLessThanOrEqual(one.answered + one.failed + one.unknown + one.skipped);
  }
  expect(calls.total).toBe(sum(one => one.calls));
  const tries = [...Object.values(calls.by_status), ...Object.values(calls.by_error)];
  const tried = tries.reduce((total, n) => total + n, 0) - calls.unsent - calls.unconfirmed;
  expect(calls.total).toBe(tried);
  expect(calls.retries).toBe(sum(one => one.retries));
  const byOperation = Object.values(credits.by_operation);
  expect(credits.spent).toBeCloseTo(byOperation.reduce((total, one) => total + one.spent, 0));
  expect(credits.maybe_spent).toBeCloseTo(byOperation.reduce((total, one) => total + one.maybe_spent, 0));
  for (const {count, rows: named} of errors) expect(named.length).toBe(Math.min(count, 10));
}
