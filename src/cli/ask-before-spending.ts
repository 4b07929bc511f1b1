import {BulkEnrichError, exitCodes} from '../errors.ts';
import {makePlan, type PlanReport} from '../estimate/estimate.ts';
import type {Job} from '../job/job.ts';
import {isInteractive} from './console.ts';
import {withPrompt, yesOrNo} from './init/prompt.ts';
import {count, duration, many} from './terminal/lines.ts';

/**
 * Has a person at a terminal agree to what a run would spend at a live service, where no limit of credits says so already.
 * Anywhere else nobody is asked.
 *
 * @throws {BulkEnrichError} with exit code 130 where the answer is no.
 */
export async function askBeforeSpending(job: Job): Promise<void> {
  const {maxCredits, maxCreditsPerDay, offline} = job.settings;
  const isLimited = maxCredits !== undefined || maxCreditsPerDay !== undefined;
  if (!isInteractive() || job.endpoint.kind !== 'live' || isLimited || offline || job.inputs.includes('-'))
    return;
  const io = {env: process.env, stdin: process.stdin, now: Date.now, warn: () => {}};
  // What keeps a plan from being made, the run is about to say.
  const plan = await makePlan(job, io).catch(() => undefined);
  if (plan === undefined || plan.credits.at_most === 0) return;
  const answer = await withPrompt(ask => ask(`${sentence(plan)} Go on?`, 'no', yesOrNo));
  if (/^y/i.test(answer)) return;
  throw new BulkEnrichError(
    'declined',
    exitCodes.interrupted,
    'Nothing was sent. --max-credits sets a limit, and --yes answers this question.',
  );
}

function sentence({lookups, credits, time_ms: ms, rate_per_second: rate}: PlanReport): string {
  const calls = Object.values(lookups).reduce((sum, found) => sum + found.calls, 0);
  const time = ms === null ? '' : `, in about ${duration(ms)} at ${count(rate ?? 0)}/s`;
  return `This makes ${many(calls, 'call')} for ${count(credits.at_least)} to ${many(credits.at_most, 'credit')}${time}.`;
}
