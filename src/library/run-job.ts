import {type Logger, pino} from 'pino';
import {exitCodes} from '../errors.ts';
import type {Env} from '../job/endpoint.ts';
import {type Job, resolveJob} from '../job/job.ts';
import {asProperties, checkSettings} from '../job/parse.ts';
import type {JobInput} from '../job/settings.ts';
import {deliverUnresolved} from '../run/end/deliver-metrics.ts';
import {run} from '../run/run.ts';
import type {RunOutcome} from '../run/run-outcome.ts';
import {Stopper} from '../run/stop.ts';

export interface RunJobOptions {
  /** Where endpoint, key and directories are looked up; `process.env` by default. */
  readonly env?: Env;
  /** Stops the run with its state saved, like SIGINT. */
  readonly signal?: AbortSignal;
  /** Told what is not as it should be while the run goes on. */
  readonly onWarning?: (sentence: string) => void;
  readonly log?: Logger;
}

/**
 * Runs one job, as `bulk-enrich run` does: the settings are those of a job file, in camel case.
 *
 * @throws {BulkEnrichError} when the run can't start; how a run ended that did start is in the outcome.
 */
export function runJob(settings: JobInput, options: RunJobOptions = {}): Promise<RunOutcome> {
  return runOn(settings, options, process.stdin, process.stdout);
}

/** The same with streams of one's own for the paths `-`. */
export async function runOn(
  settings: JobInput,
  options: RunJobOptions,
  stdin: NodeJS.ReadableStream,
  stdout: NodeJS.WritableStream,
): Promise<RunOutcome> {
  const {name, input, output, ...rest} = checkSettings(undefined, settings, asProperties);
  const env = options.env ?? process.env;
  const {placeOf} = asProperties;
  const source = {name, inputs: input, output, settings: rest, fromFile: false, placeOf};
  const warn = options.onWarning ?? (() => {});
  let job: Job;
  try {
    job = resolveJob(source, env, false);
  } catch (error) {
    await deliverUnresolved({...rest, name}, error, {env, warn});
    throw error;
  }
  const stopper = new Stopper();
  const abort = () =>
    stopper.stop({
      status: 'interrupted',
      reason: 'signal',
      exitCode: exitCodes.interrupted,
      message: 'Interrupted.',
    });
  options.signal?.addEventListener('abort', abort);
  if (options.signal?.aborted === true) abort();
  const io = {
    env,
    stdin,
    stdout,
    now: Date.now,
    random: Math.random,
    log: options.log ?? pino({level: 'silent'}),
    warn,
  };
  try {
    return await run(job, io, stopper);
  } finally {
    options.signal?.removeEventListener('abort', abort);
  }
}
