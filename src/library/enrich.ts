import {Duplex} from 'node:stream';
import {BulkEnrichError, exitCodes} from '../errors.ts';
import type {RunOutcome} from '../run/run-outcome.ts';
import type {EnrichSettings, Known} from './enrich-settings.ts';
import type {Enriched} from './enriched.ts';
import {type RowGroups, readAhead, rowGroups} from './row-groups.ts';
import type {RunJobOptions} from './run-job.ts';
import {namesColumns, openShared, type SharedRun} from './shared-run.ts';

/** By so many rows the columns are found that the settings do not name, as a file's are. */
const FIRST_ROWS = 1_000;

/**
 * Enriches rows as they come: in order, each distinct value asked for once, paced, retried, and known answers taken from
 * the answer store. The caller's own objects come back, with `enrichment` added; what is no object, or too large, comes
 * with `enrichment.rejected`. Up to 64 MiB of rows are read ahead. Nothing is resumed: there is no file.
 *
 * @throws {BulkEnrichError} when the run can't start, or stops before all rows are done; {@link AbortError} when the
 * signal is aborted; what the rows themselves throw, as it is, once those before came out.
 */
export async function* enrich<Row extends object, const S extends EnrichSettings<Row>>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  settings: Known<S, EnrichSettings<Row>>,
  options: RunJobOptions = {},
): AsyncGenerator<Enriched<Row, S>, void, undefined> {
  const {shared, groups} = await opened(rowGroups(rows), settings, options);
  let outcome: RunOutcome | undefined;
  try {
    yield* shared.many(groups) as AsyncGenerator<Enriched<Row, S>>;
    shared.demandColumns();
    outcome = await shared.close();
  } finally {
    if (outcome === undefined) await shared.close(true);
  }
  if (outcome.exitCode === exitCodes.limit && outcome.summary !== undefined)
    throw new BulkEnrichError(
      outcome.summary.reason === 'drift' ? 'drift' : 'fail_if',
      outcome.exitCode,
      outcome.message,
    );
}

/** {@link enrich} as a stream in object mode: rows in, enriched rows out. */
export function enrichStream<const S extends EnrichSettings<object>>(
  settings: Known<S, EnrichSettings<object>>,
  options: RunJobOptions = {},
): Duplex {
  return Duplex.from((rows: AsyncIterable<object>) =>
    enrich(rows, settings as EnrichSettings<object>, options),
  );
}

/** Where columns are named, nothing is waited for; else the first rows show them. */
async function opened(
  groups: RowGroups,
  settings: object,
  options: RunJobOptions,
): Promise<{shared: SharedRun; groups: RowGroups}> {
  try {
    if (namesColumns(settings)) return {shared: await openShared(settings, options), groups};
    const {first, all} = await readAhead(groups, FIRST_ROWS, options.signal);
    return {shared: await openShared(settings, options, first), groups: all};
  } catch (error) {
    groups.close();
    throw error;
  }
}
