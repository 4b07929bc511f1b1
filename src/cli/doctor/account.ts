import {exitCodes} from '../../errors.ts';
import type {Endpoint} from '../../job/endpoint.ts';
import {inCredits} from '../../job/money.ts';
import type {JobSettings} from '../../job/settings.ts';
import {perSecond} from '../../lookup/pace/rate-controller.ts';
import {scopeOf} from '../../run/identity.ts';
import {findAccount} from '../../run/open/account.ts';
import {openBudgets} from '../../run/open/budgets.ts';
import type {Console} from '../console.ts';
import {count, many} from '../terminal/lines.ts';
import {type Check, failed, failure, passed} from './check.ts';

/** Shows the limits in the account's file, and the credits left. Fails if none are left. */
export function checkAccount(endpoint: Endpoint, settings: JobSettings, {warn}: Console): Check {
  try {
    const account = findAccount(scopeOf(endpoint, settings), process.env);
    if (account === undefined)
      return passed('account', `"${settings.account}" has no account file, so no limits of its own`);
    const budgets = openBudgets(account, {env: process.env, now: Date.now, warn});
    const left = budgets.map(budget => ({
      period: budget.period,
      credits: inCredits(budget.left()),
      most: inCredits(budget.maxCredits),
    }));
    for (const budget of budgets) budget.close();
    const rate = account.rate && `at most ${many(perSecond(account.rate), 'call')} a second`;
    const limits = left.map(
      ({period, credits, most}) =>
        `${count(credits)} of ${many(most, 'credit')} left ${period === 'day' ? 'today' : 'this month'}`,
    );
    const detail = `${account.path}: ${[rate, ...limits].filter(Boolean).join(', ') || 'no limits'}`;
    return left.some(({credits}) => credits <= 0)
      ? failed('account', detail, exitCodes.credits)
      : passed('account', detail);
  } catch (error) {
    return failure('account', error);
  }
}
