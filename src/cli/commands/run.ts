import {exitCodes, LockedError} from '../../errors.ts';
import {runSample} from '../../estimate/sampled-run.ts';
import {deliverUnresolved} from '../../run/end/deliver-metrics.ts';
import {run} from '../../run/run.ts';
import type {Session} from '../../run/session.ts';
import {Stopper} from '../../run/stop.ts';
import {askBeforeSpending} from '../ask-before-spending.ts';
import {createConsole, logFailure} from '../console.ts';
import {tellGitHub, tellGitHubOfError} from '../github.ts';
import {keepHeapSmall} from '../heap.ts';
import {type JobFlags, jobFrom, unchecked} from '../job-from-flags.ts';
import {watchSignals} from '../signals.ts';
import {renderOutcome} from '../terminal/outcome.ts';
import {print} from '../terminal/printable.ts';
import {startProgress} from '../terminal/progress.ts';
import {renderSample} from '../terminal/sample.ts';

/** `bulk-enrich run`. */
export async function runCommand(
  inputs: readonly string[],
  {yes = false, ...flags}: JobFlags & {readonly yes?: boolean},
): Promise<number> {
  try {
    return await runJobOf(inputs, flags, yes);
  } catch (error) {
    tellGitHubOfError(process.env, error);
    // Another run is at it: nothing for cron to send mail about.
    const {quiet, logFormat} = unchecked(flags);
    if (error instanceof LockedError && quiet === true) return error.exitCode;
    if (logFormat === 'json') return logFailure(error);
    throw error;
  }
}

async function runJobOf(inputs: readonly string[], flags: JobFlags, yes: boolean): Promise<number> {
  const {job, console} = await jobOrMetrics(inputs, flags);
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
    const mayBegin = yes ? async () => {} : askBeforeSpending;
    const outcome = await run(job, {...io, mayBegin}, stopper, watch);
    renderOutcome(job, outcome, console);
    tellGitHub(process.env, outcome, console);
    return outcome.exitCode;
  } finally {
    unwatch();
  }
}

/** The job; where none can be made out, its metrics say that it did not run. */
async function jobOrMetrics(inputs: readonly string[], flags: JobFlags): Promise<ReturnType<typeof jobFrom>> {
  try {
    return jobFrom(inputs, flags);
  } catch (error) {
    const {metrics, name, date, sample, logFormat} = unchecked(flags);
    const settings = {quiet: false, logLevel: undefined};
    const {warn} = createConsole({...settings, logFormat: logFormat === 'json' ? logFormat : undefined});
    if (sample === undefined) await deliverUnresolved({metrics, name, date}, error, {env: process.env, warn});
    throw error;
  }
}
