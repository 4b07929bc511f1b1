import {Duplex} from 'node:stream';
import {BulkEnrichError, exitCodes} from '../errors.ts';
import type {RunOutcome} from '../run/run-outcome.ts';
import {Stopper} from '../run/stop.ts';
import type {EnrichSettings, OnlyKnown} from './enrich-settings.ts';
import type {Enriched} from './enriched.ts';
import {leavable, NOT_WANTED} from './leaving.ts';
import {AbortError, onAbort, stopOnAbort} from './on-abort.ts';
import {namesColumns, openShared} from './open-shared.ts';
import {type RowGroups, readAhead, rowGroups} from './row-groups.ts';
import type {RunJobOptions} from './run-job.ts';
import {errorOf, type SharedRun} from './shared-run.ts';
import {Turns} from './turns.ts';

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

async function* enrichAll(
  rows: Iterable<object> | AsyncIterable<object>,
  settings: object,
  options: RunJobOptions,
  stopper: Stopper,
): AsyncGenerator<object, void, undefined> {
  const begun = await opened(rowGroups(rows, new Turns()), settings, options, stopper);
  if (begun === undefined) return;
  const {shared, groups} = begun;
  let outcome: RunOutcome | undefined;
  try {
    yield* shared.many(groups);
    if (stopper.reason === NOT_WANTED) return;
    shared.demandColumns();
    outcome = await shared.close();
  } finally {
    if (outcome === undefined) {
      stopper.stop(NOT_WANTED);
      await shared.close();
    }
  }
  const {exitCode, summary, stop, message} = outcome;
  if (stop !== undefined) throw errorOf(stop);
  if (exitCode === exitCodes.limit)
    throw new BulkEnrichError(summary?.reason === 'drift' ? 'drift' : 'fail_if', exitCode, message);
}

/**
 * Opens the run. If no setting names columns, reads some rows first, to detect the columns. Undefined if the
 * caller left meanwhile.
 */
async function opened(
  groups: RowGroups,
  settings: object,
  options: RunJobOptions,
  stopper: Stopper,
): Promise<{shared: SharedRun; groups: RowGroups} | undefined> {
  const release = stopOnAbort(stopper, options.signal);
  try {
    const {first, all} = await readAhead(groups, namesColumns(settings) ? 0 : FIRST_ROWS, stopper);
    if (stopper.reason !== NOT_WANTED)
      return {shared: await openShared(settings, options, {stopper, first}), groups: all};
    groups.close();
    return undefined;
  } catch (error) {
    groups.close();
    throw error;
  } finally {
    release();
  }
}
