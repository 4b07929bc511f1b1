import {type Operation, perOperation} from '../../operations/table.ts';
import {type RefusalTally, zeroRefusalTallies} from './tally.ts';

/** Calls and credits since the count began. */
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

/** The counts of one endpoint and account, over all sessions since the count began. */
export interface RunCounts {
  readonly spending: Record<Operation, Spending>;
  /** The part of the credits, spent or maybe spent, that renewed known answers. */
  renewed: number;
  readonly refusals: Record<Operation, RefusalTally>;
}

export function zeroRunCounts(): RunCounts {
  return {spending: zeroSpending(), renewed: 0, refusals: zeroRefusalTallies()};
}
