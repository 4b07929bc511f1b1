import {inCredits} from '../../job/money.ts';
import {type Spending, type SpendingBy, totalSpending} from '../../ledger/run/books.ts';
import {type Operation, operationNames} from '../../operations/table.ts';
import type {Summary} from '../../report/summary.ts';

export function byOperation<Value>(
  names: readonly Operation[],
  of: (name: Operation) => Value,
): Record<string, Value> {
  return Object.fromEntries(names.map(name => [name, of(name)]));
}

export function spendingSummary({spent, maybeSpent}: Spending) {
  return {spent: inCredits(spent), maybe_spent: inCredits(maybeSpent)};
}

/** The summary of a killed session, with the run's spending as the ledger has it. */
export function withSpending(summary: Summary, spending: SpendingBy): Summary {
  const total = totalSpending(spending);
  const names = operationNames.filter(name => summary.lookups[name] !== undefined);
  const calls = (name: Operation) => ({...summary.lookups[name], calls: spending[name].calls});
  return {
    ...summary,
    lookups: byOperation(names, calls) as Summary['lookups'],
    calls: {...summary.calls, total: total.calls},
    credits: {
      ...summary.credits,
      ...spendingSummary(total),
      by_operation: byOperation(names, name => spendingSummary(spending[name])),
    },
  };
}
