import type {Attempt} from '../../client/attempt.ts';
import {type Operation, perOperation} from '../../operations/table.ts';
import {isStorable, type Outcome} from '../lookup-outcome.ts';
import {BitSet} from './distinct-keys.ts';
import {
  type BookedAttempt,
  INTERRUPTED_CODE,
  type LedgerEntry,
  markInterrupted,
  type Reservation,
} from './ledger-entry.ts';

/** Distinct values of an operation that the service refused in a row, without an answer in between. */
export interface RefusalStreak {
  count: number;
  /** Code of the last refusal; empty before the first. */
  code: string;
  /** Reason why the last answer could not be used; undefined for a rejection. */
  detail?: string | undefined;
  isMixed: boolean;
  /** True if the status (403) or code of all these refusals says that the caller's credentials are wrong. */
  credentials: boolean;
  /** True if the codes of all these refusals say that the account's quota or credits are used up. */
  quota: boolean;
  /** True if the codes of all these refusals name a trouble of the service that passes. */
  moment: boolean;
}

export function zeroRefusalStreak(): RefusalStreak {
  return {
    count: 0,
    code: '',
    detail: undefined,
    isMixed: false,
    credentials: true,
    quota: true,
    moment: true,
  };
}

export interface StreakTally {
  readonly refused: RefusalStreak;
  /** Length of the longest streak of refusals that may be the account's fault; 0 without one. */
  longestStreak: number;
}

function zeroStreakTallies(): Record<Operation, StreakTally> {
  return perOperation(() => ({refused: zeroRefusalStreak(), longestStreak: 0}));
}

export interface OperationTally {
  /** Distinct values that the session sent, or whose outcome it used. */
  distinct: number;
  /** Distinct values with an answer from the store. `knownRejections`: those whose answer is a rejection. */
  fromStore: number;
  knownRejections: number;
  /** Distinct values that were not searched in the store, since it could not be read. */
  notLookedUp: number;
  answered: number;
  /** Calls that were certainly sent. The other attempts are in `unsent` and `unconfirmed` of {@link Tally}. */
  calls: number;
  /** Calls after the first call of a value. */
  retries: number;
}

export interface AttemptCounts {
  /** Attempts by HTTP status. `byError`: attempts without a status, by code. Each attempt is in one of the two. */
  byStatus: Record<string, number>;
  byError: Record<string, number>;
  /** Attempts that provably never reached the service. */
  unsent: number;
  /** Attempts that may or may not have been sent: their session or worker ended before it reported them. */
  unconfirmed: number;
}

/** A session's counts. It begins with zeros: {@link RunCounts} outlive it. */
export interface Tally extends Pick<RunCounts, 'refusals' | 'attempts'> {
  readonly operations: Record<Operation, OperationTally>;
  /** Number of calls by bucket of latency: see {@link latencyBucket}. */
  readonly latency: Record<string, number>;
  latencyMaxMs: number;
  readonly unknownFields: Record<string, number>;
  readonly wrongTypes: Record<string, number>;
}

export function emptyTally({refusals, attempts} = zeroRunCounts()): Tally {
  const calls = {answered: 0, calls: 0, retries: 0};
  const values = {distinct: 0, fromStore: 0, knownRejections: 0, notLookedUp: 0};
  return {
    operations: perOperation(() => ({...calls, ...values})),
    refusals,
    attempts,
    latency: {},
    latencyMaxMs: 0,
    unknownFields: {},
    wrongTypes: {},
  };
}

export function totalOverOperations({operations}: Tally, what: keyof OperationTally): number {
  return Object.values(operations).reduce((sum, counts) => sum + counts[what], 0);
}

/** Each latency bucket ends 5% above the one before it, so percentiles are exact to 5%. */
const GROWTH = Math.log(1.05);
/** Maximum number of different names that are counted, since the service may send any field names. */
const MOST_NAMES = 200;

function latencyBucket(ms: number): number {
  return Math.max(0, Math.ceil(Math.log(Math.max(ms, 1)) / GROWTH));
}

/** Percentile `p` (0 to 1) of the latencies, in milliseconds, rounded up to the end of a bucket; null without calls. */
export function latencyPercentile(tally: Tally, p: number): number | null {
  const buckets = Object.entries(tally.latency).map(([bucket, count]) => [Number(bucket), count] as const);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return null;
  let seen = 0;
  for (const [bucket, count] of buckets.sort((a, b) => a[0] - b[0])) {
    seen += count;
    if (seen >= p * total)
      return Math.min(Math.round(Math.exp(bucket * GROWTH)), Math.ceil(tally.latencyMaxMs));
  }
  return null;
}

/** Counts a name. Every object inherits names such as `constructor`, so only own members are read. */
export function countName(counts: Record<string, number>, name: string, by = 1): void {
  counts[name] = (Object.hasOwn(counts, name) ? (counts[name] ?? 0) : 0) + by;
}

/** Counts a name of the service, unless it is new and there are {@link MOST_NAMES}. Without a count, a name goes. */
export function countServiceName(counts: Record<string, number>, name: string, by = 1): void {
  if (Object.hasOwn(counts, name) || Object.keys(counts).length < MOST_NAMES) countName(counts, name, by);
  if (counts[name] === 0) delete counts[name];
}

/** Counts a booked attempt, also under its operation, and what it cost in `spending`. */
export function countBooked(tally: Tally, spending: Spending, booked: BookedAttempt): void {
  const {operation, attempt, charge, cost, retry} = booked;
  const counts = tally.operations[operation];
  if (charge === 'spent') spending.spent += cost;
  if (charge === 'maybe') spending.maybeSpent += cost;
  if (attempt.kind === 'answered') counts.answered += 1;
  if (!countAttempt(tally, attempt)) return;
  spending.calls += 1;
  counts.calls += 1;
  if (retry) counts.retries += 1;
}

/** True if this run or an earlier one has an answer of this operation. */
export function hasOperationAnswer(tally: Tally, operation: Operation): boolean {
  const {answered, fromStore, knownRejections} = tally.operations[operation];
  return answered + fromStore > knownRejections;
}

/** Counts an attempt by status and latency. Returns true if it was certainly sent: then it counts as a call. */
export function countAttempt(tally: Tally, attempt: Attempt): boolean {
  const {attempts} = tally;
  const status = 'status' in attempt ? attempt.status : undefined;
  if (status === undefined)
    countServiceName(attempts.byError, attempt.kind === 'answered' ? 'ok' : attempt.code);
  else countServiceName(attempts.byStatus, String(status));
  // `fatal` without a status: the connection was not made, as with a bad certificate or a proxy's wrong password.
  const isUnsent = attempt.kind === 'not_sent' || (attempt.kind === 'fatal' && status === undefined);
  if (isUnsent) {
    attempts.unsent += 1;
    return false;
  }
  if (attempt.kind === 'ambiguous' && attempt.lost === true) {
    attempts.unconfirmed += 1;
    return false;
  }
  countServiceName(tally.latency, String(latencyBucket(attempt.latencyMs)));
  tally.latencyMaxMs = Math.max(tally.latencyMaxMs, attempt.latencyMs);
  if (attempt.kind !== 'answered') return true;
  for (const field of attempt.unknownFields) countServiceName(tally.unknownFields, field);
  for (const field of attempt.wrongTypes) countServiceName(tally.wrongTypes, field);
  return true;
}

/**
 * Counts the values that a session uses, each once. Knows them by the numbers of their rows in the ledger: a row with a
 * number above `last`, the last one when the session began, is the session's own. Takes a bit for each earlier row.
 */
export class DistinctValueCounter {
  readonly #tally: Tally;
  readonly #last: number;
  readonly #earlier = new BitSet();

  constructor(tally: Tally, last: number) {
    this.#tally = tally;
    this.#last = last;
  }

  has({id}: LedgerEntry): boolean {
    return id > this.#last || this.#earlier.has(id);
  }

  /** Counts a value, unless it is counted already. Returns true if it was not. */
  add(entry: LedgerEntry): boolean {
    if (entry.isUsed) return false;
    entry.isUsed = true;
    const {id, operation} = entry;
    if (id > 0 && id <= this.#last) this.#earlier.add(id);
    this.#tally.operations[operation].distinct += 1;
    return true;
  }

  /** Counts a value whose rows get the outcome in the ledger. */
  addKnown(entry: LedgerEntry): void {
    const {outcome, answerNumber, sendOrder, operation} = entry;
    if (!this.add(entry) || outcome === undefined) return;
    if (sendOrder === 0 || (answerNumber === null && outcome.status === 'ok'))
      this.countStored(operation, outcome);
    else if (outcome.status === 'ok') this.#tally.operations[operation].answered += 1;
  }

  /** Counts an answer from the store; no other outcome. */
  countStored(operation: LedgerEntry['operation'], outcome: Outcome): void {
    if (!isStorable(outcome)) return;
    const counts = this.#tally.operations[operation];
    counts.fromStore += 1;
    if (outcome.status === 'failed') counts.knownRejections += 1;
  }
}

export interface Spending {
  /** Thousandths of a credit that calls certainly cost. `maybeSpent`: cost of calls that may have been charged. */
  spent: number;
  maybeSpent: number;
  /** Calls that were certainly sent. */
  calls: number;
}

export type SpendingByOperation = Readonly<Record<Operation, Readonly<Spending>>>;

export function zeroSpending(): Record<Operation, Spending> {
  return perOperation(() => ({spent: 0, maybeSpent: 0, calls: 0}));
}

export function totalSpending(by: SpendingByOperation): Spending {
  const total = {spent: 0, maybeSpent: 0, calls: 0};
  for (const {spent, maybeSpent, calls} of Object.values(by)) {
    total.spent += spent;
    total.maybeSpent += maybeSpent;
    total.calls += calls;
  }
  return total;
}

/** The counts of a run, over all its sessions. */
export interface RunCounts {
  readonly spending: Record<Operation, Spending>;
  /** The part of the credits, spent or maybe spent, that renewed known answers. */
  renewed: number;
  /** The part of the credits that bought answers which have expired since: it counts against no limit of the run. */
  expired: number;
  readonly refusals: Record<Operation, StreakTally>;
  readonly attempts: AttemptCounts;
}

export function zeroRunCounts(): RunCounts {
  const attempts = {byStatus: {}, byError: {}, unsent: 0, unconfirmed: 0};
  return {spending: zeroSpending(), renewed: 0, expired: 0, refusals: zeroStreakTallies(), attempts};
}

export function resetRunCounts(counts: RunCounts): void {
  const {spending, refusals, attempts, ...sums} = zeroRunCounts();
  Object.assign(counts.spending, spending);
  Object.assign(counts.refusals, refusals);
  Object.assign(counts.attempts, attempts);
  Object.assign(counts, sums);
}

/** Books a call whose session ended before the outcome was known: it counts as maybe charged. */
export function bookInterrupted(call: Reservation, counts: RunCounts): void {
  counts.spending[call.operation].maybeSpent += call.cost;
  if (call.renews === true) counts.renewed += call.cost;
  countInterruptedCalls(counts.attempts, 1);
  markInterrupted(call);
}

/** Takes back what {@link bookInterrupted} counted. A count that began since then lacks the call. */
export function unbookInterrupted({operation, cost}: BookedAttempt, {spending, attempts}: RunCounts): void {
  spending[operation].maybeSpent = Math.max(0, spending[operation].maybeSpent - cost);
  countInterruptedCalls(attempts, Math.max(-1, -attempts.unconfirmed));
}

function countInterruptedCalls(attempts: AttemptCounts, change: number): void {
  attempts.unconfirmed += change;
  countServiceName(attempts.byError, INTERRUPTED_CODE, change);
}
