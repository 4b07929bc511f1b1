import {Readable} from 'node:stream';
import {pino} from 'pino';
import {BulkEnrichError, exitCodes, rewordForLibrary, UsageError} from '../errors.ts';
import {didYouMean} from '../job/did-you-mean.ts';
import type {Env} from '../job/endpoint.ts';
import {type Job, resolveJob} from '../job/job.ts';
import type {EventLog} from '../job/monitoring/log-events.ts';
import {checkSettings, formatPropertyPath} from '../job/parse.ts';
import {writeUnparsedJobMetrics} from '../run/end/report-files.ts';
import type {RunOutcome} from '../run/exit.ts';
import type {ProgramIo, RunIo} from '../run/io.ts';
import {run} from '../run/run.ts';
import {onAbort, Stopper} from '../run/stop.ts';
import {formatForLibrary} from '../sentence.ts';
import type {Service, ServiceOptions} from '../service/start.ts';
import type {JobInput} from './job-input.ts';

/**
 * Thrown if the caller's signal ended the run. `cause`: the signal's reason. Paid answers are kept. Exit code 130.
 */
export class AbortError extends BulkEnrichError {
  constructor(signal: AbortSignal) {
    super('aborted', exitCodes.interrupted, 'The run was aborted by its signal.', {cause: signal.reason});
  }
}

/** Stops `stopper` when the signal is aborted. Returns a function that ends the watch. */
export function stopOnAbort(stopper: Stopper, signal: AbortSignal | undefined): () => void {
  return onAbort(signal, () => {
    if (signal === undefined) return;
    stopper.stop({
      status: 'interrupted',
      reason: 'signal',
      exitCode: exitCodes.interrupted,
      message: 'Interrupted.',
      error: new AbortError(signal),
    });
  });
}

export interface RunJobOptions {
  /** Variables for endpoint, key and directories; `process.env` by default. */
  readonly env?: Env;
  /** Stops the run with its state saved, like SIGINT. */
  readonly signal?: AbortSignal;
  /**
   * Milliseconds that calls in flight have to finish when the run stops; 5,000 by default. Calls that have
   * no answer by then count as maybe spent. With 0, the run waits for no call, so all calls in flight count
   * as maybe spent.
   */
  readonly graceMs?: number;
  /** Receives warnings while the run is under way. */
  readonly onWarning?: (sentence: string) => void;
  /** Receives the log: a pino log, for example. */
  readonly log?: EventLog;
}

/**
 * Runs one job, as `bulk-enrich run` does. The settings are those of a job file, in camel case.
 *
 * @throws {BulkEnrichError} if the run can't start. The outcome tells how a started run ended.
 */
export async function runJob(settings: JobInput, options: RunJobOptions = {}): Promise<RunOutcome> {
  try {
    checkRunArguments(settings, options);
    const {job, io} = await prepared(settings, options);
    const stopper = new Stopper();
    const release = stopOnAbort(stopper, options.signal);
    const outcome = await run(job, {...io, stdin: process.stdin}, stopper).finally(release);
    const {stop, message} = outcome;
    return {
      ...outcome,
      message: formatForLibrary(message),
      stop: stop && {...stop, message: formatForLibrary(stop.message)},
    };
  } catch (error) {
    throw rewordForLibrary(error);
  }
}

const optionNames = Object.keys({
  env: true,
  signal: true,
  graceMs: true,
  onWarning: true,
  log: true,
} satisfies Record<keyof RunJobOptions, true>);

/** @throws {UsageError} for what can be neither settings nor options, as a program without types may give it. */
export function checkRunArguments(settings: unknown, options: RunJobOptions): void {
  const {signal, onWarning} = options;
  for (const name of Object.keys(options))
    if (!optionNames.includes(name))
      throw new UsageError('settings', `There is no option "${name}".${didYouMean(name, optionNames)}`);
  if (onWarning !== undefined && typeof onWarning !== 'function')
    throw new UsageError('settings', 'onWarning: expected a function.');
  if (typeof settings !== 'object' || settings === null)
    throw new UsageError('settings', 'Expected an object with settings, such as {ip: "ip"}.');
  if (signal !== undefined && typeof signal.addEventListener !== 'function')
    throw new UsageError('settings', 'signal: expected an AbortSignal.');
}

/** {@link prepareRun}. If the settings are not valid, also writes the metrics, which say that the run failed. */
async function prepared(settings: JobInput, options: RunJobOptions): Promise<ReturnType<typeof prepareRun>> {
  try {
    return prepareRun(settings, options);
  } catch (error) {
    const {env = process.env} = options;
    await writeUnparsedJobMetrics(settings, false, error, {env, now: Date.now, warn: warner(options)});
    throw error;
  }
}

/**
 * Checks the settings and resolves the job. `program`: the program's own rows, instead of the job's files.
 *
 * @throws {UsageError} if a setting is not valid.
 */
export function prepareRun(
  given: object,
  options: RunJobOptions,
  program?: ProgramIo,
): {readonly job: Job; readonly io: RunIo} {
  const {name, input, output, ...settings} = checkSettings(undefined, {...given}, formatPropertyPath);
  const {env = process.env, graceMs} = options;
  if (graceMs !== undefined && !(graceMs >= 0 && graceMs <= LONGEST_GRACE_MS))
    throw new UsageError('settings', `graceMs: expected 0 to ${LONGEST_GRACE_MS} milliseconds.`);
  const givenRows = program !== undefined;
  const job = resolveJob(
    {name, inputs: input, output, settings, fromFile: false, placeOf: formatPropertyPath, givenRows},
    env,
    false,
    warner(options),
  );
  return {
    job,
    io: {
      env,
      stdin: Readable.from([]),
      stdout: process.stdout,
      now: Date.now,
      random: Math.random,
      log: options.log ?? pino({level: 'silent'}, {write() {}}),
      warn: warner(options),
      program,
      ...(graceMs === undefined ? {} : {graceMs}),
    },
  };
}

function warner({onWarning}: RunJobOptions): RunIo['warn'] {
  return sentence => onWarning?.(formatForLibrary(sentence));
}

const LONGEST_GRACE_MS = 3_600_000;

/**
 * Starts the embedded service and loads its data.
 *
 * @throws {BulkEnrichError} if an option is not valid.
 */
export async function startService(options?: ServiceOptions): Promise<Service> {
  return (await import('../service/start.ts')).startService(options);
}
