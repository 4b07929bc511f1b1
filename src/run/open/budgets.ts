import {userDirectory} from '../../disk/user-directory.ts';
import {OutputError, systemReason} from '../../errors.ts';
import type {Env} from '../../job/endpoint.ts';
import type {Job} from '../../job/job.ts';
import {inCredits, thousandths} from '../../job/money.ts';
import {PeriodBudget} from '../../ledger/account/period-budget.ts';
import type {Earlier} from '../../ledger/given-up.ts';
import {count, many} from '../../report/format.ts';
import {FRESH_BUDGET_HINT, jobKey} from '../identity.ts';
import type {RunIo} from '../io.ts';
import type {Account} from './account.ts';

/**
 * The budgets that the run shares with others: the job's of the day, and its account's of day and month.
 *
 * @throws {OutputError} when what was spent before can't be told: then nothing may be spent.
 */
export function openSharedBudgets(
  job: Job,
  account: Account | undefined,
  {env, now, warn}: Pick<RunIo, 'env' | 'now' | 'warn'>,
): readonly PeriodBudget[] {
  const {maxCreditsPerDay} = job.settings;
  const ofAccount = account && {owner: account.key, warnAt: {share: account.warn_at, warn}};
  const wanted = [
    {period: 'day', credits: maxCreditsPerDay, limit: 'max_credits_per_day', owner: jobKey(job)},
    ...(['day', 'month'] as const).map(period => ({
      period,
      credits: account?.[`max_credits_per_${period}`],
      limit: `max_credits_per_${period} in ${account?.path}`,
      ...ofAccount,
    })),
  ] as const;
  const opened: PeriodBudget[] = [];
  try {
    for (const {credits, owner = '', ...budget} of wanted) {
      if (credits === undefined) continue;
      const directory = stateDirectory(env, budget.limit);
      opened.push(new PeriodBudget({...budget, owner, maxCredits: thousandths(credits), now, directory}));
    }
    return opened;
  } catch (error) {
    for (const budget of opened) budget.close();
    throw error;
  }
}

/** Says what attempts that were given up leave of the limit, and how to have all of it. */
export function warnOfEarlier(earlier: Earlier, {settings}: Job, warn: (sentence: string) => void): void {
  const {maxCredits} = settings;
  if (maxCredits === undefined) return;
  const counted = inCredits(earlier.counted.spent + earlier.counted.maybeSpent);
  const others = inCredits(earlier.notCounted.spent + earlier.notCounted.maybeSpent);
  if (counted > 0)
    warn(
      `Attempts that were given up spent, or may have spent, ${many(counted, 'credit')}: ${count(Math.max(0, maxCredits - counted))} of ${many(maxCredits, 'credit')} are left to this run. ${FRESH_BUDGET_HINT} begins with all of them.`,
    );
  if (others > 0)
    warn(
      `${many(others, 'credit')} that earlier attempts spent, or may have spent, do not count against this run's limit: they were spent at another endpoint or account, or before --fresh-budget.`,
    );
}

/** @throws {OutputError} where there is none: what keeps a limit can't be told from one process to the next. */
export function stateDirectory(env: Env, limit: string): string {
  try {
    return userDirectory('state', env);
  } catch (error) {
    throw new OutputError(
      'daily_budget',
      `A limit (${limit}) can't be kept: ${systemReason(error)}. Set XDG_STATE_HOME to a directory that lasts.`,
      {cause: error},
    );
  }
}
