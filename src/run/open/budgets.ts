import {ClientError} from '../../client/client-error.ts';
import {priceOf} from '../../columns/prices.ts';
import {userDirectory} from '../../disk/user-directory.ts';
import {BulkEnrichError, exitCodes} from '../../errors.ts';
import type {Endpoint} from '../../job/endpoint.ts';
import type {Job} from '../../job/job.ts';
import {thousandths} from '../../job/money.ts';
import type {Charge} from '../../job/settings/cost.ts';
import {giveBackBlocks, PeriodBudget} from '../../ledger/account/period-budget.ts';
import type {AnswerStore} from '../../ledger/answers/store.ts';
import type {LedgerOptions} from '../../ledger/run/ledger.ts';
import {chargeOf} from '../../lookup/policy.ts';
import type {Operation} from '../../operations/table.ts';
import {many} from '../../report/format.ts';
import type {Summary} from '../../report/summary.ts';
import {spentByRun} from '../end/history.ts';
import {scopeOf} from '../identity.ts';
import type {World} from '../io.ts';
import {type Account, findAccount, stateDirectory} from './account.ts';

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
      const whose = {directory: stateDirectory(env, limit), owner, period, limit, holder};
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
export function giverBack({env, now}: World): LedgerOptions['giveBack'] {
  return (holder, spent) => {
    try {
      giveBackBlocks({directory: userDirectory('state', env), now}, holder, spent);
    } catch {
      // Ignored. If this run needs the budgets' file, it has stopped already: it opened its budgets before.
    }
  };
}

export function exhaustedMessage({period, limit, renewsAt}: PeriodBudget): string {
  return `The ${period}'s credit limit (${limit}) is reached: nothing more was sent. The next ${period} begins at ${new Date(renewsAt).toISOString()}.`;
}

/** Milliseconds after a period's start within which an answer may come to a call of the period before. */
const LONGEST_CALL_MS = 3_600_000;

/**
 * Raises counts that lack credits which the history or the answer store show. Their file is lost, or older: a limit that
 * was used up would be free again.
 */
export function restoreCounts(
  budgets: readonly PeriodBudget[],
  job: Job,
  store: AnswerStore,
  io: World,
): void {
  if (budgets.length === 0) return;
  const price = priceOf(job);
  const runs = spentByRun(job, io);
  for (const budget of budgets) {
    const {begunAt, renewsAt} = budget;
    const bought = store.boughtWithin(begunAt + LONGEST_CALL_MS, renewsAt);
    // Other jobs may have had lower prices than this one: one credit is the usual.
    const paid = bought.map(([operation, count]) => count * Math.min(price(operation), thousandths(1)));
    const spent = runs.map(run => (run.at >= begunAt && run.at < renewsAt ? run.spent : 0));
    const totals = [spent, paid].map(each => each.reduce((sum, one) => sum + one, 0));
    budget.raiseTo(Math.max(...totals));
  }
}

/** A sentence on counts that lacked credits; empty if none did. */
export function lackedSentence({credits: {account}}: Summary): string {
  const {lacked = 0} = [account.per_day, account.per_month].find(each => (each?.lacked ?? 0) > 0) ?? {};
  if (lacked === 0) return '';
  return ` The account's count lacked ${many(lacked, 'credit')} that earlier runs spent, which were added: its file (daily-credits.db in the state directory) is new or older. Check that all runs use the same XDG_STATE_HOME, and compare the service's own count.`;
}

/** A call outside of runs: its endpoint, the settings that name its account, and its operation. */
export interface SingleCall {
  readonly endpoint: Endpoint;
  readonly settings: Job['settings'];
  readonly operation: Operation;
}

/**
 * Makes a call outside of runs within its account's limits. Takes its credits from the budgets of the day and the
 * month, and gives them back if the call was free.
 *
 * @throws {BulkEnrichError} with exit code 7 if a budget is used up; every error of the call.
 */
export async function callWithinAccount<T>(
  {endpoint, settings, operation}: SingleCall,
  io: World,
  call: () => Promise<T>,
): Promise<T> {
  const budgets = openBudgets(findAccount(scopeOf(endpoint, settings), io.env), io);
  const credits = priceOf({endpoint, settings})(operation);
  const taken = new Map<PeriodBudget, string>();
  let charge: Charge = 'free';
  try {
    for (const budget of budgets) {
      if (!budget.take(credits))
        throw new BulkEnrichError('budget', exitCodes.credits, exhaustedMessage(budget));
      taken.set(budget, budget.name);
    }
    // An error of this program may come after the call was sent.
    charge = 'maybe';
    return await call();
  } catch (error) {
    if (error instanceof ClientError) charge = chargeOf(error.attempt, settings.cost);
    // The call was not sent.
    else if (error instanceof BulkEnrichError) charge = 'free';
    throw error;
  } finally {
    if (charge === 'free') for (const [budget, name] of taken) budget.refund(name, credits);
    for (const budget of budgets) budget.close();
  }
}
