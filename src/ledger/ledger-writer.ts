import type {Spare} from '../disk/spare.ts';
import {isFull, type Sqlite} from '../disk/sqlite.ts';
import {systemReason} from '../errors.ts';
import type {LedgerEntry, Reservation} from './entry.ts';
import {KeyFilter} from './key-filter.ts';
import {guarded, unwritable} from './ledger-file.ts';
import {entryOf, findRows, type LedgerStatements} from './ledger-rows.ts';
import {type Adopted, afterNextSends, Unwritten} from './unwritten.ts';

/**
 * Number of outcomes without a call that are written together. Keys are random: smaller groups would write
 * the same pages more often.
 */
const ADOPT_AT_ONCE = 4_096;

interface LedgerWriterOptions {
  readonly db: Sqlite;
  readonly sql: LedgerStatements;
  /** Saves the books (the counts of calls and credits) within the transaction that writes the counted calls. */
  readonly saveTally: () => void;
  /** Disk space for outcomes on a full disk. A temporary ledger needs none: no session resumes it. */
  readonly spare: Spare | undefined;
}

/**
 * Writes a ledger's file. Each transaction writes the reservations of the calls to be sent next, and the bookings
 * since the last transaction.
 *
 * On a full disk, the writer removes the spare file to make room for the outcomes of calls in flight, and refuses
 * reservations. Any other failed write is final: from then on, the books in memory are ahead of the file.
 */
export class LedgerWriter {
  readonly #options: LedgerWriterOptions;
  /** Recognizes most keys that are neither in the file nor wait to be written: they need no search in the file. */
  readonly #keys: KeyFilter;
  #unwritten = new Unwritten();
  #flush: Promise<void> | undefined;
  #failure: unknown;
  /** Set once the disk is full: every further reservation throws this error. */
  #full: unknown;
  #isOpen = true;

  constructor(options: LedgerWriterOptions) {
    this.#options = options;
    this.#keys = new KeyFilter(guarded(() => options.sql.any.get()) !== undefined);
  }

  get unwritten(): Unwritten {
    return this.#unwritten;
  }

  /** The error that every write throws once a write has failed or the writer is closed; undefined until then. */
  get refusal(): unknown {
    return this.#failure ?? (this.#isOpen ? undefined : new Error('the ledger is closed'));
  }

  find(keys: readonly string[]): Map<string, LedgerEntry> {
    const known = keys.filter(key => this.#keys.mayHave(key));
    if (known.some(key => this.#unwritten.open.has(key))) this.drain();
    const found = this.#unwritten.entriesOf(known);
    const others = known.filter(key => !found.has(key));
    const rows = guarded(() => findRows(this.#options.sql, others));
    for (const row of rows) found.set(row.key as string, entryOf(row));
    return found;
  }

  /** Queues an outcome without a call for the next write. The caller has counted it in the books already. */
  adopt(key: string, adopted: Adopted): void {
    this.#keys.add(key);
    this.#unwritten.adopted.set(key, adopted);
    if (this.#unwritten.adopted.size >= ADOPT_AT_ONCE) this.drain();
  }

  /** Resolves once the waiting bookings are written: with the next reservations, or shortly after without any. */
  soon(): Promise<void> {
    this.#flush ??= afterNextSends(() => {
      this.#flush = undefined;
      this.drain();
    });
    return this.#flush;
  }

  /** Writes the waiting bookings. Throws if they can't be written, or an earlier write failed. */
  drain(): void {
    if (this.#unwritten.size > 0 || this.#failure !== undefined) this.write([]);
  }

  /** Writes the waiting bookings. Every later write throws. */
  close(): void {
    this.drain();
    this.#isOpen = false;
  }

  /** Writes the waiting bookings and these reservations, and runs `more`: all in one transaction. */
  write(reservations: readonly Reservation[], more?: () => void): void {
    const {refusal} = this;
    if (refusal !== undefined) throw refusal;
    if (reservations.length > 0) this.#demandSpace();
    const unwritten = this.#unwritten;
    this.#unwritten = new Unwritten();
    try {
      this.#commit(unwritten, reservations, more);
    } catch (error) {
      if (!isFull(error) || this.#options.spare?.release() !== true) {
        this.#failure = error;
        throw error;
      }
      this.#full = error;
      this.#unwritten = unwritten;
      // Does not write the books now: the caller must first take the refused reservations out of them.
      if (reservations.length > 0) throw error;
      this.write([], more);
    }
  }

  /**
   * Reserves disk space for the outcomes of the next calls, before other programs fill the disk. Throws if
   * there is no space.
   */
  #demandSpace(): void {
    if (this.#full !== undefined) throw this.#full;
    try {
      this.#options.spare?.hold();
    } catch (error) {
      this.#full = unwritable(systemReason(error), error);
      throw this.#full;
    }
  }

  #commit(unwritten: Unwritten, reservations: readonly Reservation[], more?: () => void): void {
    const {db, sql, saveTally} = this.#options;
    const work = () => {
      unwritten.writeTo(sql);
      for (const call of reservations) {
        this.#keys.add(call.key);
        sql.reserve.run(call.key, call.operation, call.cost, call.dispatch, call.firstRow ?? null);
      }
      if (unwritten.size + reservations.length > 0) saveTally();
      more?.();
    };
    guarded(() => db.transaction(work));
  }
}
