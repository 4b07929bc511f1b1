import {UsageError} from '../errors.ts';
import {anyOf, operationNames, operations} from '../operations/table.ts';
import type {Summary} from '../report/summary.ts';
import type {RunOutcome} from '../run/run-outcome.ts';
import type {EnrichSettings, OneOptions, OnlyKnown, RowFor} from './enrich-settings.ts';
import type {Enriched} from './enriched.ts';
import {namesColumns, openShared} from './open-shared.ts';
import {rowGroups} from './row-groups.ts';
import type {RunJobOptions} from './run-job.ts';
import {Turns} from './turns.ts';

/** Settings of an enricher. Its rows come one by one, so their columns must be named. */
export type EnricherSettings = Omit<EnrichSettings<Readonly<Record<string, unknown>>>, 'limit'>;

/** One run for many callers, who share connections, answers, calls in flight, rate, budget and counts. */
export interface Enricher<S = EnricherSettings> extends AsyncDisposable {
  /**
   * Enriches one row and returns it with `enrichment` added. Does not wait in an outage: a value that can't be
   * looked up is `skipped` with `outage`, or gets the last answer if the setting `stale` allows it. Each session
   * token makes its own call, so that a token that is used twice is noticed.
   *
   * @throws {BulkEnrichError} once the enricher has stopped or was closed; {@link AbortError} when a
   * signal is aborted.
   */
  one<Row extends object>(row: RowFor<Row, S>, options?: OneOptions): Promise<Enriched<Row, S>>;
  /**
   * Enriches many rows, in their order. In an outage, rows wait for its end, but for `maxOutage` at most. If a
   * session token repeats, the later rows make no call, and show it as redeemed.
   *
   * @throws what {@link one} throws, and the errors of `rows`.
   */
  many<Row extends object>(
    rows: Iterable<RowFor<Row, S>> | AsyncIterable<RowFor<Row, S>>,
  ): AsyncGenerator<Enriched<Row, S>, void, undefined>;
  /** Summary until now: rows, lookups, calls, credits. */
  summary(): Summary;
  /**
   * Takes no more rows, gives calls in flight time to finish, and ends the run. Resolves with the run's outcome.
   */
  close(): Promise<RunOutcome>;
}

/**
 * Opens an enricher. The caller has to close it.
 *
 * @throws {BulkEnrichError} if settings name no column to look up, or the enricher's run can't start.
 */
export async function createEnricher<const S extends EnricherSettings>(
  settings: OnlyKnown<S, EnricherSettings>,
  options: RunJobOptions = {},
): Promise<Enricher<S>> {
  if (!namesColumns(settings))
    throw new UsageError(
      'no_columns',
      `An enricher needs the names of its columns. Add at least one of ${anyOf(operationNames.map(name => operations[name].setting))}.`,
    );
  const {publishOn} = settings;
  const outlastsOutages = publishOn === undefined || publishOn.includes('outage');
  const shared = await openShared(settings, options, {outlastsOutages});
  const turns = new Turns();
  const enricher: Enricher = {
    one: (row, one) => shared.one(row, one) as Promise<never>,
    many: rows => shared.many(rowGroups(rows, turns)) as AsyncGenerator<never, void, undefined>,
    summary: () => shared.summary(),
    close: () => shared.close(),
    async [Symbol.asyncDispose]() {
      await shared.close();
    },
  };
  return enricher as unknown as Enricher<S>;
}
