import {ClientError} from '../../client/client-error.ts';
import {priceOf} from '../../columns/prices.ts';
import {BulkEnrichError, exitCodes} from '../../errors.ts';
import type {Endpoint} from '../../job/endpoint.ts';
import type {Job} from '../../job/job.ts';
import type {Charge} from '../../job/settings/cost.ts';
import type {PeriodBudget} from '../../ledger/account/period-budget.ts';
import {chargeOf} from '../../lookup/policy.ts';
import type {Operation} from '../../operations/table.ts';
import {scopeOf} from '../identity.ts';
import type {World} from '../io.ts';
import {findAccount} from './account.ts';
import {exhaustedMessage, openBudgets} from './budgets.ts';

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
  const account = findAccount(scopeOf(endpoint, settings), io.env);
  const credits = priceOf({endpoint, settings})(operation);
  const budgets = openBudgets(account, io);
  const taken = new Map<PeriodBudget, string>();
  let charge: Charge = 'free';
  try {
    for (const budget of budgets) {
      if (!budget.take(credits))
        throw new BulkEnrichError('budget', exitCodes.credits, exhaustedMessage(budget));
      taken.set(budget, budget.name);
    }
    charge = 'spent';
    return await call();
  } catch (error) {
    charge = chargeOfFailure(error, settings);
    throw error;
  } finally {
    if (charge === 'free') for (const [budget, name] of taken) budget.refund(name, credits);
    for (const budget of budgets) budget.close();
  }
}

/**
 * The charge of a failed call. A {@link ClientError} has the call's attempt, which decides. After another
 * {@link BulkEnrichError} the call is free: it was not sent. After any other error it may have been charged.
 */
function chargeOfFailure(error: unknown, settings: SingleCall['settings']): Charge {
  if (error instanceof ClientError) return chargeOf(error.attempt, settings.cost);
  return error instanceof BulkEnrichError ? 'free' : 'maybe';
}
