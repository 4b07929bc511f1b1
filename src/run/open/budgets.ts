import {userDirectory} from '../../disk/user-directory.ts';
import {OutputError, systemReason} from '../../errors.ts';
import type {Env} from '../../job/endpoint.ts';
import type {Job} from '../../job/job.ts';
import {inCredits, thousandths} from '../../job/money.ts';
import {PeriodBudget, type PeriodBudgetOptions} from '../../ledger/account/period-budget.ts';
import type {Earlier} from '../../ledger/given-up.ts';
import {count, many} from '../../report/format.ts';
import {FRESH_BUDGET_HINT, jobKey} from '../identity.ts';
import {dateOf, type RunIo} from '../io.ts';
import type {Account} from './account.ts';

type BudgetIo = Pick<RunIo, 'env' | 'now' | 'date' | 'warn'>;

/**
 * The budgets that the run shares with others: the job's of the day, and its account's of day and month.
 *
 * @throws {OutputError} when what was spent before can't be told: then nothing may be spent.
 */
export function openSharedBudgets(job: Job, account: Account | undefined, io: BudgetIo): PeriodBudget[] {
  const credits = job.settings.maxCreditsPerDay;
  const own = {period: 'day', credits, limit: 'max_credits_per_day', owner: jobKey(job)} as const;
  return openBudgets([own, ...limitsOf(account, io)], io);
}

/** The budgets of an account. Throws as {@link openSharedBudgets}. */
export function openAccountBudgets(account: Account | undefined, io: BudgetIo): PeriodBudget[] {
  return openBudgets(limitsOf(account, io), io);
}

interface Limit extends Pick<PeriodBudgetOptions, 'period' | 'limit' | 'owner' | 'warnAt'> {
  readonly credits: number | undefined;
}

function limitsOf(account: Account | undefined, {warn}: BudgetIo): Limit[] {
  if (account === undefined) return [];
  const {key: owner, path, warn_at: share} = account;
  return (['day', 'month'] as const).map(period => {
    const name = `max_credits_per_${period}` as const;
    return {period, credits: account[name], limit: `${name} in ${path}`, owner, warnAt: {share, warn}};
  });
}

function openBudgets(limits: readonly Limit[], io: BudgetIo): PeriodBudget[] {
  const {env, now} = io;
  const date = dateOf(io);
  const opened: PeriodBudget[] = [];
  try {
    for (const {credits, ...limit} of limits) {
      if (credits === undefined) continue;
      const directory = stateDirectory(env, limit.limit);
      opened.push(new PeriodBudget({...limit, maxCredits: thousandths(credits), now, date, directory}));
    }
    return opened;
  } catch (error) {
    for (const budget of opened) budget.close();
    throw error;
  }
}

/** What to say where a shared budget is used up. */
export function exhaustedMessage({period, limit, renewsAt}: PeriodBudget): string {
  return `The ${period}'s credit limit (${limit}) is reached: nothing more was sent. The next ${period} begins at ${new Date(renewsAt).toISOString()}.`;
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
