import {BulkEnrichError, exitCodes, UsageError} from '../errors.ts';
import {givenRows, objectRecord} from '../input/objects.ts';
import {describeSettings} from '../job/settings.ts';
import {operationNames, operations} from '../operations/table.ts';
import type {Summary} from '../report/summary.ts';
import {summarize} from '../run/end/summarize.ts';
import {completedExit} from '../run/exit.ts';
import {keepsRejections} from '../run/open/answer-store.ts';
import {Feed} from '../run/rows/feed.ts';
import {callsEnd, checkLimits, run} from '../run/run.ts';
import type {RunOutcome} from '../run/run-outcome.ts';
import type {Session} from '../run/session.ts';
import {AbortError} from './abort-error.ts';
import {Enrichments} from './enrichment.ts';
import {NamedColumns} from './named-columns.ts';
import type {RowGroups} from './row-groups.ts';
import {inSettings, prepareRun, type RunJobOptions} from './run-job.ts';
import {ofSettings} from './spoken.ts';

/** For one row. */
export interface OneOptions {
  /** What is not known after so many milliseconds is `unknown`, and what was not sent by then is not sent. */
  readonly budgetMs?: number;
  /** Gives the row up: what was not sent is not sent. */
  readonly signal?: AbortSignal;
}

/** A run that lasts until it is closed, whose callers share its answers, pace, budget and books. */
export interface SharedRun {
  one(row: object, options?: OneOptions): Promise<object>;
  many(rows: RowGroups): AsyncGenerator<object>;
  /** How it stands; once closed, how it ended. */
  summary(): Summary;
  /** Throws UsageError for a column that no row had. */
  demandColumns(): void;
  /** Ends it; `abandoned`: its rows were not all wanted. Calls in flight get the grace that its options say. */
  close(abandoned?: boolean): Promise<RunOutcome>;
}

/** Opens it. `first` are the rows by which columns are found that the settings do not name. Throws BulkEnrichError. */
export async function openShared(
  settings: object,
  options: RunJobOptions,
  first: readonly unknown[] = [],
): Promise<SharedRun> {
  const {signal} = options;
  if (signal?.aborted === true) throw new AbortError(signal);
  try {
    refuseOthers(settings);
    const sample = first.map((row, index) => objectRecord(row, index + 1, Number.POSITIVE_INFINITY));
    const prepared = prepareRun({...settings, input: '-', output: '-'}, options, givenRows(sample));
    return await new Promise<SharedRun>((resolve, reject) => {
      const {job, io, stopper, release} = prepared;
      const work = (session: Session) => {
        const shared = new Shared(session, () => outcome);
        resolve(shared);
        return shared.untilClosed();
      };
      const outcome = run(job, io, stopper, undefined, work).then(inSettings).finally(release);
      outcome.catch(reject);
    });
  } catch (error) {
    throw ofSettings(error);
  }
}

/** Whether settings say what is looked up; else the rows have to show it. */
export function namesColumns(settings: object): boolean {
  const given = new Map<string, unknown>(Object.entries(settings));
  return operationNames.some(name => given.get(operations[name].setting) !== undefined);
}

/** @throws {UsageError} for settings of files, which rows of a program have no use for. */
function refuseOthers(settings: object): void {
  const given = new Set(Object.keys(settings));
  const others = describeSettings().filter(({uses}) => !uses.includes('library'));
  const other = ['input', 'output', ...others.map(({name}) => name)].find(name => given.has(name));
  if (other !== undefined)
    throw new UsageError('settings', `${other}: rows that a program gives have no such setting.`);
}

function abortionOf(signal: AbortSignal | undefined): AbortError | undefined {
  return signal?.aborted === true ? new AbortError(signal) : undefined;
}

const OUT_OF_TIME = {status: 'unknown', error: 'out_of_time'} as const;
const LONGEST_BUDGET_MS = 2 ** 31 - 1;

class Shared implements SharedRun {
  readonly #session: Session;
  readonly #outcome: () => Promise<RunOutcome>;
  readonly #enrichments: Enrichments;
  readonly #columns: NamedColumns;
  readonly #feeds = new Set<Feed>();
  readonly #closed: Promise<void>;
  #close = () => {};
  #isClosed = false;
  #ended: RunOutcome | undefined;
  /** Rows that were given, by which they are numbered. */
  #rows = 0;

  constructor(session: Session, outcome: () => Promise<RunOutcome>) {
    this.#session = session;
    this.#outcome = outcome;
    this.#enrichments = new Enrichments(session.layout);
    this.#columns = new NamedColumns(session.layout.mapping, session.io.warn);
    this.#closed = new Promise(resolve => {
      this.#close = resolve;
    });
  }

  /** The run's work: its callers'. */
  async untilClosed(): Promise<void> {
    const {stopper} = this.#session;
    await stopper.unlessStopped(this.#closed);
    this.#isClosed = true;
    // Who aborts wants nothing more; what was complete by another end still comes out.
    if (stopper.reason?.error instanceof AbortError) this.#leaveAll();
    await callsEnd(this.#session);
    this.#leaveAll();
  }

  async one(row: object, {budgetMs, signal}: OneOptions = {}): Promise<object> {
    if (budgetMs !== undefined && !(budgetMs >= 0 && budgetMs <= LONGEST_BUDGET_MS))
      throw new UsageError('settings', `budgetMs: expected 0 to ${LONGEST_BUDGET_MS} milliseconds.`);
    const aborted = abortionOf(signal);
    if (aborted !== undefined) throw aborted;
    const feed = this.#begin();
    const abort = () => feed.leave();
    const timer = budgetMs === undefined ? undefined : setTimeout(() => feed.giveUp(OUT_OF_TIME), budgetMs);
    signal?.addEventListener('abort', abort);
    const failures: unknown[] = [];
    try {
      this.#give(feed, [row], 0).catch(error => {
        failures.push(error);
        feed.leave();
      });
      const [fed] = (await feed.take()) ?? [];
      if (fed !== undefined) return this.#enrichments.attach(fed, 0);
      for (const error of failures) throw ofSettings(error);
      throw abortionOf(signal) ?? this.#reason();
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      this.#leave(feed);
    }
  }

  async *many(groups: RowGroups): AsyncGenerator<object> {
    const feed = this.#begin();
    let isRead = false;
    let failed: {readonly error: unknown} | undefined;
    const reading = async () => {
      try {
        isRead = await this.#read(groups, feed);
      } catch (error) {
        failed = {error};
      }
      feed.end();
    };
    void reading();
    try {
      let index = 0;
      for (let ready = await feed.take(); ready !== undefined; ready = await feed.take()) {
        checkLimits(this.#session);
        for (const fed of ready) {
          if (this.#abortion !== undefined) throw this.#abortion;
          yield this.#enrichments.attach(fed, index++);
        }
      }
      if (failed !== undefined) throw ofSettings(failed.error);
      if (!isRead || feed.open > 0) throw this.#reason();
    } finally {
      groups.close();
      this.#leave(feed);
    }
  }

  summary(): Summary {
    if (this.#ended?.summary !== undefined) return this.#ended.summary;
    const {exitCode, reason} = completedExit(
      this.#session.writer.counters,
      keepsRejections(this.#session.job),
    );
    const status = exitCode === exitCodes.ok ? 'completed' : 'partial';
    return summarize(this.#session, {exitCode, reason, status}, {output: null, rejects: null});
  }

  demandColumns(): void {
    try {
      this.#columns.demandSeen();
    } catch (error) {
      throw ofSettings(error);
    }
  }

  async close(abandoned = false): Promise<RunOutcome> {
    if (abandoned)
      this.#session.stopper.stop({
        status: 'interrupted',
        reason: 'signal',
        exitCode: exitCodes.interrupted,
        message: 'The rest of the rows was not wanted.',
      });
    this.#isClosed = true;
    this.#close();
    this.#ended = await this.#outcome();
    return this.#ended;
  }

  /** True once all rows were read and given; false where the run stopped before. */
  async #read(groups: RowGroups, feed: Feed): Promise<boolean> {
    const {stopper, job} = this.#session;
    const {limit = Number.POSITIVE_INFINITY} = job.settings;
    for (let index = 0; stopper.reason === undefined && index < limit; ) {
      const group = await stopper.unlessStopped(groups.next());
      if (group === undefined) break;
      await this.#give(feed, group.slice(0, limit - index), index);
      index += group.length;
    }
    return stopper.reason === undefined;
  }

  /** The first of the rows has this index among its caller's. One that can't be given ends the others behind it. */
  async #give(feed: Feed, rows: readonly unknown[], index: number): Promise<void> {
    let fitting = 0;
    try {
      for (const row of rows) {
        this.#enrichments.demandRoom(row, index + fitting);
        this.#columns.see(row);
        fitting += 1;
      }
    } finally {
      const first = this.#rows + 1;
      this.#rows += fitting;
      await feed.give(rows.slice(0, fitting), first);
    }
  }

  #begin(): Feed {
    if (this.#isClosed || this.#session.stopper.reason !== undefined) throw this.#reason();
    const feed = new Feed(this.#session);
    this.#feeds.add(feed);
    return feed;
  }

  #leave(feed: Feed): void {
    feed.leave();
    this.#feeds.delete(feed);
  }

  #leaveAll(): void {
    for (const feed of this.#feeds) feed.leave();
  }

  get #abortion(): AbortError | undefined {
    const {reason} = this.#session.stopper;
    return reason?.error instanceof AbortError ? reason.error : undefined;
  }

  /** Why nothing more comes. */
  #reason(): unknown {
    const {reason: stop} = this.#session.stopper;
    if (stop === undefined)
      return new BulkEnrichError(
        'closed',
        exitCodes.interrupted,
        'It was closed before this row had its answers.',
      );
    if (stop.error instanceof AbortError) return stop.error;
    return ofSettings(new BulkEnrichError(stop.reason, stop.exitCode, stop.message, {cause: stop.error}));
  }
}
