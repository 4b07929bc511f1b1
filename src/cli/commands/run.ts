import {existsSync, statSync} from 'node:fs';
import type {UsageError} from '../../errors.ts';
import {folderError, missingFileError} from '../../input/input-error.ts';
import type {Job} from '../../job/job.ts';
import {isJsonLogSetting} from '../../job/settings/result-settings.ts';
import {createConsole, logFailure} from '../console.ts';
import {annotateError} from '../github.ts';
import {
  type JobAtConsole,
  type JobFlags,
  makeJobFromFlags,
  readUncheckedSettings,
} from '../job-from-flags.ts';

/** `bulk-enrich run`: enriches a list. */
export async function runCommand(
  inputs: readonly string[],
  given: JobFlags & {readonly yes?: boolean},
): Promise<number> {
  const {yes: _, ...flags} = given;
  try {
    const {job, console} = await jobOrMetrics(inputs, flags);
    // Checked here, before the slow import of a run's code.
    refuseMistyped(job);
    return await (await import('../run-job.ts')).runJobInTerminal(job, console, {
      command: 'run',
      inputs,
      flags: given,
    });
  } catch (error) {
    const code = reportFailure(error, flags);
    if (code === undefined) throw error;
    return code;
  }
}

/** Makes the job. If that fails, the metrics say that the job did not run. */
async function jobOrMetrics(inputs: readonly string[], flags: JobFlags): Promise<JobAtConsole> {
  try {
    return makeJobFromFlags(inputs, flags);
  } catch (error) {
    await deliverWithoutJob(error, flags);
    throw error;
  }
}

/** Reports a wrong command line as a failed run. Returns the exit code; undefined if the caller shows the error. */
export async function refuseRun(error: UsageError, flags: JobFlags): Promise<number | undefined> {
  await deliverWithoutJob(error, flags);
  return reportFailure(error, flags);
}

/** Reports why a run failed, and returns the exit code. Undefined if the caller has to show the error. */
function reportFailure(error: unknown, flags: JobFlags): number | undefined {
  annotateError(error);
  const {log} = readUncheckedSettings(flags).said;
  return isJsonLogSetting(log) ? logFailure(error) : undefined;
}

async function deliverWithoutJob(error: unknown, flags: JobFlags): Promise<void> {
  const {said, isPart} = readUncheckedSettings(flags);
  if (said.metrics === undefined) return;
  const {writeUnparsedJobMetrics} = await import('../../run/end/report-files.ts');
  const {warn} = createConsole({
    quiet: false,
    log: {format: isJsonLogSetting(said.log) ? 'json' : undefined},
  });
  await writeUnparsedJobMetrics(said, isPart, error, {env: process.env, now: Date.now, warn});
}

/** Refuses a missing input, probably mistyped. A run with reports to make, or with earlier files, does so itself. */
function refuseMistyped({inputs, output, paths, fromFile, settings, unfinished = []}: Job): void {
  const isReported = settings.metrics !== undefined || settings.pingUrl !== undefined;
  const isBegun = [output.name, paths.state].some(path => path !== undefined && existsSync(path));
  if (fromFile || isReported || isBegun || unfinished.length > 0) return;
  const missing = inputs.find(path => path !== '-' && isMissing(path));
  if (missing !== undefined) throw missingFileError(missing);
  const folder = inputs.find(path => path !== '-' && statSync(path, {throwIfNoEntry: false})?.isDirectory());
  if (folder !== undefined) throw folderError(folder);
}

function isMissing(path: string): boolean {
  try {
    return statSync(path, {throwIfNoEntry: false}) === undefined;
  } catch {
    // The run itself reports why the file can't be read.
    return false;
  }
}
