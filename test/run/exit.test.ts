import {describe, expect, test} from 'vitest';
import type {UnaskedCode} from '../../src/ledger/lookup-outcome.ts';
import {emptyTally, type Tally} from '../../src/ledger/run/tally.ts';
import {type Counters, emptyCounters} from '../../src/run/counts/counters.ts';
import {endOfCompletedRun, exceedsLimit} from '../../src/run/exit.ts';

describe('a run that wrote all its rows', () => {
  const after = (change: (counters: Counters, tally: Tally) => void) => {
    const counters = emptyCounters();
    const tally = emptyTally();
    change(counters, tally);
    return endOfCompletedRun(counters, tally, true);
  };
  const failing = (counters: Counters, failed: number, rejected: number) => {
    counters.lookups.ip.failed = failed;
    counters.rejected.ip = rejected;
  };
  const cutShort = (counters: Counters, code: UnaskedCode, answered: number) => {
    counters.skipped.ip[code] = 1;
    counters.lookups.email.ok = answered;
  };
  const stale = (counters: Counters, code: UnaskedCode) => {
    counters.stale.email[code] = 1;
    counters.lookups.email.ok = 1;
  };
  const forbidden = (counters: Counters, tally: Tally, count: number) => {
    Object.assign(counters.lookups.ip, {ok: 50, failed: count});
    Object.assign(tally.refusals.ip.refused, {count, code: 'forbidden'});
  };
  test.each<[string, (counters: Counters, tally: Tally) => void, number, string]>([
    ['all answered', c => (c.lookups.ip.ok = 5), 0, 'done'],
    ['judged locally', c => (c.lookups.ip.invalid = 5), 0, 'done'],
    ['skipped on purpose', c => (c.skipped.ip.filter = 5), 0, 'done'],
    ['one failed', c => (c.lookups.email = {...c.lookups.email, failed: 1, ok: 1}), 3, 'lookups_failed'],
    ['one unknown', c => (c.lookups.verify = {...c.lookups.verify, unknown: 1, ok: 1}), 3, 'lookups_failed'],
    ['all failed', c => (c.lookups.email.failed = 1), 5, 'lookups_failed'],
    ['all unknown', c => (c.lookups.verify.unknown = 1), 5, 'lookups_failed'],
    ['the last ten refused with 403', (c, tally) => forbidden(c, tally, 10), 6, 'credentials'],
    ['the last nine refused with 403', (c, tally) => forbidden(c, tally, 9), 3, 'lookups_failed'],
    ['some skipped for the budget', c => cutShort(c, 'budget', 1), 3, 'budget'],
    ['some skipped at the deadline', c => cutShort(c, 'deadline', 1), 3, 'deadline'],
    ['answered by what is past its age', c => stale(c, 'outage'), 3, 'outage'],
    ['none answered for the budget', c => cutShort(c, 'budget', 0), 7, 'budget'],
    ['none answered before the deadline', c => cutShort(c, 'deadline', 0), 5, 'deadline'],
    ['none answered in an outage', c => cutShort(c, 'outage', 0), 5, 'outage'],
    ['none in the store, offline', c => cutShort(c, 'offline', 0), 3, 'offline'],
    ['a value that the service rejects', c => failing(c, 2, 2), 0, 'done'],
    ['that, and another failure', c => failing(c, 3, 2), 3, 'lookups_failed'],
    ['a streak of refusals', (_, tally) => (tally.refusals.ip.longestStreak = 10), 3, 'refused_in_a_row'],
    ['a row rejected', c => (c.rows.rejected = 1), 3, 'rows_rejected'],
  ])('%s', (_, change, exitCode, reason) => {
    expect(after(change)).toMatchObject({exitCode, reason});
  });
});

test('where rejections are not kept, the next run would ask again', () => {
  const counters = emptyCounters();
  counters.lookups.ip.failed = 1;
  counters.rejected.ip = 1;
  const end = endOfCompletedRun(counters, emptyTally(), false);
  expect(end).toMatchObject({exitCode: 3, reason: 'lookups_failed'});
});

test.each([
  [undefined, 1_000, 1_000, false],
  [{count: 10}, 10, 10, false],
  [{count: 10}, 11, 11, true],
  [{count: 0}, 1, 1, true],
  [{share: 0.1}, 10, 100, false],
  [{share: 0.1}, 11, 100, true],
  // Of a few rows a share says nothing yet.
  [{share: 0.1}, 50, 99, false],
])('limit %j: %i of %i exceed it: %s', (limit, count, total, expected) => {
  expect(exceedsLimit(limit, {count, total})).toBe(expected);
});
