import {ping} from '../../client/ping.ts';
import {BulkEnrichError, exitCodes} from '../../errors.ts';
import type {Job} from '../../job/job.ts';

/**
 * Does the work between two pings of the job's health check: one for the start, one for how it ended. Pings can not
 * fail the job; they hold up its end by a few seconds at most.
 */
export async function withHealthCheck<Outcome extends {readonly exitCode: number}>(
  {settings: {pingUrl}}: Job,
  warn: (sentence: string) => void,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  if (pingUrl === undefined) return work();
  const started = ping(pingUrl, 'start');
  const ended = async (exitCode: number) => {
    const results = [await started, await ping(pingUrl, exitCode === 0 ? '' : String(exitCode))];
    const failed = results.find(result => result !== 'ok');
    if (failed !== undefined) warn(`The health check (ping_url) could not be told of this run (${failed}).`);
  };
  try {
    const outcome = await work();
    await ended(outcome.exitCode);
    return outcome;
  } catch (error) {
    await ended(error instanceof BulkEnrichError ? error.exitCode : exitCodes.internal);
    throw error;
  }
}
