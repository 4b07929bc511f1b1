import type {FileDigest} from '../../disk/digest.ts';
import type {Job} from '../../job/job.ts';
import {inCredits} from '../../job/money.ts';
import type {Earlier} from '../../ledger/given-up.ts';
import type {StoreTrouble} from '../../ledger/store.ts';
import {latencyPercentile, type Spending, type Tally, totalOf} from '../../ledger/tally.ts';
import type {PaceReport} from '../../lookup/executor.ts';
import {type Operation, operationNames} from '../../operations/table.ts';
import {fieldsOf} from '../../output/columns.ts';
import type {Summary} from '../../report/summary.ts';
import {settingsDigest} from '../open/done-before.ts';
import {type Counters, listErrors} from './counters.ts';
import {type TimelineState, timelineSummary} from './timeline.ts';
import {topSummary} from './top-counts.ts';

/** What a run knows when its summary is written. */
export interface SummaryFacts {
  readonly job: Job;
  /** Undefined where the embedded service was not started. */
  readonly baseUrl: string | undefined;
  readonly runId: string;
  readonly status: Summary['status'];
  readonly reason: string;
  readonly exitCode: number;
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly comeBackMs?: number | undefined;
  readonly input: {readonly bytes: number; readonly sha256: string};
  readonly output: FileDigest | null;
  readonly rejects: FileDigest | null;
  readonly rowsRead: number;
  readonly blankLines: number;
  readonly counters: Counters;
  /** All attempts of the run together. */
  readonly tally: Tally;
  readonly earlier: Earlier;
  readonly pace: PaceReport | undefined;
  readonly store: StoreTrouble | undefined;
  readonly timeline: TimelineState;
  readonly resumed: {readonly times: number; readonly fromRow: number | null};
  /** The job's budget of the day, where it has one; in thousandths of a credit, as what calls cost and the tally. */
  readonly daily: {readonly limit: number; readonly used: number} | undefined;
  readonly costOf: (operation: Operation) => number;
  /** The operations that columns are looked up by; those that were counted come by themselves. */
  readonly operations: readonly Operation[];
}

/** The summary as the contract has it; `schema_version` changes when a name does. */
export function buildSummary(facts: SummaryFacts): Summary {
  const {job, tally, counters} = facts;
  const durationMs = facts.finishedAt - facts.startedAt;
  const lookups = Object.fromEntries(mapped(facts).map(name => [name, lookupSummary(facts, name)]));
  const calls = totalOf(tally, 'calls');
  return {
    schema_version: 1,
    run_id: facts.runId,
    job: job.name ?? null,
    status: facts.status,
    reason: facts.reason,
    exit_code: facts.exitCode,
    started_at: new Date(facts.startedAt).toISOString(),
    finished_at: new Date(facts.finishedAt).toISOString(),
    duration_ms: durationMs,
    ...(facts.comeBackMs === undefined ? {} : {come_back_at: new Date(facts.comeBackMs).toISOString()}),
    endpoint: {
      kind: job.endpoint.kind,
      base_url: facts.baseUrl === undefined ? null : withoutUserinfo(facts.baseUrl),
    },
    input: {paths: [...job.inputs], ...facts.input},
    output: {
      path: job.output.name,
      bytes: facts.output?.bytes ?? null,
      sha256: facts.output?.sha256 ?? null,
    },
    rejects: facts.rejects === null ? null : {path: job.paths.rejects ?? null, ...facts.rejects},
    settings_sha256: settingsDigest(job),
    rows: {
      read: facts.rowsRead,
      written: counters.rows.written,
      rejected: counters.rows.rejected,
      ok: counters.rows.ok,
      with_errors: counters.rows.with_errors,
      blank_lines: facts.blankLines,
    },
    lookups,
    calls: {
      total: calls,
      unsent: tally.unsent,
      unconfirmed: tally.unconfirmed,
      by_status: tally.byStatus,
      by_error: tally.byError,
      retries: totalOf(tally, 'retries'),
      latency_ms: {
        p50: latencyPercentile(tally, 0.5),
        p95: latencyPercentile(tally, 0.95),
        p99: latencyPercentile(tally, 0.99),
        max: tally.latencyMaxMs === 0 ? null : Math.ceil(tally.latencyMaxMs),
      },
      unknown_fields: tally.unknownFields,
      wrong_types: tally.wrongTypes,
    },
    credits: creditSummary(facts),
    store: job.settings.cache === false ? null : storeSummary(facts),
    pace: {
      rate_limit: facts.pace?.limit ?? null,
      achieved: durationMs > 0 ? round((calls - facts.earlier.counted.calls) / (durationMs / 1_000)) : 0,
      pauses: facts.pace?.pauses ?? 0,
      paused_ms: facts.pace?.pausedMs ?? 0,
    },
    top: topSummary(counters.top),
    timeline: timelineSummary(facts.timeline),
    risk: job.settings.score === 'none' ? null : riskSummary(counters),
    fields: Object.fromEntries(mapped(facts).map(name => [name, fieldSummary(counters, name)])),
    errors: listErrors(counters.errors),
    drift: [],
    failed_if: [],
    resumed: {times: facts.resumed.times, from_row: facts.resumed.fromRow},
  };
}

/** The summary's file: indented, with lists of numbers and texts on one line each. */
export function summaryText(summary: Summary): string {
  const indented = JSON.stringify(summary, null, 2);
  return `${indented.replace(/\[\n[^[\]{}]*\]/g, list => list.replace(/\n\s*/g, ' ').replace('[ ', '[').replace(/ \]$/, ']'))}\n`;
}

/** The operations that this run looked at; the others would only be zeros. */
function mapped({counters, tally, operations}: SummaryFacts): Operation[] {
  return operationNames.filter(
    name =>
      operations.includes(name) ||
      tally.operations[name].calls > 0 ||
      Object.values(counters.lookups[name]).some(count => count > 0),
  );
}

function lookupSummary({counters, tally}: SummaryFacts, name: Operation) {
  const {ok, empty, invalid, failed, unknown, skipped} = counters.lookups[name];
  const {distinct, fromCache, calls, retries} = tally.operations[name];
  return {
    values: ok + empty + invalid + failed + unknown + skipped,
    empty,
    invalid,
    distinct,
    answered: ok,
    failed,
    unknown,
    skipped,
    from_cache: fromCache,
    deduplicated: Math.max(0, ok + failed + unknown - distinct),
    calls,
    retries,
  };
}

function riskSummary({risk}: Counters) {
  const {low, medium, high, unknown} = risk.levels;
  const scored = low + medium + high;
  return {
    scored,
    unknown,
    low,
    medium,
    high,
    mean: scored === 0 ? null : Math.round((risk.sum / scored) * 100) / 100,
    histogram: risk.histogram,
    reasons: byCount(risk.reasons),
    missing: byCount(risk.missing),
  };
}

function byCount(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)));
}

/** The share of answers that have a field, and, of a flag, the share of those in which it is true. */
function fieldSummary({fields, lookups}: Counters, name: Operation) {
  const shares: Record<string, {present: number; true?: number}> = {};
  for (const {name: field, kind} of fieldsOf(name)) {
    const {present = 0, true: yes = 0} = fields[name][field] ?? {};
    shares[field] = {present: share(present, lookups[name].ok)};
    if (kind === 'flag') shares[field].true = share(yes, present);
  }
  return shares;
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : round(part / whole);
}

function creditSummary(facts: SummaryFacts) {
  const {tally, counters, costOf, job} = facts;
  const names = mapped(facts);
  const saved = (count: (name: Operation) => number) =>
    inCredits(names.reduce((total, name) => total + count(name) * costOf(name), 0));
  return {
    spent: inCredits(totalOf(tally, 'spent')),
    maybe_spent: inCredits(totalOf(tally, 'maybeSpent')),
    limit: job.settings.maxCredits ?? null,
    earlier: {
      counted: spendingSummary(facts.earlier.counted),
      not_counted: spendingSummary(facts.earlier.notCounted),
      unknown: facts.earlier.unknown,
    },
    ...(facts.daily === undefined
      ? {}
      : {per_day: {limit: inCredits(facts.daily.limit), used: inCredits(facts.daily.used)}}),
    saved: {
      dedupe: saved(name => lookupSummary(facts, name).deduplicated),
      cache: saved(name => tally.operations[name].fromCache),
      prefilter: saved(name => counters.lookups[name].invalid + unwanted(counters, name)),
      by_condition: saved(name => counters.skipped[name].condition ?? 0),
    },
    by_operation: Object.fromEntries(names.map(name => [name, spendingSummary(tally.operations[name])])),
  };
}

function spendingSummary({spent, maybeSpent}: Spending) {
  return {spent: inCredits(spent), maybe_spent: inCredits(maybeSpent)};
}

/** What it costs that the answer store could not be used, for a while or to the end. */
function storeSummary({tally, store, costOf}: SummaryFacts) {
  const notLookedUp = (name: Operation) => tally.operations[name].notLookedUp;
  return {
    trouble: store?.cause ?? null,
    /** Values that were asked for without knowing whether the store has them, and the credits of that. */
    not_looked_up: totalOf(tally, 'notLookedUp'),
    perhaps_paid_again: inCredits(
      operationNames.reduce((sum, name) => sum + notLookedUp(name) * costOf(name), 0),
    ),
    /** Answers of this run that the next one does not know. */
    not_stored: store?.missed ?? 0,
  };
}

/** Cells that were not worth asking about; those that the budget left out would have been. */
function unwanted({lookups, skipped}: Counters, name: Operation): number {
  return lookups[name].skipped - (skipped[name].budget ?? 0);
}

/** Quotients without their floating-point tails. */
function round(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

function withoutUserinfo(url: string): string {
  const parsed = new URL(url);
  parsed.username = '';
  parsed.password = '';
  return parsed.href.replace(/\/$/, '');
}
