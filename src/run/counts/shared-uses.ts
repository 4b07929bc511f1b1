import {inCredits} from '../../job/money.ts';
import type {Period} from '../../ledger/account/period-budget.ts';
import type {PeriodUse} from '../../ledger/run/budget.ts';
import type {PerPeriod} from '../../report/summary.ts';

/** Use and limit of each of the account's budgets. A period without a limit is left out. */
export function usesOf(budgets: readonly PeriodUse[]): Partial<Record<`per_${Period}`, PerPeriod>> {
  return Object.fromEntries(
    budgets.map(({period, limit, used, lacked}) => [
      `per_${period}`,
      {limit: inCredits(limit), used: inCredits(used), ...(lacked > 0 && {lacked: inCredits(lacked)})},
    ]),
  );
}
