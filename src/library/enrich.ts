import {createInterface} from 'node:readline';
import {Duplex, PassThrough, Readable} from 'node:stream';
import {BulkEnrichError} from '../errors.ts';
import type {JobInput, NamesFor} from '../job/settings.ts';
import type {AnswerData, Operation} from '../operations/table.ts';
import type {Risk} from '../score/risk.ts';
import {type RunJobOptions, runOn} from './run-job.ts';

/** Settings of a run whose rows come from and go to the program itself. */
export type EnrichSettings = Pick<JobInput, 'name' | NamesFor<'library'>>;

/** What became of one lookup. */
export interface LookupResult<Data = Readonly<Record<string, unknown>>> {
  readonly status: 'ok' | 'empty' | 'invalid' | 'failed' | 'unknown' | 'skipped';
  /** A stable code where the status is not `ok` or `empty`. */
  readonly error: string | null;
  /** The answer's fields, as the interface names them. */
  /** Whether the answer is past its age, as the service can't be asked; where the settings allow that (`stale`). */
  readonly stale?: boolean | null;
  readonly data: Readonly<Data> | null;
}

/** What is known of a row: by operation, or by column where several are looked up alike; and its risk, unless `score` is `none`. */
export type Enrichment = Readonly<Record<string, LookupResult>> & {
  readonly [Name in Operation]?: LookupResult<AnswerData<Name>>;
} & {readonly risk?: Risk};

/** A row with what is known of it. */
export type Enriched<Row> = Row & {readonly enrichment: Enrichment};

/**
 * Enriches rows as they come: in order, each distinct value asked for once, paced, retried, and known answers taken from
 * the answer store. Rows are plain JSON objects; up to 64 MiB of them are read ahead. Nothing is resumed: there is no file.
 *
 * @throws {BulkEnrichError} when the run can't start, or stops before all rows are done.
 */
export async function* enrich<Row extends object>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  settings: EnrichSettings,
  options: RunJobOptions = {},
): AsyncGenerator<Enriched<Row>> {
  const iterator = lines(rows);
  const first = await iterator.next();
  if (first.done === true) return;
  const abandoned = new AbortController();
  const signal =
    options.signal === undefined ? abandoned.signal : AbortSignal.any([options.signal, abandoned.signal]);
  const stdin = Readable.from(beginningWith(first.value, iterator));
  const stdout = new PassThrough();
  // A row that can't be read has no place among the rows that come out, so it ends the run.
  const own = {
    input: '-',
    output: '-',
    inputFormat: 'ndjson',
    outputFormat: 'ndjson',
    maxRejects: 0,
  } as const;
  const job = {...settings, ...own};
  const running = runOn(job, {...options, signal}, stdin, stdout).finally(() => stdout.end());
  running.catch(() => {});
  try {
    for await (const line of createInterface({input: stdout, crlfDelay: Number.POSITIVE_INFINITY})) {
      yield JSON.parse(line) as Enriched<Row>;
    }
    const {stop} = await running;
    if (stop !== undefined)
      throw new BulkEnrichError(stop.reason, stop.exitCode, stop.message, {cause: stop.error});
  } finally {
    abandoned.abort();
    stdout.resume();
    await running.catch(() => {});
    stdin.destroy();
  }
}

/** {@link enrich} as a stream in object mode: rows in, enriched rows out. */
export function enrichStream(settings: EnrichSettings, options: RunJobOptions = {}): Duplex {
  return Duplex.from((rows: AsyncIterable<object>) => enrich(rows, settings, options));
}

async function* beginningWith(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}

async function* lines(rows: Iterable<object> | AsyncIterable<object>): AsyncGenerator<string> {
  for await (const row of rows) yield `${JSON.stringify(row)}\n`;
}
