import type {Attempt} from '../client/attempt.ts';
import {type Operation, perOperation} from '../operations/table.ts';
import type {BookedAttempt} from './entry.ts';
import {INTERRUPTED} from './value-history.ts';

/** Distinct values of an operation that the service refused in a row, without an answer in between. */
export interface Refusals {
  count: number;
  /** Code of the last refusal; empty before the first. */
  code: string;
  /** True if the refusals had several codes. */
  isMixed: boolean;
  /** True if the status (403) or code of all these refusals says that the caller's credentials are wrong. */
  credentials: boolean;
}

export function noRefusals(): Refusals {
  return {count: 0, code: '', isMixed: false, credentials: true};
}

export interface RefusalTally {
  /** Values refused since the operation's last answer. */
  readonly refused: Refusals;
  /** Length of the longest streak of refusals that may be the account's fault; 0 without one. */
  longestStreak: number;
}

/** Counts of one operation, over all sessions of the run. */
export interface OperationTally extends RefusalTally {
  /**
   * Distinct values answered from the store, or from before the run's restart. `knownRejections`: those of
   * them with a rejection as answer.
   */
  distinct: number;
  /**
   * Distinct values with an answer from the store or before a restart. `knownRejections`: those whose answer
   * is a rejection.
   */
  fromStore: number;
  knownRejections: number;
  /** Distinct values that were not searched in the store, since it could not be read. */
  notLookedUp: number;
  answered: number;
  /** Calls that were certainly sent. The other attempts are in `unsent` and `unconfirmed` of {@link Tally}. */
  calls: number;
  /** Calls after the first call of a value. */
  retries: number;
  /** Thousandths of a credit that calls certainly cost. `maybeSpent`: cost of calls that may have been charged. */
  spent: number;
  maybeSpent: number;
}

/** Credits that the run took of one limit, also for calls in flight; in thousandths of a credit. */
export interface Draw {
  taken: number;
  /** The part of `taken` that renewed known answers. */
  renewed: number;
}

/** The run's books: the counts of calls and credits. The ledger writes a call and its counts in one transaction. */
export interface Tally {
  /** Number of answers bought. Answers are numbered from 1, so it is also the number of the last answer. */
  bought: number;
  readonly operations: Record<Operation, OperationTally>;
  /** Attempts by HTTP status. `byError`: attempts without a status, by code. Each attempt is in one of the two. */
  readonly byStatus: Record<string, number>;
  readonly byError: Record<string, number>;
  /** Attempts that provably never reached the service. */
  unsent: number;
  /** Attempts that may or may not have been sent: their session or worker ended before it reported them. */
  unconfirmed: number;
  /** Number of calls by bucket of latency: see {@link latencyBucket}. */
  readonly latency: Record<string, number>;
  latencyMaxMs: number;
  readonly unknownFields: Record<string, number>;
  readonly wrongTypes: Record<string, number>;
  /** Time of the last booking, in milliseconds since the epoch. */
  bookedAt: number;
  /** Credits taken of each limit, by its name, since the run began or was last restarted. */
  readonly draws: Record<string, Draw>;
}

export function emptyTally(): Tally {
  const zero = (): OperationTally => ({
    refused: noRefusals(),
    longestStreak: 0,
    distinct: 0,
    fromStore: 0,
    knownRejections: 0,
    notLookedUp: 0,
    answered: 0,
    calls: 0,
    retries: 0,
    spent: 0,
    maybeSpent: 0,
  });
  return {
    bought: 0,
    operations: perOperation(zero),
    byStatus: {},
    byError: {},
    unsent: 0,
    unconfirmed: 0,
    latency: {},
    latencyMaxMs: 0,
    unknownFields: {},
    wrongTypes: {},
    bookedAt: 0,
    draws: {},
  };
}

export interface Spending {
  readonly spent: number;
  readonly maybeSpent: number;
  readonly calls: number;
}

export function spendingOf({operations}: Tally): Spending {
  return sumOf(Object.values(operations));
}

export function sumOf(all: readonly Spending[]): Spending {
  const sum = {spent: 0, maybeSpent: 0, calls: 0};
  for (const {spent, maybeSpent, calls} of all) {
    sum.spent += spent;
    sum.maybeSpent += maybeSpent;
    sum.calls += calls;
  }
  return sum;
}

export type SpendingBy = Readonly<Record<Operation, Spending>>;

/** Calls and credits booked since `before`, by operation. Negative if a booking was undone. */
export function spentSince({operations}: Tally, before: SpendingBy | undefined): SpendingBy {
  return perOperation(name => less(operations[name], before?.[name]));
}

function less(now: Spending, before: Spending = {spent: 0, maybeSpent: 0, calls: 0}): Spending {
  return {
    spent: now.spent - before.spent,
    maybeSpent: now.maybeSpent - before.maybeSpent,
    calls: now.calls - before.calls,
  };
}

/** Returns the books with which a restart begins: all calls so far and their cost, but no counts of values. */
export function beginningWith(tally: Tally): Tally {
  return {
    ...tally,
    draws: {},
    bought: 0,
    operations: perOperation(name => ({
      ...tally.operations[name],
      // Drops the streak of refusals: the restarted run looks the refused values up again.
      refused: noRefusals(),
      longestStreak: 0,
      distinct: 0,
      fromStore: 0,
      knownRejections: 0,
    })),
  };
}

/**
 * Returns empty books that keep only each operation's number of answers. So the run still knows which
 * operations the service has answered.
 */
export function withAnswersAlone({operations}: Tally): Tally {
  const empty = emptyTally();
  return {
    ...empty,
    operations: perOperation(name => ({...empty.operations[name], answered: operations[name].answered})),
  };
}

export function totalOf({operations}: Tally, what: Exclude<keyof OperationTally, 'refused'>): number {
  return Object.values(operations).reduce((sum, books) => sum + books[what], 0);
}

/** Returns the saved counts. Takes a count from `empty` if an older version of the program did not save it. */
export function overEmpty<T extends object>(empty: T, saved: T): T {
  const merged = {...empty, ...saved};
  for (const [name, inner] of Object.entries(empty) as [keyof T, unknown][]) {
    const known = saved[name];
    if (isCounts(inner) && isCounts(known)) merged[name] = overEmpty(inner, known) as T[keyof T];
  }
  return merged;
}

function isCounts(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Each latency bucket ends 5% above the one before it, so percentiles are exact to 5%. */
const GROWTH = Math.log(1.05);
/** Maximum number of different names that are counted, since the service may send any field names. */
const MOST_NAMES = 200;

function latencyBucket(ms: number): number {
  return Math.max(0, Math.ceil(Math.log(Math.max(ms, 1)) / GROWTH));
}

/**
 * Percentile `p` (0 to 1) of the latencies, in milliseconds; null without calls. It is rounded up to the end
 * of a latency bucket.
 */
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

export function countUp(counts: Record<string, number>, name: string, by = 1): void {
  // Reads own members only: names may come from the service, and every object inherits `constructor`.
  const before = Object.hasOwn(counts, name) ? counts[name] : undefined;
  if (before !== undefined || Object.keys(counts).length < MOST_NAMES) counts[name] = (before ?? 0) + by;
  if (counts[name] === 0) delete counts[name];
}

/** Books one attempt. Returns its answer's number among bought answers, from 1; null without an answer. */
export function bookAttempt(
  tally: Tally,
  {operation, attempt, charge, cost, retry, outcome}: BookedAttempt,
): number | null {
  const books = tally.operations[operation];
  tally.bookedAt = attempt.boughtAt;
  if (countAttempt(tally, attempt)) {
    books.calls += 1;
    if (retry) books.retries += 1;
  }
  if (attempt.kind === 'answered') books.answered += 1;
  if (charge === 'spent') books.spent += cost;
  if (charge === 'maybe') books.maybeSpent += cost;
  // A rejection gets its number later, once it is known that the value is to blame, and not the account.
  const isNumbered = outcome?.boughtAt !== undefined && outcome.status !== 'failed';
  return isNumbered ? ++tally.bought : null;
}

/** True if this run or an earlier one has an answer of this operation. */
export function isAnswered(tally: Tally, operation: Operation): boolean {
  const {answered, fromStore, knownRejections} = tally.operations[operation];
  return answered + fromStore > knownRejections;
}

/** Books calls that were in flight when their session ended, as maybe charged. Negative numbers undo a booking. */
export function bookLost(tally: Tally, operation: Operation, count: number, cost: number): void {
  tally.operations[operation].maybeSpent += cost;
  tally.unconfirmed += count;
  countUp(tally.byError, INTERRUPTED, count);
}

/** Counts an attempt. Returns true if the attempt was certainly sent: then it counts as a call. */
export function countAttempt(tally: Tally, attempt: Attempt): boolean {
  const status = 'status' in attempt ? attempt.status : undefined;
  if (status === undefined) countUp(tally.byError, attempt.kind === 'answered' ? 'ok' : attempt.code);
  else countUp(tally.byStatus, String(status));
  // `fatal` without a status: the connection was not made, as with a bad certificate or a proxy's wrong password.
  const isUnsent = attempt.kind === 'not_sent' || (attempt.kind === 'fatal' && status === undefined);
  if (isUnsent) {
    tally.unsent += 1;
    return false;
  }
  if (attempt.kind === 'ambiguous' && attempt.lost === true) {
    tally.unconfirmed += 1;
    return false;
  }
  countUp(tally.latency, String(latencyBucket(attempt.latencyMs)));
  tally.latencyMaxMs = Math.max(tally.latencyMaxMs, attempt.latencyMs);
  if (attempt.kind !== 'answered') return true;
  for (const field of attempt.unknownFields) countUp(tally.unknownFields, field);
  for (const field of attempt.wrongTypes) countUp(tally.wrongTypes, field);
  return true;
}
