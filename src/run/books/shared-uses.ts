import {inCredits} from '../../job/money.ts';
import type {Period} from '../../ledger/account/period-budget.ts';
import type {PeriodUse} from '../../ledger/budget.ts';
import type {PerPeriod} from '../../report/summary.ts';

/** What the owner's budgets came to: `{per_day, per_month}`, where it has them. */
export function usesOf(
  budgets: readonly PeriodUse[],
  wanted: string,
): Partial<Record<`per_${Period}`, PerPeriod>> {
  const own = budgets.filter(({owner}) => owner === wanted);
  return Object.fromEntries(
    own.map(({period, limit, used}) => [`per_${period}`, {limit: inCredits(limit), used: inCredits(used)}]),
  );
}
