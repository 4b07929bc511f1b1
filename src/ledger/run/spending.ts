import {type Operation, perOperation} from '../../operations/table.ts';

/** Calls and credits since the count began. */
export interface Spending {
  /** Thousandths of a credit that calls certainly cost. `maybeSpent`: cost of calls that may have been charged. */
  spent: number;
  maybeSpent: number;
  /** Calls that were certainly sent. */
  calls: number;
}

export type SpendingBy = Readonly<Record<Operation, Readonly<Spending>>>;

const NOTHING: Spending = {spent: 0, maybeSpent: 0, calls: 0};

export function zeroSpending(): Record<Operation, Spending> {
  return perOperation(() => ({...NOTHING}));
}

export function totalSpending(by: SpendingBy): Spending {
  const total = {...NOTHING};
  for (const one of Object.values(by)) addSpending(one, total);
  return total;
}

/** Adds `more` to each of these. */
export function addSpending(more: Partial<Spending>, ...all: readonly Spending[]): void {
  const {spent = 0, maybeSpent = 0, calls = 0} = more;
  for (const one of all) {
    one.spent += spent;
    one.maybeSpent += maybeSpent;
    one.calls += calls;
  }
}
