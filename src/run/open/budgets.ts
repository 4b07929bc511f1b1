import {giveBackBlocks, PeriodBudget} from '../../account/period-budget.ts';
import {userDirectory} from '../../disk/user-directory.ts';
import {OutputError, systemReason} from '../../errors.ts';
import type {Env} from '../../job/endpoint.ts';
import type {Job} from '../../job/job.ts';
import {inCredits, thousandths} from '../../job/money.ts';
import type {Earlier} from '../../ledger/given-up.ts';
import type {LedgerOptions} from '../../ledger/ledger.ts';
import {count, many} from '../../report/format.ts';
import {FRESH_BUDGET_HINT} from '../identity.ts';
import {dateOf, type World} from '../io.ts';
import type {Account} from './account.ts';

/**
 * An account's budgets of the day and the month. `holder`: the session that spends from them; undefined for a call
 * outside of runs.
 *
 * @throws {OutputError} if earlier spending can't be read: then nothing may be spent.
 */
export function openBudgets(account: Account | undefined, io: World, holder?: string): PeriodBudget[] {
  const {env, now, warn} = io;
  if (account === undefined) return [];
  const {key: owner, path, warn_at: share} = account;
  const date = dateOf(io);
  const opened: PeriodBudget[] = [];
  try {
    for (const period of ['day', 'month'] as const) {
      const name = `max_credits_per_${period}` as const;
      const credits = account[name];
      if (credits === undefined) continue;
      const limit = `${name} in ${path}`;
      const directory = stateDirectory(env, limit);
      const whose = {directory, owner, period, limit, holder};
      const maxCredits = thousandths(credits);
      opened.push(new PeriodBudget({...whose, maxCredits, now, date, warnAt: {share, warn}}));
    }
    return opened;
  } catch (error) {
    for (const budget of opened) budget.close();
    throw error;
  }
}

/**
 * Returns a function that gives a killed session's unspent credits back to the budgets of that session's account, even
 * if this session has another account.
 */
export function giverBack(io: World): LedgerOptions['giveBack'] {
  return (holder, taken) => {
    const {env, now} = io;
    try {
      giveBackBlocks({directory: userDirectory('state', env), now, date: dateOf(io)}, holder, taken);
    } catch {
      // Ignored: if this run needs the budgets' file, opening the run's own budgets has failed already.
    }
  };
}

export function exhaustedMessage({period, limit, renewsAt}: PeriodBudget): string {
  return `The ${period}'s credit limit (${limit}) is reached: nothing more was sent. The next ${period} begins at ${new Date(renewsAt).toISOString()}.`;
}

/** Warns how much of `max_credits` remains after earlier attempts (restarted runs), and how to get all of it again. */
export function warnOfEarlier(earlier: Earlier, {settings}: Job, warn: (sentence: string) => void): void {
  const {maxCredits} = settings;
  if (maxCredits === undefined) return;
  const counted = inCredits(earlier.counted.spent + earlier.counted.maybeSpent);
  const others = inCredits(earlier.notCounted.spent + earlier.notCounted.maybeSpent);
  if (counted > 0)
    warn(
      `Earlier attempts spent, or may have spent, ${many(counted, 'credit')}. So ${count(Math.max(0, maxCredits - counted))} of ${many(maxCredits, 'credit')} are left for this run. To have all of them, ${FRESH_BUDGET_HINT}.`,
    );
  if (others > 0)
    warn(
      `${many(others, 'credit')} of earlier attempts do not count against this run's limit. They belong to another endpoint or account, or to the time before --restart fresh. Some may not have been charged.`,
    );
}

/** @throws {OutputError} without a state directory: other processes could not see what this one spent of `limit`. */
export function stateDirectory(env: Env, limit: string): string {
  try {
    return userDirectory('state', env);
  } catch (error) {
    throw new OutputError(
      'daily_budget',
      `The program can't store what is spent of a limit (${limit}): ${systemReason(error)}. Set XDG_STATE_HOME to a directory that lasts.`,
      {cause: error},
    );
  }
}
