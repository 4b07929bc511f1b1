import {BulkEnrichError, exitCodes, UsageError} from '../errors.ts';
import type {Summary} from '../report/summary.ts';
import {summarize} from '../run/end/summarize.ts';
import {completedExit} from '../run/exit.ts';
import {keepsRejections} from '../run/open/answer-store.ts';
import {Feed} from '../run/rows/feed.ts';
import {callsEnd, checkLimits} from '../run/run.ts';
import type {RunOutcome} from '../run/run-outcome.ts';
import type {Session} from '../run/session.ts';
import type {Stop, Stopper} from '../run/stop.ts';
import type {OneOptions} from './enrich-settings.ts';
import {Enrichments} from './enrichment.ts';
import {isLeft, leavable, NOT_WANTED} from './leaving.ts';
import {ExpectedColumns} from './named-columns.ts';
import {AbortError, stopOnAbort} from './on-abort.ts';
import type {RowGroups} from './row-groups.ts';
import {ofSettings} from './spoken.ts';

const OUT_OF_TIME = {status: 'unknown', error: 'out_of_time'} as const;
const LONGEST_BUDGET_MS = 2 ** 31 - 1;

/** A run that lasts until it is closed. Its callers share its answers, pace, budget and counts. */
export class SharedRun {
  readonly #session: Session;
  readonly #outcome: () => Promise<RunOutcome>;
  readonly #enrichments: Enrichments;
  readonly #columns: ExpectedColumns;
  readonly #feeds = new Set<Feed>();
  readonly #closed: Promise<void>;
  #close = () => {};
  #isClosed = false;
  #ended: RunOutcome | undefined;
  /** Number of rows that all callers gave, which is also the number of the last row. */
  #rows = 0;

  constructor(session: Session, outcome: () => Promise<RunOutcome>) {
    this.#session = session;
    this.#outcome = outcome;
    this.#enrichments = new Enrichments(session.input.layout);
    this.#columns = new ExpectedColumns(session.input.layout.mapping, session.io.warn);
    this.#closed = new Promise(resolve => {
      this.#close = resolve;
    });
  }

  /**
   * Resolves once the run is closed or stopped, and calls in flight have ended or their grace period is over.
   */
  async untilClosed(): Promise<void> {
    const {stopper} = this.#session;
    await stopper.unlessStopped(this.#closed);
    this.#isClosed = true;
    // While calls end, callers can still take finished rows.
    await callsEnd(this.#session);
    for (const feed of this.#feeds) feed.leave();
  }

  /** Enriches one row, without waiting for the end of an outage. */
  async one(row: object, {budgetMs, signal}: OneOptions = {}): Promise<object> {
    if (budgetMs !== undefined && !(budgetMs >= 0 && budgetMs <= LONGEST_BUDGET_MS))
      throw new UsageError('settings', `budgetMs: expected 0 to ${LONGEST_BUDGET_MS} milliseconds.`);
    const caller = this.#session.stopper.child();
    const release = stopOnAbort(caller, signal);
    let timer: NodeJS.Timeout | undefined;
    try {
      const feed = this.#begin(caller, true);
      if (budgetMs !== undefined) timer = setTimeout(() => feed.giveUp(OUT_OF_TIME), budgetMs);
      return await this.#only(feed, row, caller);
    } finally {
      clearTimeout(timer);
      release();
      caller.stop(NOT_WANTED);
    }
  }

  async #only(feed: Feed, row: object, caller: Stopper): Promise<object> {
    const failures: unknown[] = [];
    this.#give(feed, [row], 0).catch(error => {
      failures.push(error);
      feed.leave();
    });
    const [fed] = (await feed.take()) ?? [];
    if (fed !== undefined) return this.#enrichments.attach(fed, 0);
    for (const error of failures) throw ofSettings(error);
    throw reasonOf(caller);
  }

  /** Enriches the rows of one caller, in their order. */
  many(groups: RowGroups): AsyncGenerator<object> {
    const caller = this.#session.stopper.child();
    return leavable(this.#takeAll(groups, caller), () => caller.stop(NOT_WANTED));
  }

  async *#takeAll(groups: RowGroups, caller: Stopper): AsyncGenerator<object> {
    const feed = this.#begin(caller, false);
    let isRead = false;
    let failed: {readonly error: unknown} | undefined;
    const reading = async () => {
      try {
        isRead = await this.#read(groups, feed, caller);
      } catch (error) {
        failed = {error};
      }
      groups.close();
      feed.end();
    };
    void reading();
    try {
      let index = 0;
      while (!isLeft(caller)) {
        const ready = await feed.take();
        if (ready === undefined) break;
        checkLimits(this.#session);
        for (const fed of ready) {
          if (groups.turns.isOver) await groups.turns.next();
          if (isLeft(caller)) break;
          yield this.#enrichments.attach(fed, index++);
        }
      }
      if (failed !== undefined) throw ofSettings(failed.error);
      if (caller.reason !== NOT_WANTED && (!isRead || feed.open > 0)) throw reasonOf(caller);
    } finally {
      caller.stop(NOT_WANTED);
    }
  }

  /** Summary of the run until now; after {@link close}, of the whole run. */
  summary(): Summary {
    if (this.#ended?.summary !== undefined) return this.#ended.summary;
    const {job, asking, output} = this.#session;
    const {counters} = output.writer;
    return summarize(this.#session, completedExit(counters, asking.ledger.tally, keepsRejections(job)));
  }

  /** @throws {UsageError} for a column that settings name and that no row had. */
  demandColumns(): void {
    try {
      this.#columns.demandSeen();
    } catch (error) {
      throw ofSettings(error);
    }
  }

  /** Ends the run. Calls in flight have `graceMs` to finish: see {@link RunJobOptions}. */
  async close(): Promise<RunOutcome> {
    this.#isClosed = true;
    this.#close();
    this.#ended = await this.#outcome();
    return this.#ended;
  }

  /**
   * Hands rows to the run. Resolves with true once the run has all of them, and with false if the caller left or
   * the run stopped before.
   */
  async #read(groups: RowGroups, feed: Feed, caller: Stopper): Promise<boolean> {
    const {limit = Number.POSITIVE_INFINITY} = this.#session.job.settings;
    for (let index = 0; caller.reason === undefined && index < limit; ) {
      const group = await caller.unlessStopped(groups.next());
      if (group === undefined) break;
      await this.#give(feed, group.slice(0, limit - index), index);
      index += group.length;
    }
    return caller.reason === undefined;
  }

  /**
   * Hands rows to the feed. `index`: index of the first one among all rows of this caller. If the check of a row
   * throws, hands over only the rows before it.
   */
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

  /** Opens a feed: the path of one caller's rows through the run. The feed ends when its caller leaves. */
  #begin(caller: Stopper, isRequest: boolean): Feed {
    if (this.#isClosed || caller.reason !== undefined) throw reasonOf(caller);
    const feed = new Feed(this.#session, isRequest);
    this.#feeds.add(feed);
    caller.onStop(() => {
      // If the run stops but the caller stays, the caller can still take its finished rows.
      if (!isLeft(caller)) return;
      feed.leave();
      this.#feeds.delete(feed);
    });
    return feed;
  }
}

/** The error for a caller that gets no more results. */
function reasonOf({reason: stop}: Stopper): unknown {
  if (stop === undefined)
    return new BulkEnrichError(
      'closed',
      exitCodes.interrupted,
      'The enricher was closed (enricher.close) before this row had its answers. Await the row first.',
    );
  return errorOf(stop);
}

/** The error that tells a program why its run stopped. */
export function errorOf({error, reason, exitCode, message}: Stop): unknown {
  if (error instanceof AbortError) return error;
  return ofSettings(new BulkEnrichError(reason, exitCode, message, {cause: error}));
}
