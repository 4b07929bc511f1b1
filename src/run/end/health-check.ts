import {pingHealthCheck} from '../../client/reachability.ts';
import {BulkEnrichError, exitCodes, isSuccess} from '../../errors.ts';
import type {Job} from '../../job/job.ts';
import {type Said, say, set} from '../../sentence.ts';

/** Called once the run holds its output's lock, so that no other run writes the output. Sends the start ping. */
export type SendStartPing = () => void;

/**
 * Does the work between two pings of the job's health check: one at the start, one with the exit code. A
 * failed ping is a warning, and delays the job's end by a few seconds at most. A run without its output's
 * lock never pings.
 */
export async function withHealthCheck<Outcome extends {readonly exitCode: number}>(
  {settings: {pingUrl}}: Job,
  warn: (sentence: Said) => void,
  work: (begun: SendStartPing) => Promise<Outcome>,
): Promise<Outcome> {
  if (pingUrl === undefined) return work(() => {});
  let started: Promise<string> | undefined;
  const begun = () => {
    started ??= ping(pingUrl, 'start');
  };
  const ended = async (exitCode: number) => {
    if (exitCode === exitCodes.locked) return;
    const results = [await started, await ping(pingUrl, isSuccess(exitCode) ? '' : String(exitCode))];
    const failed = results.find(result => result !== undefined && result !== 'ok');
    if (failed !== undefined)
      warn(say`The health check (${set('pingUrl')}) could not be pinged (${failed}).`);
  };
  try {
    const outcome = await work(begun);
    await ended(outcome.exitCode);
    return outcome;
  } catch (error) {
    await ended(error instanceof BulkEnrichError ? error.exitCode : exitCodes.internal);
    throw error;
  }
}

/** @param signal added to the URL's path: `start`, an exit code, or nothing for success. */
function ping(url: string, signal: string): Promise<string> {
  const target = new URL(url);
  if (signal !== '') target.pathname = `${target.pathname.replace(/\/+$/, '')}/${signal}`;
  return pingHealthCheck(target);
}
