import {userDirectory} from '../../disk/user-directory.ts';
import {thousandths} from '../../job/money.ts';
import {giveBackBlocks, PeriodBudget} from '../../ledger/account/period-budget.ts';
import type {LedgerOptions} from '../../ledger/run/ledger-options.ts';
import type {World} from '../io.ts';
import {type Account, stateDirectory} from './account.ts';

/**
 * Opens an account's budgets of the day and the month. `holder`: identifies the session that spends from them;
 * undefined for a call outside of runs.
 *
 * @throws {OutputError} if earlier spending can't be read: then nothing may be spent.
 */
export function openBudgets(account: Account | undefined, io: World, holder?: string): PeriodBudget[] {
  const {env, now, warn} = io;
  if (account === undefined) return [];
  const {key: owner, path, warn_at: share} = account;
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
      opened.push(new PeriodBudget({...whose, maxCredits, now, warnAt: {share, warn}}));
    }
    return opened;
  } catch (error) {
    for (const budget of opened) budget.close();
    throw error;
  }
}

/**
 * Returns a function that gives a killed session's unspent credits back to the budgets of that session's account,
 * even if this session has another account.
 */
export function giverBack(io: World): LedgerOptions['giveBack'] {
  return (holder, taken) => {
    const {env, now} = io;
    try {
      giveBackBlocks({directory: userDirectory('state', env), now}, holder, taken);
    } catch {
      // Ignored. If this run needs the budgets' file, it has stopped already: it opened its budgets before.
    }
  };
}

export function exhaustedMessage({period, limit, renewsAt}: PeriodBudget): string {
  return `The ${period}'s credit limit (${limit}) is reached: nothing more was sent. The next ${period} begins at ${new Date(renewsAt).toISOString()}.`;
}
