import {exitCodes, LockedError, type UsageError} from '../../errors.ts';
import {runSample} from '../../estimate/sampled-run.ts';
import type {Job} from '../../job/job.ts';
import {isForMachine} from '../../job/settings/log.ts';
import {deliverUnresolved} from '../../run/end/deliver-metrics.ts';
import {run} from '../../run/run.ts';
import type {Session} from '../../run/session.ts';
import {Stopper} from '../../run/stop.ts';
import {createConsole, logFailure} from '../console.ts';
import {countFirst, creditsNeeded} from '../count-first.ts';
import {tellGitHub, tellGitHubOfError} from '../github.ts';
import {type JobFlags, jobFrom, unchecked} from '../job-from-flags.ts';
import {watchSignals} from '../signals.ts';
import {toRun} from '../terminal/next-command.ts';
import {renderOutcome} from '../terminal/outcome.ts';
import {print} from '../terminal/printable.ts';
import {phasesOn, startProgress} from '../terminal/progress.ts';
import {renderSample} from '../terminal/sample.ts';

/** `bulk-enrich run`. */
export async function runCommand(
  inputs: readonly string[],
  {yes = false, ...flags}: JobFlags & {readonly yes?: boolean},
): Promise<number> {
  try {
    return await runJobOf(inputs, flags, yes);
  } catch (error) {
    const code = said(error, flags);
    if (code === undefined) throw error;
    return code;
  }
}

/** A command line that is not right keeps a run from beginning too; undefined where it is still to be said why. */
export async function refuseRun(error: UsageError, flags: JobFlags): Promise<number | undefined> {
  await deliverWithoutJob(error, flags);
  return said(error, flags);
}

/** Says why a run could not begin, and gives the exit code; undefined where `main` is to say it. */
function said(error: unknown, flags: JobFlags): number | undefined {
  tellGitHubOfError(process.env, error);
  // Another run is at it: nothing for cron to send mail about.
  const {quiet, log} = unchecked(flags).said;
  if (error instanceof LockedError && quiet === true) return error.exitCode;
  return isForMachine(log) ? logFailure(error) : undefined;
}

async function runJobOf(inputs: readonly string[], flags: JobFlags, yes: boolean): Promise<number> {
  const {job, console} = await jobOrMetrics(inputs, flags);
  const stopper = new Stopper();
  const unwatch = watchSignals(stopper, console);
  /** What was told before the question. */
  const told = new Set<string>();
  try {
    const io = {
      env: process.env,
      stdin: process.stdin,
      stdout: process.stdout,
      now: Date.now,
      random: Math.random,
      log: console.log,
      warn: (sentence: string) => {
        if (!told.has(sentence)) console.warn(sentence);
      },
      phase: phasesOn(job, console),
    };
    let counted: number | undefined;
    const watch = (session: Session) => startProgress(session, console, counted);
    if (job.settings.sample !== undefined) {
      const report = await runSample(job, io, stopper, watch);
      print('stdout', renderSample(report, job, toRun()));
      return report.outcome.stop === undefined ? exitCodes.ok : report.outcome.exitCode;
    }
    const mayBegin = async (begun: Job) => {
      counted = await countFirst(begun, yes, console, stopper, sentence => {
        told.add(sentence);
        console.warn(sentence);
      });
    };
    const outcome = await run(job, {...io, mayBegin}, stopper, watch);
    renderOutcome(job, outcome, console, await creditsNeeded(job, outcome, console));
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
    await deliverWithoutJob(error, flags);
    throw error;
  }
}

async function deliverWithoutJob(error: unknown, flags: JobFlags): Promise<void> {
  const {said, isPart} = unchecked(flags);
  if (said.sample !== undefined) return;
  const {warn} = createConsole({quiet: false, log: {format: isForMachine(said.log) ? 'json' : undefined}});
  await deliverUnresolved(said, isPart, error, {env: process.env, warn});
}
