import {EventEmitter, once} from 'node:events';
import {Duplex} from 'node:stream';
import {onAbort} from '../client/on-abort.ts';
import {BulkEnrichError, exitCodes, rewordForLibrary, UsageError} from '../errors.ts';
import {describeSettings} from '../job/settings.ts';
import {operationNames, operations} from '../operations/table.ts';
import type {Summary} from '../report/summary.ts';
import type {RunOutcome, Stop} from '../run/exit.ts';
import {type ProgramIo, RowsError} from '../run/io.ts';
import type {Layout} from '../run/layout/layout.ts';
import {run} from '../run/run.ts';
import {Stopper} from '../run/stop.ts';
import type {Said} from '../sentence.ts';
import {attachResults, type Enriched, type EnrichSettings, type OnlyKnown} from './enriched.ts';
import {ProgramRowsSource} from './given-rows.ts';
import {
  AbortError,
  checkRunArguments,
  prepareRun,
  type RunJobOptions,
  reportProgress,
  stopOnAbort,
  throwOwnError,
} from './run-job.ts';

/** Number of first rows in which the run searches for columns: as many as in a file. */
const FIRST_ROWS = 1_000;

/** The reason with which a run stops if its caller takes no more rows. */
const NOT_WANTED: Stop = {
  status: 'interrupted',
  reason: 'signal',
  exitCode: exitCodes.interrupted,
  message: 'The caller did not want the other rows.',
};

/** Enriched rows, and the run's summary as the result of the last `next()`. */
export interface EnrichedRows<Row> extends AsyncGenerator<Row, Summary, undefined> {
  return(value?: Summary | PromiseLike<Summary>): Promise<IteratorResult<Row, Summary>>;
}

/**
 * Enriches rows in order. Each distinct value is paid for once; calls are paced and retried; known answers
 * come from the answer store. The caller's own objects come back with `enrichment` added. An entry that is
 * not an object, or is too large, comes with `enrichment.rejected`. The run saves no state, so it can't be
 * resumed. Leaving the loop, `return()` and `throw()` end the run immediately, and nothing is sent afterwards. Only
 * if several `next()` wait, their rows come first.
 *
 * While the caller uses a row, up to 768 rows behind it are read and paid for; with `store: false` at most
 * `concurrency` + 32. While the caller waits for a slow row, up to 64 MiB of rows are read behind it.
 *
 * @throws {BulkEnrichError} if the run can't start, or stops, also after the last row; {@link AbortError} when
 * the signal is aborted. Both have the `summary` of a run that had started. An error of the source comes unchanged,
 * after the rows before it.
 */
export function enrich<Row extends object, const S extends EnrichSettings<Row>>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  settings: OnlyKnown<S, EnrichSettings<Row>>,
  options: RunJobOptions = {},
): EnrichedRows<Enriched<Row, S>> {
  return startRows(rows, settings, options) as EnrichedRows<Enriched<Row, S>>;
}

/**
 * {@link enrich} as a stream in object mode, which takes rows and gives enriched rows. After the last row it emits
 * `summary` with the run's {@link Summary}. Destroying the stream ends the run. An aborted signal destroys the
 * stream at once, with an {@link AbortError} that has no summary.
 *
 * @throws {BulkEnrichError} for a wrong option. The stream has the other errors of {@link enrich}.
 */
export function enrichStream<const S extends EnrichSettings<object>>(
  settings: OnlyKnown<S, EnrichSettings<object>>,
  options: RunJobOptions = {},
): Duplex {
  checkRunArguments(settings, options);
  const stream = Duplex.from((rows: AsyncIterable<object>) =>
    startRows(rows, settings, options, summary => stream.emit('summary', summary)),
  );
  const {signal} = options;
  stream.once(
    'close',
    onAbort(signal, () => stream.destroy(signal && new AbortError(signal))),
  );
  return stream;
}

/**
 * By themselves, `return()` and `throw()` wait until the requested row is done, and the run would pay for that row
 * and for all calls made meanwhile. So they stop the run at once, unless several rows are requested: these come
 * first.
 */
function startRows(
  rows: Iterable<object> | AsyncIterable<object>,
  settings: object,
  options: RunJobOptions,
  onSummary?: (summary: Summary) => void,
): AsyncGenerator<object, Summary | undefined, undefined> {
  const stopper = new Stopper();
  const requests = {open: 0};
  const enriched = enrichAll(rows, settings, options, stopper, requests, onSummary);
  const {next, return: end, throw: fail} = enriched;
  const leave = <T>(ending: () => T) => {
    if (requests.open < 2) stopper.stop(NOT_WANTED);
    return ending();
  };
  return Object.assign(enriched, {
    next() {
      requests.open += 1;
      return next.call(enriched);
    },
    return: (value?: Summary) => leave(() => end.call(enriched, value)),
    throw: (error: unknown) => leave(() => fail.call(enriched, error)),
  });
}

/** `requests.open`: number of rows that the caller has asked for and not got yet. */
async function* enrichAll(
  rows: Iterable<object> | AsyncIterable<object>,
  settings: object,
  options: RunJobOptions,
  stopper: Stopper,
  requests: {open: number},
  onSummary: ((summary: Summary) => void) | undefined,
): AsyncGenerator<object, Summary | undefined, undefined> {
  checkRunArguments(settings, options);
  const given = new ProgramRowsSource(rows);
  const release = stopOnAbort(stopper, options.signal);
  const results = new Results();
  let running: Promise<RunOutcome<Said>> | undefined;
  try {
    // If no setting names columns, they are searched for in the first rows.
    await given.readAhead(namesColumns(settings) ? 0 : FIRST_ROWS, stopper);
    if (stopper.reason === NOT_WANTED) return undefined;
    if (stopper.reason?.error instanceof AbortError) throw stopper.reason.error;
    running = runGiven(settings, options, given, results, stopper).finally(() => results.end());
    running.catch(() => {});
    for (let group = await results.take(); group !== undefined; group = await results.take())
      for (const row of group) {
        if (given.turns.isOver) await given.turns.next();
        if (hasLeft(stopper)) break;
        requests.open -= 1;
        yield row();
      }
    if (stopper.reason === NOT_WANTED) return undefined;
    const outcome = await running;
    throwOwnError(stopper);
    const {summary} = throwIfFailed(outcome);
    onSummary?.(summary);
    return summary;
  } catch (error) {
    throw rewordForLibrary(error);
  } finally {
    given.close();
    // Calls in flight have `graceMs` to finish.
    if (!results.isOver) stopper.stop(NOT_WANTED);
    await running?.catch(() => {});
    release();
  }
}

async function runGiven(
  settings: object,
  options: RunJobOptions,
  given: ProgramRowsSource,
  results: Results,
  stopper: Stopper,
): Promise<RunOutcome<Said>> {
  refuseFileSettings(settings);
  let layout: Layout;
  const {source, list} = given;
  const program: ProgramIo = {
    source,
    list,
    give(group) {
      if (hasLeft(stopper)) throw new Error('the program has left its rows');
      results.give(group.map(row => () => attachResults(given.release(row), layout)));
    },
    used: () => results.used(),
    end: () => given.demandColumns(),
  };
  const {job, io} = prepareRun({...settings, input: '-', output: '-'}, options, stopper, program);
  return run(job, io, stopper, session => {
    layout = session.input.layout;
    given.expect(layout.mapping, io.warn);
    return reportProgress(session, options, stopper);
  });
}

/** Rows that the program has not taken yet, in input order. Each gets its results when it is taken. */
class Results {
  isOver = false;
  readonly #groups: (readonly (() => object)[])[] = [];
  readonly #events = new EventEmitter<{rows: []; waiting: []}>();
  /** True while the program waits for more rows. */
  #isWaiting = false;

  give(group: readonly (() => object)[]): void {
    this.#groups.push(group);
    this.#isWaiting = false;
    this.#events.emit('rows');
  }

  end(): void {
    this.isOver = true;
    this.#events.emit('rows');
  }

  /** Resolves once the program has used all rows that it was given, and waits for the next. */
  async used(): Promise<void> {
    while (!this.#isWaiting) await once(this.#events, 'waiting');
  }

  /** Resolves with the next rows; with undefined after the end. */
  async take(): Promise<readonly (() => object)[] | undefined> {
    while (this.#groups.length === 0 && !this.isOver) {
      this.#isWaiting = true;
      this.#events.emit('waiting');
      await once(this.#events, 'rows');
    }
    return this.#groups.shift();
  }
}

/** True if the caller left the loop or aborted. Such a caller takes nothing more, not even finished rows. */
function hasLeft({reason}: Stopper): boolean {
  return reason === NOT_WANTED || reason?.error instanceof AbortError;
}

/** Throws if the run stopped, or its results exceed a limit. */
function throwIfFailed(outcome: RunOutcome<Said>): RunOutcome<Said> {
  const {stop, exitCode, summary} = outcome;
  if (stop === undefined && exitCode !== exitCodes.limit) return outcome;
  const error = errorOf(outcome);
  // An error of the source may be that of another run. Not enumerable: who prints the error would print a page.
  if (error instanceof BulkEnrichError && error.summary === undefined)
    Object.defineProperty(error, 'summary', {value: summary});
  throw error;
}

function errorOf({stop, exitCode, summary, message}: RunOutcome<Said>): unknown {
  if (stop === undefined)
    return new BulkEnrichError(summary.reason === 'drift' ? 'drift' : 'fail_if', exitCode, message);
  const {error} = stop;
  if (error instanceof RowsError) return error.cause;
  if (error instanceof AbortError) return error;
  return new BulkEnrichError(stop.reason, stop.exitCode, stop.message, {cause: error});
}

/** True if settings name a column to look up. If not, the run searches for columns in the rows. */
function namesColumns(settings: object): boolean {
  const values = new Map<string, unknown>(Object.entries(settings));
  return operationNames.some(name => values.get(operations[name].setting) !== undefined);
}

/** @throws {UsageError} for a setting that does not apply to rows from a program, such as `input`. */
function refuseFileSettings(settings: object): void {
  const names = new Set(Object.keys(settings));
  const others = describeSettings().filter(({uses}) => !uses.includes('library'));
  const other = ['input', 'output', ...others.map(({name}) => name)].find(name => names.has(name));
  if (other !== undefined)
    throw new UsageError('settings', `${other}: this setting does not apply to rows that a program gives.`);
}
