import type {Spare} from '../disk/spare.ts';
import {isFull, type Sqlite} from '../disk/sqlite.ts';
import {systemReason} from '../errors.ts';
import type {CallRecords} from './call-records.ts';
import {entryOf, type LedgerEntry, type Reservation} from './entry.ts';
import {KeyFilter} from './key-filter.ts';
import {findRows, guarded, type LedgerStatements, unwritable} from './ledger-file.ts';
import {type Adopted, afterNextSends, Unwritten} from './unwritten.ts';

/** Adopted outcomes per write. Keys are random: smaller groups rewrite the same pages, larger ones only use memory. */
const ADOPT_AT_ONCE = 4_096;

interface LedgerWriterOptions {
  readonly db: Sqlite;
  readonly sql: LedgerStatements;
  /** Undefined if no session has recorded its calls. */
  readonly calls: CallRecords | undefined;
  /** Returns a function that records the calls of one transaction; undefined if this session records none. */
  readonly recorder: (() => (call: Reservation) => void) | undefined;
  /** Saves the books within the transaction that writes what they count. */
  readonly saveTally: () => void;
  /** Undefined for a temporary ledger: no session resumes from it. */
  readonly spare: Spare | undefined;
}

/**
 * Writes a ledger's file. Each transaction has the calls that are about to be sent, and what was booked since the last.
 *
 * On a full disk the spare file makes room for the outcomes of calls in flight, and no reservation is taken any more.
 * Any other failed write is final: the books in memory are ahead of the file from then on.
 */
export class LedgerWriter {
  readonly #options: LedgerWriterOptions;
  /** Keys that have a row in the file, or will have one. */
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

  /** Bookings that are not in the file yet. */
  get unwritten(): Unwritten {
    return this.#unwritten;
  }

  /** Error of every further write, after one failed or the writer was closed. */
  get refusal(): unknown {
    return this.#failure ?? (this.#isOpen ? undefined : new Error('the ledger is closed'));
  }

  /** The entries of these values. */
  find(keys: readonly string[]): Map<string, LedgerEntry> {
    const known = keys.filter(key => this.#keys.mayHave(key));
    if (known.some(key => this.#unwritten.open.has(key))) this.drain();
    const found = this.#unwritten.entriesOf(known);
    const others = known.filter(key => !found.has(key));
    const rows = guarded(() => findRows(this.#options.sql, others));
    for (const row of rows) found.set(row.key as string, entryOf(row));
    return found;
  }

  /** Takes over an outcome. The books have it already. */
  adopt(key: string, adopted: Adopted): void {
    this.#keys.add(key);
    this.#unwritten.adopt(key, adopted);
    if (this.#unwritten.adopted.size >= ADOPT_AT_ONCE) this.drain();
  }

  /** Writes with the next reservations; a moment later if there are none. */
  soon(): Promise<void> {
    this.#flush ??= afterNextSends(() => {
      this.#flush = undefined;
      this.drain();
    });
    return this.#flush;
  }

  /** Writes what is waiting. Throws if it can't be written, or an earlier write failed. */
  drain(): void {
    if (this.#unwritten.size > 0 || this.#failure !== undefined) this.write([]);
  }

  /** Writes what is waiting; nothing is written afterwards. */
  close(): void {
    this.drain();
    this.#isOpen = false;
  }

  /** Writes what is waiting, these reservations, and what `more` writes: all of it, or nothing. */
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
      // The caller first takes refused reservations out of the books; then the books are written.
      if (reservations.length > 0) throw error;
      this.write([], more);
    }
  }

  /** Makes sure that the outcome of what is sent can be written, also on a disk that others fill meanwhile. */
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
