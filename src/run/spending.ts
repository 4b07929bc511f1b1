import {resolve} from 'node:path';
import type {Env} from '../job/endpoint.ts';
import {OutputError, systemReason} from '../job/errors.ts';
import type {Job} from '../job/job.ts';
import {thousandths} from '../job/money.ts';
import {DailyBudget} from '../ledger/daily-budget.ts';
import {userDirectory} from '../ledger/user-directory.ts';

interface SpendingIo {
  readonly env: Env;
  readonly now: () => number;
}

/**
 * The job's budget of the day, where it has one. A job without a name is known by where it writes.
 *
 * @throws {OutputError} when what was spent before can't be told: then nothing may be spent.
 */
export function openDailyBudget(
  {name, paths, settings}: Job,
  {env, now}: SpendingIo,
): DailyBudget | undefined {
  const maxCredits = settings.maxCreditsPerDay;
  if (maxCredits === undefined) return undefined;
  const job = name ?? resolve(paths.output ?? paths.state ?? '.');
  return new DailyBudget({directory: stateDirectory(env), job, maxCredits: thousandths(maxCredits), now});
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
