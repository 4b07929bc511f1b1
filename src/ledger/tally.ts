import type {Attempt} from '../client/attempt.ts';
import {type Operation, perOperation} from '../operations/table.ts';
import type {BookedAttempt} from './entry.ts';
import {INTERRUPTED} from './ledger-file.ts';

/** Distinct values that were refused one after the other, with nothing answered in between. */
export interface Refusals {
  count: number;
  /** The code of the last one; empty if there is none. */
  code: string;
  /** True if there were other codes. */
  isMixed: boolean;
  /** True if all of them speak of the caller. */
  credentials: boolean;
}

export function noRefusals(): Refusals {
  return {count: 0, code: '', isMixed: false, credentials: true};
}

/** An operation's refusals, over all sessions of the run. */
export interface RefusalTally {
  /** Since the operation's last answer. */
  readonly refused: Refusals;
  /** Values of the longest streak of refusals, which may be the account's fault; 0 if there was none. */
  longestStreak: number;
}

/** What one operation's lookups came to so far, over all sessions of the run. */
export interface OperationTally extends RefusalTally {
  /** Distinct values that were looked for, however they were answered. */
  distinct: number;
  /** Distinct values answered by the store, and those of them that it knows to be rejected. */
  fromStore: number;
  knownRejections: number;
  /** Distinct values that were asked for while the store could not be read. */
  notLookedUp: number;
  /** Calls that were answered. */
  answered: number;
  /** Calls that were sent to the service. */
  calls: number;
  /** Calls beyond a value's first. */
  retries: number;
  /** In thousandths of a credit. */
  spent: number;
  maybeSpent: number;
}

/** What calls took of one limit, those in flight included, in thousandths of a credit. */
export interface Draw {
  taken: number;
  /** What of it went to values that have an answer already. */
  renewed: number;
}

/** The run's books: written in the same transaction as what they count. */
export interface Tally {
  /** Answers that the run has bought so far; the last one has this number. */
  bought: number;
  readonly operations: Record<Operation, OperationTally>;
  /** Attempts by HTTP status, and by code where there was none; both together are all attempts. */
  readonly byStatus: Record<string, number>;
  readonly byError: Record<string, number>;
  /** Attempts that provably never reached the service. */
  unsent: number;
  /** Attempts of which nobody knows whether they were sent: a session or a fleet's worker ended before it told. */
  unconfirmed: number;
  /** Calls by latency: a histogram over {@link latencyBucket}s. */
  readonly latency: Record<string, number>;
  latencyMaxMs: number;
  readonly unknownFields: Record<string, number>;
  readonly wrongTypes: Record<string, number>;
  /** When an attempt was booked last, in milliseconds since the epoch. */
  bookedAt: number;
  /** By the limit's name, since this attempt of the run began. */
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

/** What calls have cost, and how many there were. */
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

/** What calls have cost, and how many there were, by operation. */
export type SpendingBy = Readonly<Record<Operation, Spending>>;

/** What came to the books since; what turned out free, or was not lost after all, is less than nothing. */
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

/** The books that an attempt begins with after one that was given up: all calls and their cost, and no values yet. */
export function beginningWith(tally: Tally): Tally {
  return {
    ...tally,
    draws: {},
    bought: 0,
    operations: perOperation(name => ({
      ...tally.operations[name],
      // The values of a streak are asked for again.
      refused: noRefusals(),
      longestStreak: 0,
      distinct: 0,
      fromStore: 0,
      knownRejections: 0,
    })),
  };
}

/** Books of nothing but which operations were answered. */
export function withAnswersAlone({operations}: Tally): Tally {
  const empty = emptyTally();
  return {
    ...empty,
    operations: perOperation(name => ({...empty.operations[name], answered: operations[name].answered})),
  };
}

/** One of the books, of all operations together. */
export function totalOf({operations}: Tally, what: Exclude<keyof OperationTally, 'refused'>): number {
  return Object.values(operations).reduce((sum, books) => sum + books[what], 0);
}

/** Counts that were saved, over empty ones: what was counted by another version lacks what this one counts too. */
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

/** Buckets grow by 5%, so a percentile read from them is right within 5%. */
const GROWTH = Math.log(1.05);
/** A service may send any field names: the counts of at most this many are kept. */
const MOST_NAMES = 200;

function latencyBucket(ms: number): number {
  return Math.max(0, Math.ceil(Math.log(Math.max(ms, 1)) / GROWTH));
}

/** Percentile `p` (0 to 1) of the latencies, in milliseconds, rounded up to its bucket. */
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
  // Names may come from the service, and `constructor` is in every object.
  const before = Object.hasOwn(counts, name) ? counts[name] : undefined;
  if (before !== undefined || Object.keys(counts).length < MOST_NAMES) counts[name] = (before ?? 0) + by;
  if (counts[name] === 0) delete counts[name];
}

/**
 * Books one attempt: how it ended, how long it took, and what it cost. Returns the number of its answer, null for none.
 */
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
  // A rejection has a number once it is known to be of its value.
  const isNumbered = outcome?.boughtAt !== undefined && outcome.status !== 'failed';
  return isNumbered ? ++tally.bought : null;
}

/** True if any value of this operation was answered in this run, or is known from an earlier one. */
export function isAnswered(tally: Tally, operation: Operation): boolean {
  const {answered, fromStore, knownRejections} = tally.operations[operation];
  return answered + fromStore > knownRejections;
}

/** Books calls that were under way when their session ended: they may have been charged. Negative to take that back. */
export function bookLost(tally: Tally, operation: Operation, count: number, cost: number): void {
  tally.operations[operation].maybeSpent += cost;
  tally.unconfirmed += count;
  countUp(tally.byError, INTERRUPTED, count);
}

/** Returns whether it was a call: something that was sent for sure. */
export function countAttempt(tally: Tally, attempt: Attempt): boolean {
  const status = 'status' in attempt ? attempt.status : undefined;
  if (status === undefined) countUp(tally.byError, attempt.kind === 'answered' ? 'ok' : attempt.code);
  else countUp(tally.byStatus, String(status));
  // A connection that could not be made: its certificate, or its proxy's password.
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
