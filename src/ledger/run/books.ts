import {type Operation, perOperation} from '../../operations/table.ts';
import {noRefusalsYet, type RefusalTally} from './tally.ts';

export interface Spending {
  /** Thousandths of a credit that calls certainly cost. `maybeSpent`: cost of calls that may have been charged. */
  readonly spent: number;
  readonly maybeSpent: number;
  /** Calls that were certainly sent. */
  readonly calls: number;
}

export type SpendingBy = Readonly<Record<Operation, Spending>>;

/** Credits that the run took of one limit, also for calls in flight; in thousandths of a credit. */
export interface Draw {
  taken: number;
  /** The part of `taken` that renewed known answers. */
  renewed: number;
}

/** The counts that outlive a session. The ledger writes a call and its counts in one transaction. */
export interface Books {
  /** Endpoints and accounts of the ledger's values, by their number. */
  readonly scopes: string[];
  /** Spending since the count began, by the number of the scope. */
  spending: SpendingBy[];
  /** Credits taken of each limit, by its name, since the count began. */
  draws: Record<string, Draw>;
  readonly refusals: Record<Operation, RefusalTally>;
  /** Number of the last lease. */
  lease: number;
  /** Place, in the order of sending, of the last call that was answered. */
  answeredUpTo: number;
  /** Number of answers bought. Answers are numbered from 1, so it is also the number of the last answer. */
  bought: number;
}

export function emptyBooks(): Books {
  return {
    scopes: [],
    spending: [],
    draws: {},
    refusals: noRefusalsYet(),
    lease: 0,
    answeredUpTo: 0,
    bought: 0,
  };
}

export function nothingSpent(): SpendingBy {
  return perOperation(() => ({spent: 0, maybeSpent: 0, calls: 0}));
}

export function totalSpending(by: SpendingBy): Spending {
  return Object.values(by).reduce(sum);
}

function sum(one: Spending, other: Spending): Spending {
  return {
    spent: one.spent + other.spent,
    maybeSpent: one.maybeSpent + other.maybeSpent,
    calls: one.calls + other.calls,
  };
}

/** Adds to an operation's spending in a scope. */
export function spend({spending}: Books, scope: number, operation: Operation, more: Partial<Spending>): void {
  const by = spending[scope] ?? nothingSpent();
  spending[scope] = {...by, [operation]: sum(by[operation], {spent: 0, maybeSpent: 0, calls: 0, ...more})};
}

/** The number of an endpoint and account in the books, which gets one if it is new. */
export function scopeIn({scopes}: Books, scope: string): number {
  const known = scopes.indexOf(scope);
  return known >= 0 ? known : scopes.push(scope) - 1;
}
