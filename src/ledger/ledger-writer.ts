import type {Spare} from '../disk/spare.ts';
import {isFull, type Sqlite} from '../disk/sqlite.ts';
import {systemReason} from '../errors.ts';
import type {CallRecords} from './call-records.ts';
import type {LedgerEntry, Reservation} from './entry.ts';
import {KeyFilter} from './key-filter.ts';
import {guarded, unwritable} from './ledger-file.ts';
import {entryOf, findRows, type LedgerStatements} from './ledger-rows.ts';
import {type Adopted, afterNextSends, Unwritten} from './unwritten.ts';

/** Outcomes without a call are written in groups of this size. Keys are random: smaller groups rewrite more pages. */
const ADOPT_AT_ONCE = 4_096;

interface LedgerWriterOptions {
  readonly db: Sqlite;
  readonly sql: LedgerStatements;
  /** The file's table of calls; undefined if no session has recorded its calls. */
  readonly calls: CallRecords | undefined;
  /** Returns a function that records the calls of one transaction; undefined if this session records no calls. */
  readonly recorder: (() => (call: Reservation) => void) | undefined;
  /** Saves the books (the counts of calls and credits) within the transaction that writes the counted calls. */
  readonly saveTally: () => void;
  /** Disk space held for outcomes, in case the disk is full. A temporary ledger needs none: no session resumes it. */
  readonly spare: Spare | undefined;
}

/**
 * Writes a ledger's file. Each transaction writes the reservations of the calls to be sent next, and the bookings
 * since the last transaction.
 *
 * On a full disk, the writer removes the spare file to make room for the outcomes of calls in flight. It takes no
 * more reservations. Any other failed write is final: the books in memory are ahead of the file from then on.
 */
export class LedgerWriter {
  readonly #options: LedgerWriterOptions;
  /** `#keys.mayHave` is false only for a key that has no row in the file, and no row that waits to be written. */
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

  /** The error that every write throws after a write has failed or the writer was closed; undefined before. */
  get refusal(): unknown {
    return this.#failure ?? (this.#isOpen ? undefined : new Error('the ledger is closed'));
  }

  /** Returns the ledger entries under these keys. A new key has no entry. */
  find(keys: readonly string[]): Map<string, LedgerEntry> {
    const known = keys.filter(key => this.#keys.mayHave(key));
    if (known.some(key => this.#unwritten.open.has(key))) this.drain();
    const found = this.#unwritten.entriesOf(known);
    const others = known.filter(key => !found.has(key));
    const rows = guarded(() => findRows(this.#options.sql, others));
    for (const row of rows) found.set(row.key as string, entryOf(row));
    return found;
  }

  /** Lets an outcome without a call wait for the next write. The caller has counted it in the books already. */
  adopt(key: string, adopted: Adopted): void {
    this.#keys.add(key);
    this.#unwritten.adopt(key, adopted);
    if (this.#unwritten.adopted.size >= ADOPT_AT_ONCE) this.drain();
  }

  /** Resolves once the waiting bookings are written: with the next reservations, or soon if there are none. */
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

  /** Writes the waiting bookings; nothing is written afterwards. */
  close(): void {
    this.drain();
    this.#isOpen = false;
  }

  /** Writes the waiting bookings, these reservations, and what `more` writes: all three, or nothing. */
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
      // The caller must first take the refused reservations out of the books. Only then may the books be written.
      if (reservations.length > 0) throw error;
      this.write([], more);
    }
  }

  /** Reserves disk space for the outcomes of the calls, before other programs fill the disk. Throws without space. */
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
    const {db, sql, calls, saveTally} = this.#options;
    const record = this.#options.recorder?.();
    const work = () => {
      unwritten.writeTo(sql, calls);
      for (const call of reservations) {
        this.#keys.add(call.key);
        sql.reserve.run(call.key, call.operation, call.cost, call.dispatch, call.firstRow ?? null);
        record?.(call);
      }
      if (unwritten.size + reservations.length > 0) saveTally();
      more?.();
    };
    guarded(() => db.transaction(work));
  }
}
