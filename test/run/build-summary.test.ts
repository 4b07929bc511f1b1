import {expect, test} from 'vitest';
import {resolveJob} from '../../src/job/job.ts';
import {checkSettings, createSettingLocator} from '../../src/job/parse.ts';
import {
  countAttempt,
  emptyTally,
  type SpendingByOperation,
  type Tally,
  zeroSpending,
} from '../../src/ledger/run/tally.ts';
import {type Counters, emptyCounters} from '../../src/run/counts/counters.ts';
import {summarizeSession} from '../../src/run/end/build-summary.ts';
import type {PublishedDigests} from '../../src/run/rows/row-writer.ts';
import type {Session} from '../../src/run/session.ts';
import {whole} from '../support/whole.ts';

const ENV = {BULK_ENRICH_API_KEY: 'a-key', BULK_ENRICH_BASE_URL: 'https://api.example.com/v1'};
const START = Date.parse('2031-05-06T02:00:00.000Z');
const COMPLETE = {status: 'completed', reason: 'done', exitCode: 0} as const;
function job(given: object = {}) {
  const {
    name: _,
    input: __,
    output: ___,
    ...settings
  } = checkSettings(undefined, {endpoint: 'live', cost: 'ip=2.5,email=4', ...given});
  const source = {inputs: ['list.csv'], output: undefined, settings, fromFile: false};
  return resolveJob({...source, placeOf: createSettingLocator(undefined, {})}, ENV, false);
}

interface Given {
  readonly counters?: Counters;
  readonly tally?: Tally;
  readonly spending?: SpendingByOperation;
  readonly begunAt?: number;
  readonly now?: number;
  readonly settings?: object;
  readonly baseUrl?: string;
  readonly store?: {readonly cause: string; readonly missed: number};
  readonly published?: PublishedDigests;
}

/** The summary of a session that looks up `ip`, with these counts. */
function summaryOf({counters = emptyCounters(), tally = emptyTally(), ...given}: Given = {}) {
  const {spending = zeroSpending(), begunAt = START, now = START + 2_000, settings, published} = given;
  const session = whole<Session>({
    job: job(settings),
    io: {now: () => now},
    clock: () => now,
    begunAt,
    identity: {runId: 'run', startedAt: START, sessions: 1},
    input: {
      source: {position: {bytes: 10, sha256: 'ab'}, blankLines: 3, paddedRows: 5, linesBesideHeader: 2},
      layout: {
        mapping: {targets: [{operation: 'ip', column: 'ip', prefix: 'ip_'}], leftOut: []},
        format: {kind: 'csv', delimiter: ';'},
      },
    },
    asking: {
      ledger: {tally, spending, budget: {}},
      executor: {pace: () => ({limit: 20, pauses: 2, pausedMs: 700})},
      connection: {client: {baseUrl: given.baseUrl ?? 'https://api.example.com/v1/'}},
      store: {trouble: given.store},
    },
    output: {writer: {counters}, timeline: {summary: {}}},
  });
  return summarizeSession(session, COMPLETE, published);
}

test('saved credits are the price of what was asked once, was known, can not be looked up, or was left out by choice', () => {
  const counters = emptyCounters();
  const skipped = {condition: 2, filter: 1, budget: 4, outage: 1};
  Object.assign(counters.lookups.ip, {ok: 9, empty: 1, invalid: 3, failed: 2, unknown: 1, skipped: 8});
  Object.assign(counters.skipped.ip, skipped);
  counters.stale.ip = {budget: 2};
  counters.rejected.ip = 1;
  const tally = emptyTally();
  Object.assign(tally.operations.ip, {distinct: 6, fromStore: 2, calls: 5});
  tally.refusals.ip.longestStreak = 4;
  const {lookups, credits} = summaryOf({counters, tally});
  expect(lookups.ip).toMatchObject({
    ...{values: 24, empty: 1, invalid: 3, answered: 9, failed: 2, unknown: 1, skipped: 8},
    ...{distinct: 6, from_store: 2, stale: 2, rejected: 1, refused_in_a_row: 4, deduplicated: 4},
  });
  expect(credits.saved).toEqual({dedupe: 10, store: 5, prefilter: 15, by_condition: 5});
});

test('a share of true is one of the answers that have the flag', () => {
  const counters = emptyCounters();
  counters.lookups.ip.ok = 8;
  counters.fields.ip.is_vpn = {present: 4, true: 1};
  const {fields} = summaryOf({counters});
  expect(fields.ip?.is_vpn).toEqual({present: 0.5, true: 0.25});
  expect(fields.ip?.is_tor_node).toEqual({present: 0, true: 0});
});

test('what trouble with the store cost has the price of each operation', () => {
  const tally = emptyTally();
  tally.operations.ip.notLookedUp = 2;
  tally.operations.email.notLookedUp = 1;
  const trouble = {cause: 'ENOSPC', missed: 3};
  expect(summaryOf({tally, store: trouble}).store).toEqual({
    ...{trouble: 'ENOSPC', not_looked_up: 3, perhaps_paid_again: 9, not_stored: 3},
  });
  expect(summaryOf({tally}).store).toMatchObject({trouble: null, perhaps_paid_again: 9, not_stored: 0});
  expect(summaryOf({tally, settings: {store: false}}).store).toBeNull();
});

test.each(['calls', 'spent', 'maybeSpent'] as const)(
  'an operation that is not looked up any more has its %s in the summary, of an earlier session',
  count => {
    expect(Object.keys(summaryOf().lookups)).toEqual(['ip']);
    const nothing = {spent: 0, maybeSpent: 0, calls: 0};
    const summary = summaryOf({spending: {...zeroSpending(), email: {...nothing, [count]: 4_000}}});
    expect(Object.keys(summary.lookups)).toEqual(['ip', 'email']);
    expect(Object.keys(summary.credits.by_operation)).toEqual(['ip', 'email']);
  },
);

test('credits and calls are those of all sessions; the pace is that of the last one', () => {
  const tally = emptyTally();
  tally.operations.ip.calls = 6;
  const spending = {...zeroSpending(), ip: {spent: 7_000, maybeSpent: 500, calls: 10}};
  const {credits, calls, pace} = summaryOf({tally, spending, begunAt: START + 1_000});
  expect([credits.spent, credits.maybe_spent, calls.total]).toEqual([7, 0.5, 10]);
  expect(pace).toMatchObject({rate_limit: 20, pauses: 2, paused_ms: 700});
  expect(pace.achieved).toBeGreaterThan(summaryOf({tally, spending}).pace.achieved);
});

test('a run does not end before it began, whatever the clock says meanwhile', () => {
  const tally = emptyTally();
  tally.operations.ip.calls = 10;
  const {started_at, finished_at, duration_ms, pace} = summaryOf({tally, now: START - 60_000});
  expect([finished_at, duration_ms, pace.achieved]).toEqual([started_at, 0, 0]);
});

test('the slowest hundredth has its own figure, and the longest call is rounded up', () => {
  const tally = emptyTally();
  for (let n = 1; n <= 100; n += 1) {
    const latencyMs = n > 98 ? 9_000.2 : n > 90 ? 1_000 : 10;
    countAttempt(tally, {kind: 'ambiguous', code: 'timeout', latencyMs});
  }
  const {p50, p95, p99, max} = summaryOf({tally}).calls.latency_ms;
  expect([p50, p95, p99].map(ms => Math.round(Math.log10((ms ?? 1) / 9)))).toEqual([0, 2, 3]);
  expect(max).toBe(9_001);
});

test('the address of the service is there without a user name and a password; blank lines and short rows are counted', () => {
  const {endpoint, rows, output} = summaryOf({baseUrl: 'https://user:hush@api.example.com/v1/'});
  expect(endpoint.base_url).toBe('https://api.example.com/v1');
  expect(rows).toMatchObject({blank_lines: 3, padded: 5});
  expect(output.delimiter).toBe(';');
});

test('rejected rows are named by their file, with its size and digest; the others have none', () => {
  const published = {output: null, rejects: {bytes: 7, sha256: 'cd'}};
  expect(summaryOf({published}).rejects).toEqual({
    path: expect.stringMatching(/list\.enriched\.rejects\.ndjson$/),
    ...{bytes: 7, sha256: 'cd'},
  });
  expect(summaryOf().rejects).toBeNull();
});
