import {userDirectory} from '../../disk/user-directory.ts';
import {OutputError, systemReason} from '../../errors.ts';
import type {Env} from '../../job/endpoint.ts';
import type {Job} from '../../job/job.ts';
import {inCredits, thousandths} from '../../job/money.ts';
import {DailyBudget} from '../../ledger/daily-budget.ts';
import type {Earlier} from '../../ledger/given-up.ts';
import {count, many} from '../../report/format.ts';
import {FRESH_BUDGET_HINT, jobKey} from '../identity.ts';
import type {RunIo} from '../io.ts';

/**
 * The job's budget of the day, where it has one.
 *
 * @throws {OutputError} when what was spent before can't be told: then nothing may be spent.
 */
export function openDailyBudget(job: Job, {env, now}: Pick<RunIo, 'env' | 'now'>): DailyBudget | undefined {
  const maxCredits = job.settings.maxCreditsPerDay;
  if (maxCredits === undefined) return undefined;
  return new DailyBudget({
    directory: stateDirectory(env),
    job: jobKey(job),
    maxCredits: thousandths(maxCredits),
    now,
  });
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

function stateDirectory(env: Env): string {
  try {
    return userDirectory('state', env);
  } catch (error) {
    throw new OutputError(
      'daily_budget',
      `The day's credits (max_credits_per_day) can't be counted: ${systemReason(error)}. Set XDG_STATE_HOME to a directory that lasts.`,
      {cause: error},
    );
  }
}
