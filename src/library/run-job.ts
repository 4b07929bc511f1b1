import {Readable} from 'node:stream';
import {pino} from 'pino';
import {onAbort} from '../client/on-abort.ts';
import {BulkEnrichError, exitCodes, rewordForLibrary, UsageError} from '../errors.ts';
import {
  checkOptions,
  isAbortSignal,
  isFunction,
  milliseconds,
  type OptionChecks,
} from '../job/check-options.ts';
import type {Env} from '../job/endpoint.ts';
import {type Job, resolveJob} from '../job/job.ts';
import type {EventLog} from '../job/log-events.ts';
import {checkSettings, formatPropertyPath} from '../job/parse.ts';
import {totalSpending} from '../ledger/run/tally.ts';
import {recordOf} from '../operations/operation.ts';
import {spendingInCredits} from '../run/end/history.ts';
import {writeUnparsedJobMetrics} from '../run/end/report-files.ts';
import type {RunOutcome} from '../run/exit.ts';
import {type ProgramIo, RowsError, type RunIo} from '../run/io.ts';
import {run} from '../run/run.ts';
import {countFinishedRows, type Session} from '../run/session.ts';
import {makeErrorStop, Stopper} from '../run/stop.ts';
import {formatForLibrary} from '../sentence.ts';
import type {Service, ServiceOptions} from '../service/start.ts';
import type {JobInput} from './job-input.ts';

/** Thrown if the caller's signal ended the run: `cause` is its reason. Paid answers are kept. Exit code 130. */
export class AbortError extends BulkEnrichError {
  constructor(signal: AbortSignal) {
    super('aborted', exitCodes.interrupted, 'The run was aborted by its signal.', {cause: signal.reason});
  }
}

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

/** An error that one of these functions throws ends the run, and comes out of it. */
export interface RunJobOptions {
  /** Variables for endpoint, key and directories; `process.env` by default. */
  readonly env?: Env | undefined;
  /** Stops the run with its state saved, like SIGINT. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Milliseconds that calls in flight have to finish when the run stops; 5,000 by default. Calls without an answer
   * by then count as maybe spent; with 0, all in flight do.
   */
  readonly graceMs?: number | undefined;
  /**
   * Receives warnings while the run is under way. By default they are warnings of the process, of the type
   * `BulkEnrichWarning`: each kind once.
   */
  readonly onWarning?: ((sentence: string) => void) | undefined;
  /** Receives the run's figures: at most four times a second, and at its end. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Receives the log: a pino log, or `console`. Without `isLevelEnabled` it gets no log of single lookups. */
  readonly log?: (Omit<EventLog, 'isLevelEnabled'> & Partial<EventLog>) | undefined;
}

export interface Progress {
  /** Rows that have their results, or were rejected. */
  readonly rows: number;
  /** Calls made, retries included: of a resumed job also those of its earlier sessions, as in `credits`. */
  readonly calls: number;
  readonly credits: {readonly spent: number; readonly maybe_spent: number};
}

/**
 * Runs one job, as `bulk-enrich run` does. The settings are those of a job file, in camel case.
 * @throws {BulkEnrichError} if the run can't start. The outcome tells how a started run ended.
 */
export async function runJob(settings: JobInput, options: RunJobOptions = {}): Promise<RunOutcome> {
  try {
    checkRunArguments(settings, options);
    const stopper = new Stopper();
    const {job, io} = await prepareJob(settings, options, stopper);
    const release = stopOnAbort(stopper, options.signal);
    const watch = (session: Session) => reportProgress(session, options, stopper);
    const outcome = await run(job, {...io, stdin: process.stdin}, stopper, watch).finally(release);
    throwOwnError(stopper);
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

const LONGEST_GRACE_MS = 3_600_000;
const LOG_METHODS = ['error', 'warn', 'info', 'debug'] as const;

const optionChecks: OptionChecks<RunJobOptions> = {
  signal: ['an AbortSignal', isAbortSignal],
  graceMs: milliseconds(0, LONGEST_GRACE_MS),
  onWarning: ['a function', isFunction],
  onProgress: ['a function', isFunction],
  log: [
    `a log with the methods ${LOG_METHODS.join(', ')}, such as console`,
    log => LOG_METHODS.every(name => isFunction(Object(log)[name])),
  ],
  env: ['an object, such as process.env', env => typeof env === 'object' && env !== null],
};

/** @throws {UsageError} for what can be neither settings nor options, as a program without types may give it. */
export function checkRunArguments(settings: unknown, options: RunJobOptions): void {
  checkOptions(options, optionChecks);
  if (typeof settings !== 'object' || settings === null)
    throw new UsageError('settings', 'Expected an object with settings, such as {ip: "ip"}.');
}

/** With one more report at the end, four in a second. */
const PROGRESS_EVERY_MS = 334;

/** Returns a function of the program whose error, or that of its promise, ends the run: it would end the process. */
function endingRun<Args extends readonly unknown[]>(
  stopper: Stopper,
  call: (...args: Args) => unknown,
): (...args: Args) => void {
  const end = (error: unknown) => stopper.stop(makeErrorStop(new RowsError(error)));
  return (...args) => {
    try {
      const called = call(...args);
      if (called instanceof Promise) called.catch(end);
    } catch (error) {
      end(error);
    }
  };
}

/** @throws the error of a function of the program, unchanged, if there was one */
export function throwOwnError({reason}: Stopper): void {
  if (reason?.error instanceof RowsError) throw reason.error.cause;
}

/** Reports the figures of a run. Returns the last report. */
export function reportProgress(
  {asking, output}: Session,
  {onProgress}: RunJobOptions,
  stopper: Stopper,
): () => void {
  if (onProgress === undefined) return () => {};
  const report = endingRun(stopper, () => {
    const spending = totalSpending(asking.ledger.spending);
    const rows = countFinishedRows(output.writer);
    return onProgress({rows, calls: spending.calls, credits: spendingInCredits(spending)});
  });
  const timer = setInterval(report, PROGRESS_EVERY_MS).unref();
  return () => {
    clearInterval(timer);
    report();
  };
}

/** {@link prepareRun}. If the settings are not valid, also writes the metrics, which say that the run failed. */
async function prepareJob(
  settings: JobInput,
  options: RunJobOptions,
  stopper: Stopper,
): Promise<ReturnType<typeof prepareRun>> {
  try {
    return prepareRun(settings, options, stopper);
  } catch (error) {
    const {env = process.env} = options;
    await writeUnparsedJobMetrics(settings, false, error, {env, now: Date.now, warn: createWarner(options)});
    throw error;
  }
}

/** `program`: the program's own rows, instead of the job's files. @throws {UsageError} if a setting is not valid */
export function prepareRun(
  given: object,
  options: RunJobOptions,
  stopper: Stopper,
  program?: ProgramIo,
): {readonly job: Job; readonly io: RunIo} {
  const {name, input, output, ...settings} = checkSettings(undefined, {...given}, formatPropertyPath);
  const {env = process.env, graceMs} = options;
  const givenRows = program !== undefined;
  const warn = endingRun(stopper, createWarner(options));
  const job = resolveJob(
    {name, inputs: input, output, settings, fromFile: false, placeOf: formatPropertyPath, givenRows},
    env,
    false,
    warn,
  );
  return {
    job,
    io: {
      env,
      stdin: Readable.from([]),
      stdout: process.stdout,
      now: Date.now,
      random: Math.random,
      log: createEventLog(options.log ?? pino({level: 'silent'}, {write() {}}), stopper),
      warn,
      program,
      ...(graceMs === undefined ? {} : {graceMs}),
    },
  };
}

function createEventLog(log: NonNullable<RunJobOptions['log']>, stopper: Stopper): EventLog {
  const isLevelEnabled = log.isLevelEnabled ?? (level => level !== 'debug');
  const method = (name: (typeof LOG_METHODS)[number]) =>
    endingRun(stopper, (fields: object, message: string) => log[name](fields, message));
  return {isLevelEnabled: isLevelEnabled.bind(log), ...recordOf(LOG_METHODS, method)};
}

function createWarner({onWarning = warnOnce}: RunJobOptions): RunIo['warn'] {
  return sentence => onWarning(formatForLibrary(sentence));
}

/** Codes of the warnings that this process has had: like Node's own, each comes once, however many runs there are. */
const warned = new Set<string>();

/** Warns as Node's own APIs do. The code has the sentence's first words, without names, paths and numbers. */
function warnOnce(sentence: string): void {
  const words = sentence.replace(/"[^"]*"|\S*\/\S*/g, '').match(/[a-z]+/gi) ?? [];
  const code = ['bulk', 'enrich', ...words.slice(0, 6)].join('_').toUpperCase();
  if (warned.has(code)) return;
  warned.add(code);
  process.emitWarning(sentence, {type: 'BulkEnrichWarning', code});
}

/** Starts the embedded service. @throws {BulkEnrichError} if an option is not valid. */
export async function startService(options?: ServiceOptions): Promise<Service> {
  return (await import('../service/start.ts')).startService(options);
}
