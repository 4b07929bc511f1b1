import {priceOf} from '../../columns/prices.ts';
import type {FileDigest} from '../../disk/digest.ts';
import type {Job} from '../../job/job.ts';
import {inCredits} from '../../job/money.ts';
import type {StoreTrouble} from '../../ledger/answers/store.ts';
import {unaskedCodes} from '../../ledger/lookup.ts';
import {type Spending, type SpendingBy, totalSpending} from '../../ledger/run/books.ts';
import type {PeriodUse} from '../../ledger/run/budget.ts';
import {latencyPercentile, type Tally, totalOf} from '../../ledger/run/tally.ts';
import type {PaceReport} from '../../lookup/gate-options.ts';
import {type Operation, operationNames} from '../../operations/table.ts';
import {fieldsOf} from '../../output/columns.ts';
import type {OutputFormat} from '../../output/encoder.ts';
import type {Price} from '../../report/money.ts';
import {safeJson} from '../../report/safe-text.ts';
import type {Summary} from '../../report/summary.ts';
import type {RuleSet} from '../../score/rules.ts';
import {type Counters, cellsWith, listErrors} from '../counts/counters.ts';
import {riskSummary} from '../counts/risk-summary.ts';
import {usesOf} from '../counts/shared-uses.ts';
import {type TimelinePoint, timelineSummary} from '../counts/timeline.ts';
import {topSummary} from '../counts/top-counts.ts';
import type {End} from '../exit.ts';
import {settingsDigest} from '../identity.ts';

/** Digests of the published files; null for files that don't exist. */
export interface Published {
  readonly output: FileDigest | null;
  readonly rejects: FileDigest | null;
}

/** A run's books: its counts of rows, calls and credits, either now or at the end of the last session. */
export interface RunBooks {
  readonly runId: string;
  readonly startedAt: number;
  readonly resumed: Summary['resumed'];
  readonly input: FileDigest;
  readonly counters: Counters;
  /** This session's counts of attempts (calls). */
  readonly tally: Tally;
  /** Calls and credits of all sessions of the run. */
  readonly spending: SpendingBy;
  readonly sessionStartedAt: number;
  readonly timeline: readonly TimelinePoint[];
}

/** Facts that exist once a session has opened. */
export interface UnderWay {
  readonly baseUrl: string;
  readonly format: Pick<OutputFormat, 'kind' | 'delimiter'>;
  readonly blankLines: number;
  readonly paddedRows: number;
  readonly pace: PaceReport;
  readonly store: StoreTrouble | undefined;
  /** Use of the shared budgets, in thousandths of a credit. */
  readonly budgets: readonly PeriodUse[];
  /** Price of a credit, if the account's file has one. */
  readonly price: Price | undefined;
  readonly rules: RuleSet | undefined;
  readonly leftOut: Readonly<Summary['left_out']>;
  readonly columns: Summary['columns'];
  readonly shared: Summary['shared'];
  /** Operations of the columns that are looked up. The summary has others only if the books count them. */
  readonly operations: readonly Operation[];
  readonly published: Published;
}

export interface SummaryFacts {
  readonly job: Job;
  readonly end: End;
  readonly finishedAt: number;
  readonly books: RunBooks;
  /** The open session; undefined if the run could not start. */
  readonly session: UnderWay | undefined;
}

/** Builds the summary in its documented form. If a name in that form changes, `schema_version` must change too. */
export function buildSummary(given: SummaryFacts): Summary {
  // A clock that was set back must not make a run end before it began.
  const facts = {...given, finishedAt: Math.max(given.finishedAt, given.books.startedAt)};
  const {job, end, books, session} = facts;
  const {counters} = books;
  const names = mapped(books, session?.operations ?? []);
  const byOperation = <Value>(of: (name: Operation) => Value): Record<string, Value> =>
    Object.fromEntries(names.map(name => [name, of(name)]));
  return {
    schema_version: 2,
    run_id: books.runId,
    job: job.name ?? null,
    status: end.status,
    reason: end.reason,
    exit_code: end.exitCode,
    started_at: new Date(books.startedAt).toISOString(),
    finished_at: new Date(facts.finishedAt).toISOString(),
    duration_ms: facts.finishedAt - books.startedAt,
    ...(end.comeBackMs === undefined ? {} : {come_back_at: new Date(end.comeBackMs).toISOString()}),
    endpoint: {kind: job.endpoint.kind, base_url: baseUrlOf(facts)},
    ...fileSummary(facts),
    settings_sha256: settingsDigest(job),
    rows: rowSummary(facts),
    lookups: byOperation(name => lookupSummary(books, name)),
    calls: callSummary(books),
    credits: {
      ...creditSummary(facts, names),
      by_operation: byOperation(name => spendingSummary(books.spending[name])),
    },
    store: job.settings.store === false ? null : storeSummary(facts),
    pace: paceSummary(facts),
    top: topSummary(counters.top),
    timeline: timelineSummary(books.timeline),
    risk: job.settings.score === 'none' ? null : riskSummary(counters, session?.rules),
    fields: byOperation(name => fieldSummary(counters, name)),
    errors: listErrors(counters.errors),
    repairs: listErrors(counters.repairs),
    columns: session?.columns ?? [],
    shared: session?.shared ?? {},
    left_out: [...(session?.leftOut ?? [])],
    drift: [],
    failed_if: [],
    resumed: books.resumed,
  };
}

function fileSummary({job, books, session}: SummaryFacts) {
  const {output = null, rejects = null} = session?.published ?? {};
  return {
    input: {paths: [...job.inputs], ...(books.input.bytes === 0 ? {bytes: null, sha256: null} : books.input)},
    output: {
      path: job.output.name,
      ...(output ?? {bytes: null, sha256: null}),
      delimiter: session?.format.kind === 'csv' ? session.format.delimiter : null,
    },
    rejects: rejects && {path: job.paths.rejects ?? null, ...rejects},
  };
}

function rowSummary({books, session}: SummaryFacts) {
  const {written, rejected, ok, with_errors} = books.counters.rows;
  const blank_lines = session?.blankLines ?? 0;
  const padded = session?.paddedRows ?? 0;
  return {read: written + rejected, written, rejected, ok, with_errors, blank_lines, padded};
}

function callSummary({tally, spending}: RunBooks) {
  return {
    total: totalSpending(spending).calls,
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
  };
}

function paceSummary(facts: SummaryFacts) {
  const {books, session} = facts;
  const durationMs = facts.finishedAt - books.sessionStartedAt;
  const calls = totalOf(books.tally, 'calls');
  return {
    rate_limit: session?.pace.limit ?? null,
    achieved: durationMs > 0 ? round(calls / (durationMs / 1_000)) : 0,
    pauses: session?.pace.pauses ?? 0,
    paused_ms: session?.pace.pausedMs ?? 0,
  };
}

/** The text of the summary's file: indented, but with short lists on one line. */
export function summaryText(summary: Summary): string {
  const indented = safeJson(JSON.stringify(summary, null, 2));
  return `${indented.replace(/\[\n[^[\]{}]*\]/g, list => list.replace(/\n\s*/g, ' ').replace('[ ', '[').replace(/ \]$/, ']'))}\n`;
}

/** The operations that this run looked up or has in its books. The others would only show zeros. */
function mapped({counters, spending}: RunBooks, operations: readonly Operation[]): Operation[] {
  return operationNames.filter(name => {
    const counts = [spending[name], counters.lookups[name]];
    return operations.includes(name) || counts.some(some => Object.values(some).some(count => count !== 0));
  });
}

function lookupSummary({counters, tally, spending}: RunBooks, name: Operation) {
  const {ok, empty, invalid, failed, unknown, skipped} = counters.lookups[name];
  const {distinct, fromStore, retries} = tally.operations[name];
  const {calls} = spending[name];
  const stale = cellsWith(counters.stale[name]);
  return {
    values: ok + empty + invalid + failed + unknown + skipped,
    empty,
    invalid,
    distinct,
    repaired: counters.repaired[name],
    answered: ok,
    failed,
    unknown,
    skipped,
    from_store: fromStore,
    stale,
    rejected: counters.rejected[name],
    refused_in_a_row: tally.refusals[name].longestStreak,
    deduplicated: Math.max(0, ok + failed + unknown - stale - distinct),
    calls,
    retries,
  };
}

/** For each field, the share of answers that have the field. For a flag, also the share of true values. */
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

function creditSummary({job, books, session}: SummaryFacts, names: readonly Operation[]) {
  const {tally, spending, counters} = books;
  const budgets = session?.budgets ?? [];
  const costOf = priceOf(job);
  const saved = (count: (name: Operation) => number) =>
    inCredits(names.reduce((total, name) => total + count(name) * costOf(name), 0));
  return {
    ...spendingSummary(totalSpending(spending)),
    limit: job.settings.maxCredits ?? null,
    account: {
      label: job.settings.account,
      ...usesOf(budgets),
      ...(session?.price && {price: session.price}),
    },
    saved: {
      dedupe: saved(name => lookupSummary(books, name).deduplicated),
      store: saved(name => tally.operations[name].fromStore),
      prefilter: saved(name => counters.lookups[name].invalid + unwanted(counters, name)),
      by_condition: saved(name => counters.skipped[name].condition ?? 0),
    },
  };
}

function spendingSummary({spent, maybeSpent}: Spending) {
  return {spent: inCredits(spent), maybe_spent: inCredits(maybeSpent)};
}

/** The summary of a killed session, with the run's spending as the ledger has it. */
export function withSpending(summary: Summary, spending: SpendingBy): Summary {
  const total = totalSpending(spending);
  const names = operationNames.filter(name => summary.lookups[name] !== undefined);
  const lookups = names.map(name => [name, {...summary.lookups[name], calls: spending[name].calls}]);
  const byOperation = names.map(name => [name, spendingSummary(spending[name])]);
  return {
    ...summary,
    lookups: Object.fromEntries(lookups),
    calls: {...summary.calls, total: total.calls},
    credits: {
      ...summary.credits,
      ...spendingSummary(total),
      by_operation: Object.fromEntries(byOperation),
    },
  };
}

/** Costs of trouble with the answer store: credits that may have been paid again, and answers that are lost. */
function storeSummary({job, books: {tally}, session}: SummaryFacts) {
  const costOf = priceOf(job);
  const store = session?.store;
  const notLookedUp = (name: Operation) => tally.operations[name].notLookedUp;
  return {
    trouble: store?.cause ?? null,
    /** Number and cost of values bought while the store could not be read. It may have had their answers. */
    not_looked_up: totalOf(tally, 'notLookedUp'),
    perhaps_paid_again: inCredits(
      operationNames.reduce((sum, name) => sum + notLookedUp(name) * costOf(name), 0),
    ),
    /** Answers that the next run can't use, since they could not be stored. */
    not_stored: store?.missed ?? 0,
  };
}

/** Number of cells skipped by choice. Cells skipped because the service could not be called don't count. */
function unwanted({lookups, skipped}: Counters, name: Operation): number {
  return lookups[name].skipped - cellsWith(skipped[name], unaskedCodes);
}

/** Rounds to six decimals, which removes the floating-point tail of a quotient. */
function round(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

/** The base URL without credentials; null if the embedded service was not started. */
function baseUrlOf({job: {endpoint}, session}: SummaryFacts): string | null {
  const url = session?.baseUrl ?? (endpoint.kind === 'live' ? endpoint.baseUrl : undefined);
  if (url === undefined) return null;
  const parsed = new URL(url);
  parsed.username = '';
  parsed.password = '';
  return parsed.href.replace(/\/$/, '');
}
