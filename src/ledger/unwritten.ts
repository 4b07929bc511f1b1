import type {SqlValue} from '../disk/sqlite.ts';
import type {Operation} from '../operations/table.ts';
import type {BookedAttempt, LedgerEntry} from './entry.ts';
import {ADOPTED_AT_ONCE, columnsOf, type LedgerStatements, settle} from './ledger-rows.ts';
import type {Outcome} from './lookup.ts';
import {noAttempts} from './value-history.ts';

/** An outcome that settles a value without a new call, such as an answer from the store. */
export interface Adopted {
  readonly operation: Operation;
  readonly outcome: Outcome;
}

/** Bookings that wait to be written to the ledger's file. */
export class Unwritten {
  /** Booked attempts. `nth`: number of the attempt's answer among bought answers; null without an answer. */
  readonly attempts: (readonly [booked: BookedAttempt, nth: number | null])[] = [];
  readonly adopted = new Map<string, Adopted>();
  /** For values settled without a call, by key: number of the row that shows the answer unchanged. */
  readonly firstRows = new Map<string, number>();
  /** Outcomes of booked attempts, by key. A value with an outcome is not sent again. */
  readonly outcomes = new Map<string, Outcome>();
  /** Keys of values that have no outcome in `outcomes`, and whose row in the file is outdated. */
  readonly open = new Set<string>();
  /**
   * Judged rejections by the value's key. The number of the rejection among the bought answers if it is kept;
   * null if it became a failure of this run only.
   */
  readonly rejections = new Map<string, number | null>();

  get size(): number {
    return this.attempts.length + this.adopted.size + this.rejections.size + this.firstRows.size;
  }

  /** Returns the entries of the given values whose outcomes wait to be written. */
  entriesOf(keys: readonly string[]): Map<string, LedgerEntry> {
    const found = new Map<string, LedgerEntry>();
    for (const key of keys) {
      const outcome = this.adopted.get(key)?.outcome ?? this.outcomes.get(key);
      if (outcome !== undefined) found.set(key, {...noAttempts, interrupted: undefined, outcome});
    }
    return found;
  }

  /** Writes all bookings into the file, within the caller's transaction. */
  writeTo(sql: LedgerStatements): void {
    for (const [booked, nth] of this.attempts) settle(sql, booked, nth);
    for (const [key, nth] of this.rejections)
      nth === null ? sql.dropRejection.run(key) : sql.keepRejection.run(nth, key);
    // Comes after the attempts: a value's own failed attempt leaves its row waiting, and a later outcome from
    // elsewhere fills this row. In the other order, the attempt would overwrite the outcome.
    writeAdopted(sql, this.adopted);
    for (const [key, row] of this.firstRows) sql.setFirstRow.run(row, key);
  }

  book(booked: BookedAttempt, nth: number | null): void {
    this.attempts.push([booked, nth]);
    if (booked.outcome === undefined) this.open.add(booked.key);
    else this.outcomes.set(booked.key, booked.outcome);
  }

  /** Sets a rejection's number among the bought answers; null makes it a failure of this run only. */
  judge(key: string, nth: number | null): void {
    this.rejections.set(key, nth);
    if (nth !== null) return;
    const outcome = this.outcomes.get(key);
    if (outcome === undefined) this.open.add(key);
    else if (outcome.status === 'failed') this.outcomes.set(key, {status: 'failed', error: outcome.error});
  }
}

function writeAdopted(sql: LedgerStatements, all: ReadonlyMap<string, Adopted>): void {
  let answers: [key: string, adopted: Adopted][] = [];
  let values: SqlValue[] = [];
  for (const [key, adopted] of all) {
    const {operation, outcome} = adopted;
    if (outcome.status !== 'ok') {
      writeOne(sql, key, adopted);
      continue;
    }
    answers.push([key, adopted]);
    values.push(key, operation, outcome.data, outcome.boughtAt);
    if (answers.length < ADOPTED_AT_ONCE) continue;
    sql.adoptAnswers.run(...values);
    answers = [];
    values = [];
  }
  for (const [key, adopted] of answers) writeOne(sql, key, adopted);
}

function writeOne(sql: LedgerStatements, key: string, {operation, outcome}: Adopted): void {
  sql.adopt.run(key, operation, ...columnsOf(outcome));
}

/**
 * Runs `work` two turns of the event loop later. By then, the next reservations have mostly written the
 * waiting bookings, and `work` has nothing to write.
 */
export function afterNextSends(work: () => void): Promise<void> {
  const next = new Promise(resolve => {
    setImmediate(() => setImmediate(resolve));
  });
  return next.then(work);
}
