import {exitCodes} from '../../errors.ts';
import {runSample} from '../../estimate/sampled-run.ts';
import {run} from '../../run/run.ts';
import type {Session} from '../../run/session.ts';
import {Stopper} from '../../run/stop.ts';
import {tellGitHub, tellGitHubOfError} from '../github.ts';
import {keepHeapSmall} from '../heap.ts';
import {type JobFlags, jobFrom} from '../job-from-flags.ts';
import {watchSignals} from '../signals.ts';
import {renderOutcome} from '../terminal/outcome.ts';
import {print} from '../terminal/printable.ts';
import {startProgress} from '../terminal/progress.ts';
import {renderSample} from '../terminal/sample.ts';

/** `bulk-enrich run`. */
export async function runCommand(inputs: readonly string[], flags: JobFlags): Promise<number> {
  try {
    return await runJobOf(inputs, flags);
  } catch (error) {
    tellGitHubOfError(process.env, error);
    throw error;
  }
}

async function runJobOf(inputs: readonly string[], flags: JobFlags): Promise<number> {
  const {job, console} = jobFrom(inputs, flags);
  if (job.endpoint.kind === 'embedded' && job.endpoint.byDefault) {
    console.say(
      'No service is configured, so the embedded service answers, from open data. Set BULK_ENRICH_BASE_URL and BULK_ENRICH_API_KEY to ask a live one.',
    );
  }
  keepHeapSmall();
  const stopper = new Stopper();
  const unwatch = watchSignals(stopper, console);
  try {
    const io = {
      env: process.env,
      stdin: process.stdin,
      stdout: process.stdout,
      now: Date.now,
      random: Math.random,
      log: console.log,
      warn: console.warn,
    };
    const watch = (session: Session) => startProgress(session, console);
    if (job.settings.sample !== undefined) {
      const report = await runSample(job, io, stopper, watch);
      print('stdout', renderSample(report));
      return report.outcome.stop === undefined ? exitCodes.ok : report.outcome.exitCode;
    }
    const outcome = await run(job, io, stopper, watch);
    renderOutcome(job, outcome, console);
    tellGitHub(process.env, outcome, console);
    return outcome.exitCode;
  } finally {
    unwatch();
  }
}
