import {randomUUID} from 'node:crypto';
import {noInput} from '../../input/row.ts';
import type {Job} from '../../job/job.ts';
import {createOperationPricer, toCredits} from '../../job/settings/cost.ts';
import {unaskedCodes} from '../../ledger/lookup-outcome.ts';
import {
  type AttemptCounts,
  emptyTally,
  latencyPercentile,
  type SpendingByOperation,
  type Tally,
  totalOverOperations,
  totalSpending,
  zeroSpending,
} from '../../ledger/run/tally.ts';
import {recordOf} from '../../operations/operation.ts';
import {type Operation, operationNames} from '../../operations/table.ts';
import {fieldsOfOperation} from '../../output/result-columns.ts';
import {roundQuotient} from '../../report/run-record.ts';
import type {Summary} from '../../report/summary.ts';
import {type Counters, emptyCounters, listErrors, sumCells, topSummary} from '../counts/counters.ts';
import {NewAnswers} from '../counts/new-answers.ts';
import {riskSummary} from '../counts/risk-counts.ts';
import {Timeline} from '../counts/timeline.ts';
import type {End} from '../exit.ts';
import {operationsOfTargets} from '../layout/layout.ts';
import type {PublishedDigests} from '../rows/row-writer.ts';
import {settingsDigest} from '../scope.ts';
import type {Session} from '../session.ts';
import {type RunDirectory, withLedger} from '../state/run-directory.ts';
import {readRunIdentity} from '../state/run-identity.ts';
import {attemptSummary, spendingInCredits} from './history.ts';

interface SummaryFacts {
  readonly job: Job;
  readonly end: End;
  readonly runId: string;
  readonly startedAt: number;
  /** Number of the run's sessions before this one. */
  readonly times: number;
  readonly now: number;
  /** Calls and credits of all sessions of the run, and their attempts. */
  readonly spending: SpendingByOperation;
  readonly attempts: AttemptCounts;
  /** The open session; undefined if the run could not start. */
  readonly session?: Session;
  readonly published?: PublishedDigests | undefined;
}

/** The summary of a session, with the digests of its published files if there are any. */
export function summarizeSession(session: Session, end: End, published?: PublishedDigests): Summary {
  const {job, io, asking} = session;
  const {runId, startedAt, sessions} = session.identity;
  // A clock that was set back must not make this session end before it began.
  const now = Math.max(io.now(), Math.round(session.clock()));
  const {spending, tally} = asking.ledger;
  const run = {job, end, runId, startedAt, times: sessions - 1, now, spending, attempts: tally.attempts};
  return buildSummary({...run, session, published});
}

/** The summary of a run that could not start: what its earlier sessions spent, and why this one did nothing. */
export async function summarizeFailedStart(
  job: Job,
  now: number,
  state: RunDirectory | undefined,
  end: End,
): Promise<Summary> {
  const read =
    state &&
    withLedger(state, job, ledger => ({
      run: readRunIdentity(ledger),
      spending: ledger.spending,
      attempts: ledger.tally.attempts,
    }));
  // Without a session, or if its ledger is unreadable, nothing is known.
  const known = await read?.catch(() => undefined);
  const {attempts, spending} = known ?? {attempts: emptyTally().attempts, spending: zeroSpending()};
  const {runId = randomUUID(), startedAt = now, sessions = 0} = known?.run ?? {};
  return buildSummary({job, end, runId, startedAt, times: sessions, now, spending, attempts});
}

/** Builds the summary in its documented form. If a name in that form changes, `schema_version` must change too. */
function buildSummary(facts: SummaryFacts): Summary {
  const {job, end, runId, startedAt, times, spending, attempts, session} = facts;
  // A clock that was set back must not make a run end before it began.
  const finishedAt = Math.max(facts.now, startedAt);
  const {counters = emptyCounters()} = session?.output.writer ?? {};
  const {tally = emptyTally()} = session?.asking.ledger ?? {};
  const {newAnswers = new NewAnswers()} = session?.asking ?? {};
  const names = namesOf(facts, counters);
  const lookups = recordOf(names, name => lookupSummary(counters, tally, spending, name));
  const priceOf = createPricer(job);
  const {timeline = new Timeline(0, {tally, rows: 0, inFlightMs: 0})} = session?.output ?? {};
  const {mapping, rules, facts: list} = session?.input.layout ?? {};
  return {
    schema_version: 2,
    run_id: runId,
    job: job.name ?? null,
    ...(job.date !== undefined && {date: job.date}),
    status: end.status,
    reason: end.reason,
    exit_code: end.exitCode,
    started_at: new Date(startedAt).toISOString(),
    finished_at: new Date(finishedAt).toISOString(),
    duration_ms: finishedAt - startedAt,
    ...(end.comeBackMs !== undefined && {come_back_at: new Date(end.comeBackMs).toISOString()}),
    endpoint: {kind: job.endpoint.kind, base_url: baseUrlOf(facts)},
    ...filesOf(facts),
    settings_sha256: settingsDigest(job),
    rows: rowSummary(session, counters.rows),
    lookups,
    calls: callSummary(tally, attempts, spending, newAnswers),
    credits: {
      ...spendingInCredits(totalSpending(spending)),
      limit: job.settings.maxCredits ?? null,
      account: accountSummary(facts),
      saved: savedSummary(counters, tally, lookups, priceOf),
      by_operation: recordOf(names, name => spendingInCredits(spending[name])),
    },
    store: job.settings.store === false ? null : storeSummary(session, tally, priceOf),
    pace: paceSummary(session, finishedAt),
    top: topSummary(counters.top),
    timeline: timeline.summary,
    risk: job.settings.score === 'none' ? null : riskSummary(counters.risk, counters.rows.written, rules),
    fields: recordOf(names, name =>
      fieldSummary(name, {fields: counters.fields[name], answers: counters.lookups[name].ok}),
    ),
    new_answers: recordOf(names, name => newAnswers.of(name).answers),
    new_fields: recordOf(names, name => fieldSummary(name, newAnswers.of(name))),
    errors: listErrors(counters.errors),
    repairs: listErrors(counters.repairs),
    columns: columnsOf(session),
    shared: list?.shared ?? {},
    left_out: [...(mapping?.leftOut ?? [])],
    drift: [],
    failed_if: [],
    ...(job.unfinished && {unfinished_days: job.unfinished.map(({date}) => date)}),
    resumed: {times},
  };
}

function namesOf({session, spending}: SummaryFacts, counters: Counters): Operation[] {
  const mapped = operationsOfTargets(session?.input.layout.mapping.targets ?? []);
  const isCounted = (name: Operation) =>
    Object.values({...spending[name], ...counters.lookups[name]}).some(count => count !== 0);
  return operationNames.filter(name => mapped.includes(name) || isCounted(name));
}

/** Returns a function for the price, in credits, of a number of lookups by operation. */
function createPricer(job: Job) {
  const price = createOperationPricer(job);
  return (count: (name: Operation) => number) =>
    toCredits(operationNames.reduce((sum, name) => sum + count(name) * price(name), 0));
}

function filesOf({job, session, published}: SummaryFacts) {
  const {bytes = 0, sha256 = null} = session?.input.source.position ?? {};
  const {format} = session?.input.layout ?? {};
  const nothing = {bytes: null, sha256: null};
  const rejects = published?.rejects ?? null;
  return {
    input: {paths: [...job.inputs], ...(bytes === 0 ? nothing : {bytes, sha256})},
    output: {
      path: job.output.name,
      ...(published?.output ?? nothing),
      delimiter: format?.kind === 'csv' ? format.delimiter : null,
    },
    rejects: rejects && {path: job.paths.rejects ?? null, ...rejects},
  };
}

function rowSummary(session: Session | undefined, rows: Counters['rows']) {
  const {blankLines, linesBesideHeader, paddedRows} = session?.input.source ?? noInput();
  return {
    read: rows.written + rows.rejected,
    ...rows,
    blank_lines: blankLines,
    lines_beside_header: linesBesideHeader,
    padded: paddedRows,
  };
}

function lookupSummary(counters: Counters, tally: Tally, spending: SpendingByOperation, name: Operation) {
  const {ok, ...cells} = counters.lookups[name];
  const {distinct, fromStore, retries} = tally.operations[name];
  const stale = sumCells(counters.stale[name]);
  return {
    values: sumCells(counters.lookups[name]),
    answered: ok,
    ...cells,
    stale,
    rejected: counters.rejected[name],
    refused_in_a_row: tally.refusals[name].longestStreak,
    repaired: counters.repaired[name],
    distinct,
    from_store: fromStore,
    deduplicated: Math.max(0, ok + cells.failed + cells.unknown - stale - distinct),
    calls: spending[name].calls,
    retries,
  };
}

function callSummary(
  tally: Tally,
  attempts: AttemptCounts,
  spending: SpendingByOperation,
  {otherForms, oddities}: NewAnswers,
) {
  return {
    total: totalSpending(spending).calls,
    ...attemptSummary(attempts),
    retries: totalOverOperations(tally, 'retries'),
    latency_ms: {
      p50: latencyPercentile(tally, 0.5),
      p95: latencyPercentile(tally, 0.95),
      p99: latencyPercentile(tally, 0.99),
      max: tally.latencyMaxMs === 0 ? null : Math.ceil(tally.latencyMaxMs),
    },
    unknown_fields: tally.unknownFields,
    wrong_types: tally.wrongTypes,
    other_forms: otherForms,
    oddities,
  };
}

function accountSummary({job, session}: SummaryFacts): Summary['credits']['account'] {
  const {account, ledger} = session?.asking ?? {};
  const budget = ledger?.budget.account;
  const uses = (budget?.limits ?? []).map(limit => {
    const {used = 0, lacked = 0} = budget?.useOf(limit) ?? {};
    const use = {limit: toCredits(limit.maxCredits), used: toCredits(used)};
    return [`per_${limit.period}`, {...use, ...(lacked > 0 && {lacked: toCredits(lacked)})}];
  });
  const price = account?.price;
  return {label: job.settings.account, ...Object.fromEntries(uses), ...(price && {price})};
}

type Pricer = ReturnType<typeof createPricer>;

function savedSummary(
  {lookups: cells, skipped}: Counters,
  tally: Tally,
  lookups: Summary['lookups'],
  priceOf: Pricer,
) {
  // Cells skipped because the service could not be called saved nothing.
  const unwanted = (name: Operation) => cells[name].skipped - sumCells(skipped[name], unaskedCodes);
  return {
    dedupe: priceOf(name => lookups[name]?.deduplicated ?? 0),
    store: priceOf(name => tally.operations[name].fromStore),
    prefilter: priceOf(name => cells[name].invalid + unwanted(name)),
    by_condition: priceOf(name => skipped[name].condition ?? 0),
  };
}

/** Costs of trouble with the answer store: credits that may have been paid again, and answers that are lost. */
function storeSummary(session: Session | undefined, tally: Tally, priceOf: Pricer) {
  const {cause: trouble = null, missed: not_stored = 0} = session?.asking.store.trouble ?? {};
  const perhaps_paid_again = priceOf(name => tally.operations[name].notLookedUp);
  return {trouble, not_looked_up: totalOverOperations(tally, 'notLookedUp'), perhaps_paid_again, not_stored};
}

function paceSummary(session: Session | undefined, finishedAt: number) {
  if (session === undefined) return {rate_limit: null, achieved: 0, pauses: 0, paused_ms: 0};
  const {executor, ledger} = session.asking;
  const {limit = null, pauses, pausedMs} = executor.pace();
  const seconds = (finishedAt - session.begunAt) / 1_000;
  const achieved = seconds > 0 ? roundQuotient(totalOverOperations(ledger.tally, 'calls') / seconds) : 0;
  return {rate_limit: limit, achieved, pauses, paused_ms: pausedMs};
}

/** For each field, the share of answers that have the field. For a flag, also the share of true values. */
function fieldSummary(name: Operation, {fields, answers}: ReturnType<NewAnswers['of']>) {
  const share = (part: number, whole: number) => (whole === 0 ? 0 : roundQuotient(part / whole));
  const shares = fieldsOfOperation(name).map(({name: field, kind}) => {
    const {present = 0, true: yes = 0} = fields[field] ?? {};
    const ofAnswers = share(present, answers);
    return [field, {present: ofAnswers, ...(kind === 'flag' && {true: share(yes, present)})}] as const;
  });
  return Object.fromEntries(shares);
}

function columnsOf(session: Session | undefined): Summary['columns'] {
  const {mapping, rules} = session?.input.layout ?? {};
  const person = rules?.sameBy;
  const persons = person === undefined ? [] : [{operation: 'person', column: person, prefix: ''}];
  const all = [...(mapping?.targets ?? []), ...persons];
  return all.map(({operation, column, prefix}) => ({operation, column, prefix}));
}

/** The base URL without credentials; null if the embedded service was not started. */
function baseUrlOf({job: {endpoint}, session}: SummaryFacts): string | null {
  const url = session?.asking.connection.client.baseUrl ?? (endpoint.kind === 'live' && endpoint.baseUrl);
  if (url === false) return null;
  const parsed = new URL(url);
  parsed.username = '';
  parsed.password = '';
  return parsed.href.replace(/\/$/, '');
}
