import {Duplex} from 'node:stream';
import {BulkEnrichError, exitCodes, toldInCode, UsageError} from '../errors.ts';
import {givenRows} from '../input/objects.ts';
import type {Source} from '../input/source.ts';
import {describeSettings} from '../job/settings.ts';
import {operationNames, operations} from '../operations/table.ts';
import {run} from '../run/run.ts';
import type {RunOutcome} from '../run/run-outcome.ts';
import type {Session} from '../run/session.ts';
import {Stopper} from '../run/stop.ts';
import type {EnrichSettings, OnlyKnown} from './enrich-settings.ts';
import type {Enriched} from './enriched.ts';
import {AbortError, onAbort, stopOnAbort} from './on-abort.ts';
import {readAhead, rowGroups} from './row-groups.ts';
import {errorOf, NOT_WANTED, RowsRun} from './rows-run.ts';
import {demandObjects, inSettings, prepareRun, type RunJobOptions} from './run-job.ts';

/** Number of first rows in which the run searches for columns if settings name none: as many as in a file. */
const FIRST_ROWS = 1_000;

/**
 * Enriches rows in order. Each distinct value is paid for once; calls are paced and retried; known answers
 * come from the answer store. The caller's own objects come back with `enrichment` added. An entry that is
 * not an object, or is too large, comes with `enrichment.rejected`. Up to 64 MiB of rows are read ahead. The
 * run saves no state, so it can't be resumed. Leaving the loop, `return()` and `throw()` end the run
 * immediately: nothing is sent afterwards.
 *
 * @throws {BulkEnrichError} if the run can't start, or stops, also after the last row; {@link AbortError} when
 * the signal is aborted; an error of the source, unchanged, after the rows before it.
 */
export function enrich<Row extends object, const S extends EnrichSettings<Row>>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  settings: OnlyKnown<S, EnrichSettings<Row>>,
  options: RunJobOptions = {},
): AsyncGenerator<Enriched<Row, S>, void, undefined> {
  const stopper = new Stopper();
  const enriched = enrichAll(rows, settings, options, stopper);
  return leavable(enriched as AsyncGenerator<Enriched<Row, S>>, () => stopper.stop(NOT_WANTED));
}

/**
 * {@link enrich} as a stream in object mode, which takes rows and gives enriched rows. Destroying the stream ends
 * the run. An aborted signal destroys the stream.
 */
export function enrichStream<const S extends EnrichSettings<object>>(
  settings: OnlyKnown<S, EnrichSettings<object>>,
  options: RunJobOptions = {},
): Duplex {
  const stream = Duplex.from((rows: AsyncIterable<object>) =>
    enrich(rows, settings as EnrichSettings<object>, options),
  );
  const {signal} = options;
  stream.once(
    'close',
    onAbort(signal, () => stream.destroy(signal && new AbortError(signal))),
  );
  return stream;
}

/**
 * Makes `return()` and `throw()` of the generator call `leave` at once. By themselves, they wait until the
 * requested row is done, and the run would pay for that row and for all calls made meanwhile.
 */
function leavable<Rows extends AsyncGenerator<unknown, unknown, unknown>>(
  rows: Rows,
  leave: () => void,
): Rows {
  const end = {return: rows.return.bind(rows), throw: rows.throw.bind(rows)};
  return Object.assign(rows, {
    return(value: unknown) {
      leave();
      return end.return(value);
    },
    throw(error: unknown) {
      leave();
      return end.throw(error);
    },
  });
}

async function* enrichAll(
  rows: Iterable<object> | AsyncIterable<object>,
  settings: object,
  options: RunJobOptions,
  stopper: Stopper,
): AsyncGenerator<object, void, undefined> {
  demandObjects(settings, options);
  const groups = rowGroups(rows);
  const release = stopOnAbort(stopper, options.signal);
  let begun: RowsRun | undefined;
  let outcome: RunOutcome | undefined;
  try {
    // If no setting names columns, they are searched for in the first rows.
    const {first, all} = await readAhead(groups, namesColumns(settings) ? 0 : FIRST_ROWS, stopper);
    if (stopper.reason === NOT_WANTED) return;
    begun = await begin(settings, options, givenRows(first, Array.isArray(rows) ? rows : undefined), stopper);
    yield* begun.takeAll(all);
    if (stopper.reason === NOT_WANTED) return;
    begun.demandColumns();
    outcome = await begun.close();
  } finally {
    groups.close();
    if (outcome === undefined) {
      stopper.stop(NOT_WANTED);
      await begun?.close();
    }
    release();
  }
  const {exitCode, summary, stop, message} = outcome;
  if (stop !== undefined) throw errorOf(stop);
  if (exitCode === exitCodes.limit)
    throw new BulkEnrichError(summary.reason === 'drift' ? 'drift' : 'fail_if', exitCode, message);
}

/**
 * Begins a run that lasts until it is closed or stopped. `source`: its first rows, in which it searches
 * for columns; all rows if they are an array.
 *
 * @throws {BulkEnrichError} if the run can't start.
 */
async function begin(
  settings: object,
  options: RunJobOptions,
  source: Source,
  stopper: Stopper,
): Promise<RowsRun> {
  try {
    if (stopper.reason?.error instanceof AbortError) throw stopper.reason.error;
    refuseOthers(settings);
    const {job, io} = prepareRun({...settings, input: '-', output: '-'}, options, source);
    return await new Promise<RowsRun>((resolve, reject) => {
      const work = (session: Session) => {
        const begun = new RowsRun(session, () => outcome);
        resolve(begun);
        return begun.untilClosed();
      };
      const outcome = run(job, io, stopper, undefined, work).then(inSettings);
      outcome.catch(reject);
    });
  } catch (error) {
    throw toldInCode(error);
  }
}

/** True if settings name a column to look up. If not, the run searches for columns in the rows. */
function namesColumns(settings: object): boolean {
  const given = new Map<string, unknown>(Object.entries(settings));
  return operationNames.some(name => given.get(operations[name].setting) !== undefined);
}

/** @throws {UsageError} for a setting that does not apply to rows from a program, such as `input`. */
function refuseOthers(settings: object): void {
  const given = new Set(Object.keys(settings));
  const others = describeSettings().filter(({uses}) => !uses.includes('library'));
  const other = ['input', 'output', ...others.map(({name}) => name)].find(name => given.has(name));
  if (other !== undefined)
    throw new UsageError('settings', `${other}: this setting does not apply to rows that a program gives.`);
}
