import {BulkEnrichError, exitCodes} from '../errors.ts';
import {makePlan, type PlanReport} from '../estimate/estimate.ts';
import {isReadOnce} from '../input/bytes/raw.ts';
import type {Job} from '../job/job.ts';
import type {Stopper} from '../run/stop.ts';
import {type Console, isInteractive} from './console.ts';
import {withPrompt, yesOrNo} from './init/prompt.ts';
import {count, duration, many} from './terminal/lines.ts';
import {hasBar, phasesOn} from './terminal/progress.ts';

/**
 * Counts the calls that a run is to make, where somebody watches its bar or has to agree to what it would spend; a list
 * that can be read once only is not counted. Undefined where the number is not known: conditions hold or not.
 *
 * @throws {BulkEnrichError} with exit code 130 where the answer is no.
 */
export async function countFirst(
  job: Job,
  isAgreed: boolean,
  console: Console,
  stopper: Stopper,
): Promise<number | undefined> {
  const asks = !isAgreed && isQuestion(job);
  if (job.settings.offline || job.inputs.some(isReadOnce) || !(asks || hasBar(job, console)))
    return undefined;
  const io = {env: process.env, stdin: process.stdin, now: Date.now, warn: () => {}};
  const watched = {phase: phasesOn(job, console), isWanted: () => stopper.reason === undefined};
  // What keeps a plan from being made, the run is about to say.
  const plan = await makePlan(job, {...io, ...watched}).catch(() => undefined);
  if (plan === undefined || stopper.reason !== undefined) return undefined;
  if (asks && plan.credits.at_most > 0) await demandAgreement(plan);
  return Object.values(plan.lookups).some(({conditional}) => conditional > 0) ? undefined : callsOf(plan);
}

/** A person at a terminal is asked before the first spend at a live service, where no limit of credits says it already. */
function isQuestion({settings: {maxCredits, maxCreditsPerDay}, endpoint}: Job): boolean {
  const isLimited = maxCredits !== undefined || maxCreditsPerDay !== undefined;
  return isInteractive() && endpoint.kind === 'live' && !isLimited;
}

async function demandAgreement(plan: PlanReport): Promise<void> {
  const answer = await withPrompt(ask => ask(`${sentence(plan)} Go on?`, 'no', yesOrNo));
  if (/^y/i.test(answer)) return;
  throw new BulkEnrichError(
    'declined',
    exitCodes.interrupted,
    'Nothing was sent. --max-credits sets a limit, and --yes answers this question.',
  );
}

function callsOf({lookups}: PlanReport): number {
  return Object.values(lookups).reduce((sum, found) => sum + found.calls, 0);
}

function sentence(plan: PlanReport): string {
  const {credits, time_ms: ms, rate_per_second: rate} = plan;
  const time = ms === null ? '' : `, in about ${duration(ms)} at ${count(rate ?? 0)}/s`;
  return `This makes ${many(callsOf(plan), 'call')} for ${count(credits.at_least)} to ${many(credits.at_most, 'credit')}${time}.`;
}
