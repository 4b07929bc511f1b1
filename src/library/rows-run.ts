import {holdsColumn, nothingIn, requireColumn} from '../columns/targets.ts';
import {BulkEnrichError, exitCodes, toldInCode} from '../errors.ts';
import type {Mapping} from '../run/layout/mapping.ts';
import {Feed} from '../run/rows/feed.ts';
import {callsEnd, checkLimits} from '../run/run.ts';
import type {RunOutcome} from '../run/run-outcome.ts';
import type {Session} from '../run/session.ts';
import type {Stop, Stopper} from '../run/stop.ts';
import type {Said} from '../sentence.ts';
import {Enrichments} from './enrichment.ts';
import {AbortError} from './on-abort.ts';
import type {RowGroups} from './row-groups.ts';

/** The reason with which a run stops if its caller takes no more rows. */
export const NOT_WANTED: Stop = {
  status: 'interrupted',
  reason: 'signal',
  exitCode: exitCodes.interrupted,
  message: 'The caller did not want the other rows.',
};

/** A run that takes rows from a program and gives them back enriched, until it is closed. */
export class RowsRun {
  readonly #session: Session;
  readonly #outcome: () => Promise<RunOutcome>;
  readonly #enrichments: Enrichments;
  readonly #columns: ExpectedColumns;
  readonly #feed: Feed;
  readonly #closed: Promise<void>;
  #close = () => {};

  constructor(session: Session, outcome: () => Promise<RunOutcome>) {
    this.#session = session;
    this.#outcome = outcome;
    this.#enrichments = new Enrichments(session.input.layout);
    this.#columns = new ExpectedColumns(session.input.layout.mapping, session.io.warn);
    this.#feed = new Feed(session);
    this.#closed = new Promise(resolve => {
      this.#close = resolve;
    });
    // If the run stops but the caller stays, the caller can still take finished rows.
    session.stopper.onStop(() => {
      if (isLeft(session.stopper)) this.#feed.leave();
    });
  }

  /**
   * Resolves once the run is closed or stopped, and calls in flight have ended or their grace period is over.
   */
  async untilClosed(): Promise<void> {
    await this.#session.stopper.unlessStopped(this.#closed);
    // While calls end, the caller can still take finished rows.
    await callsEnd(this.#session);
    this.#feed.leave();
  }

  /** Enriches the rows, in their order. */
  async *takeAll(groups: RowGroups): AsyncGenerator<object, void, undefined> {
    const {stopper} = this.#session;
    const feed = this.#feed;
    let isRead = false;
    let failed: {readonly error: unknown} | undefined;
    const reading = async () => {
      try {
        isRead = await this.#read(groups);
      } catch (error) {
        failed = {error};
      }
      feed.end();
    };
    void reading();
    let index = 0;
    while (!isLeft(stopper)) {
      const ready = await feed.take();
      if (ready === undefined) break;
      checkLimits(this.#session);
      for (const fed of ready) {
        if (groups.turns.isOver) await groups.turns.next();
        if (isLeft(stopper)) break;
        yield this.#enrichments.attach(fed, index++);
      }
    }
    if (failed !== undefined) throw toldInCode(failed.error);
    const stop = stopper.reason;
    if (stop !== undefined && stop !== NOT_WANTED && (!isRead || feed.open > 0)) throw errorOf(stop);
  }

  /** @throws {UsageError} for a column that settings name and that no row had. */
  demandColumns(): void {
    try {
      this.#columns.demandSeen();
    } catch (error) {
      throw toldInCode(error);
    }
  }

  /** Ends the run. Calls in flight have `graceMs` to finish: see {@link RunJobOptions}. */
  close(): Promise<RunOutcome> {
    this.#close();
    return this.#outcome();
  }

  /**
   * Hands rows to the run. Resolves with true once the run has all of them, and with false if the caller left or
   * the run stopped before.
   */
  async #read(groups: RowGroups): Promise<boolean> {
    const {stopper, job} = this.#session;
    const {limit = Number.POSITIVE_INFINITY} = job.settings;
    for (let index = 0; stopper.reason === undefined && index < limit; ) {
      const group = await stopper.unlessStopped(groups.next());
      if (group === undefined) break;
      await this.#give(group.slice(0, limit - index), index);
      index += group.length;
    }
    return stopper.reason === undefined;
  }

  /**
   * Hands rows to the feed. `index`: index of the first one among all rows. If the check of a row throws, hands over
   * only the rows before it.
   */
  async #give(rows: readonly unknown[], index: number): Promise<void> {
    let fitting = 0;
    try {
      for (const row of rows) {
        this.#enrichments.demandRoom(row, index + fitting);
        this.#columns.see(row);
        fitting += 1;
      }
    } finally {
      await this.#feed.give(rows.slice(0, fitting), index + 1);
    }
  }
}

/** True if the caller left the loop or aborted. Such a caller takes nothing more, not even finished rows. */
function isLeft({reason}: Stopper): boolean {
  return reason === NOT_WANTED || reason?.error instanceof AbortError;
}

/** The error that tells a program why its run stopped. */
export function errorOf({error, reason, exitCode, message}: Stop<Said>): unknown {
  if (error instanceof AbortError) return error;
  return toldInCode(new BulkEnrichError(reason, exitCode, message, {cause: error}));
}

/** Number of rows after which a warning names the columns that no row had. */
const DOUBTFUL_AFTER = 1_000;

/**
 * Checks that rows have the columns that settings name. A later row may still have a column, so a column is
 * certainly missing only after the last row.
 */
class ExpectedColumns {
  readonly #warn: (sentence: string) => void;
  #unseen: Mapping['mentioned'];
  readonly #keys = new Set<string>();
  #rows = 0;

  constructor({mentioned}: Mapping, warn: (sentence: string) => void) {
    this.#unseen = mentioned;
    this.#warn = warn;
  }

  see(row: unknown): void {
    if (this.#unseen.length === 0 || typeof row !== 'object' || row === null) return;
    this.#rows += 1;
    this.#unseen = this.#unseen.filter(([, column]) => !holdsColumn(row, column));
    if (this.#rows > DOUBTFUL_AFTER || this.#unseen.length === 0) return;
    for (const key of Object.keys(row)) this.#keys.add(key);
    if (this.#rows < DOUBTFUL_AFTER) return;
    for (const [setting, column] of this.#unseen) this.#warn(nothingIn(column, [...this.#keys], setting));
  }

  /** @throws {UsageError} for a column that settings name and that no row had. */
  demandSeen(): void {
    if (this.#rows === 0) return;
    for (const [setting, column] of this.#unseen) requireColumn(column, [...this.#keys], 'csv', setting);
  }
}
