import {setTimeout as sleep} from 'node:timers/promises';
import {BulkEnrichError, exitCodes} from '../../errors.ts';
import type {Job} from '../../job/job.ts';
import {thousandths} from '../../job/money.ts';
import {SharedPace} from '../../ledger/account/shared-pace.ts';
import type {RunIo} from '../io.ts';
import {type Account, findAccount} from './account.ts';
import {exhaustedMessage, openAccountBudgets, stateDirectory} from './budgets.ts';

/** Whose call it is, and the credits that it may cost. */
export type SingleCall = Pick<Job, 'endpoint' | 'settings'> & {readonly cost: number};

/**
 * Makes a call outside of runs within its account's limits: it takes its turn in the account's pace, and its credits
 * from the day and the month.
 *
 * @throws {BulkEnrichError} with exit code 7 when they are used up, and whatever the call throws.
 */
export async function callWithinAccount<T>(
  {cost, ...asked}: SingleCall,
  io: Pick<RunIo, 'env' | 'now' | 'warn'>,
  call: () => Promise<T>,
): Promise<T> {
  const account = findAccount(asked, io.env, io.warn);
  const budgets = openAccountBudgets(account, io);
  try {
    const exhausted = budgets.find(budget => !budget.take('call', thousandths(cost)));
    if (exhausted !== undefined) {
      for (const budget of budgets) budget.settle('call', thousandths(cost), true);
      throw new BulkEnrichError('budget', exitCodes.credits, exhaustedMessage(exhausted));
    }
    return await inTurn(account, io, call);
  } finally {
    for (const budget of budgets) budget.close();
  }
}

async function inTurn<T>(
  account: Account | undefined,
  {env, warn}: Pick<RunIo, 'env' | 'warn'>,
  call: () => Promise<T>,
): Promise<T> {
  if (account?.rate === undefined) return call();
  let trouble: unknown;
  const pace = new SharedPace({
    directory: stateDirectory(env, `rate in ${account.path}`),
    account: account.key,
    rate: account.rate,
    onTrouble: error => {
      trouble = error;
    },
    warn,
  });
  try {
    for (let wait = pace.take(1); wait.permits === 0; wait = pace.take(1)) {
      if (trouble !== undefined) throw trouble;
      await sleep(wait.waitMs);
    }
    const use = pace.use();
    return await call().finally(() => use.over(true));
  } finally {
    pace.close();
  }
}
