import type {Spare} from '../../disk/spare.ts';
import {isFull, type Sqlite} from '../../disk/sqlite.ts';
import {systemReason} from '../../errors.ts';
import type {Books} from './books.ts';
import type {LedgerEntry, Reservation} from './entry.ts';
import {KeyFilter} from './key-filter.ts';
import {guarded, unwritable} from './ledger-file.ts';
import {entryOf, findRows, type LedgerStatements, writeEntries} from './ledger-rows.ts';
import type {Meta} from './meta.ts';
import type {LeasedCall} from './recovery.ts';
import {toSaved} from './saved-value.ts';

/**
 * Number of outcomes without a call that are written together. Keys are random: smaller groups would write
 * the same pages more often.
 */
const ADOPT_AT_ONCE = 4_096;

interface LedgerWriterOptions {
  readonly db: Sqlite;
  readonly sql: LedgerStatements;
  readonly meta: Meta;
  /** The counts of calls and credits. Each transaction writes them with the calls that they count. */
  readonly books: Books;
  /** Disk space for outcomes on a full disk. A temporary ledger needs none: no session resumes it. */
  readonly spare: Spare | undefined;
}

/** Entries that wait to be written to the ledger's file, and the calls whose booking they have. */
class WriteBuffer {
  readonly entries = new Map<string, LedgerEntry>();
  /** By number of a lease: how many of its calls are booked here. */
  readonly booked = new Map<number, number>();

  get isEmpty(): boolean {
    return this.entries.size === 0;
  }

  add(entry: LedgerEntry): void {
    this.entries.set(entry.key, entry);
  }
}

/**
 * Writes a ledger's file. Each transaction writes the lease of the calls to be sent next, and the bookings since the
 * last transaction.
 *
 * On a full disk, the writer removes the spare file to make room for the outcomes of calls in flight, and refuses
 * reservations. Any other failed write is final: from then on, the books in memory are ahead of the file.
 */
export class LedgerWriter {
  readonly #options: LedgerWriterOptions;
  /** Recognizes most keys that are neither in the file nor wait to be written: they need no search in the file. */
  readonly #keys: KeyFilter;
  /** Calls of each lease that are not booked in the file yet. */
  readonly #unbooked = new Map<number, number>();
  #buffer = new WriteBuffer();
  #failure: unknown;
  /** Set once the disk is full: every further reservation throws this error. */
  #full: unknown;
  #isOpen = true;

  constructor(options: LedgerWriterOptions) {
    this.#options = options;
    this.#keys = new KeyFilter(guarded(() => options.sql.any.get()) !== undefined);
  }

  /** The error that every write throws once a write has failed or the writer is closed; undefined until then. */
  get refusal(): unknown {
    return this.#failure ?? (this.#isOpen ? undefined : new Error('the ledger is closed'));
  }

  find(keys: readonly string[]): Map<string, LedgerEntry> {
    const found = new Map<string, LedgerEntry>();
    const others: string[] = [];
    for (const key of keys) {
      const waiting = this.#buffer.entries.get(key);
      if (waiting !== undefined) found.set(key, waiting);
      else if (this.#keys.mayHave(key)) others.push(key);
    }
    if (others.length === 0) return found;
    for (const row of guarded(() => findRows(this.#options.sql, others)))
      found.set(row.key as string, entryOf(row));
    return found;
  }

  /** Queues an entry whose value was settled without a call. The caller has counted it in the books already. */
  add(entry: LedgerEntry): void {
    this.#keys.add(entry.key);
    this.#buffer.add(entry);
    if (this.#buffer.entries.size >= ADOPT_AT_ONCE) this.drain();
  }

  /** Queues the entry of a call that has ended, as booked. */
  book(entry: LedgerEntry): void {
    const {booked} = this.#buffer;
    this.#buffer.add(entry);
    booked.set(entry.lease, (booked.get(entry.lease) ?? 0) + 1);
  }

  /** Writes the waiting bookings. Throws if they can't be written, or an earlier write failed. */
  drain(): void {
    if (!this.#buffer.isEmpty || this.#failure !== undefined) this.write();
  }

  /** Writes the waiting bookings. Every later write throws. */
  close(): void {
    this.drain();
    this.#isOpen = false;
  }

  /** Writes the calls that leave together, with the waiting bookings. */
  reserve(lease: number, calls: readonly Reservation[]): void {
    const leased = calls.map(
      ({key, operation, cost, dispatch}): LeasedCall => [key, operation, cost, dispatch],
    );
    if (this.refusal === undefined) this.#demandSpace();
    this.write(() => this.#options.sql.lease.run(lease, toSaved(leased)), true);
    this.#unbooked.set(lease, calls.length);
    for (const {key} of calls) this.#keys.add(key);
  }

  /** Writes the waiting bookings, and runs `more`, in one transaction. */
  write(more: () => void = () => {}, isReservation = false): void {
    const {refusal} = this;
    if (refusal !== undefined) throw refusal;
    const buffer = this.#buffer;
    try {
      this.#commit(buffer, more);
      this.#buffer = new WriteBuffer();
    } catch (error) {
      if (!isFull(error) || this.#options.spare?.release() !== true) {
        this.#failure = error;
        throw error;
      }
      this.#full = error;
      // Does not write the books now: the caller must first take the refused reservations out of them.
      if (isReservation) throw error;
      this.write(more);
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

  #commit({entries, booked}: WriteBuffer, more: () => void): void {
    const {db, sql, meta, books} = this.#options;
    const left = [...booked].map(
      ([lease, count]) => [lease, (this.#unbooked.get(lease) ?? 0) - count] as const,
    );
    guarded(() =>
      db.transaction(() => {
        writeEntries(sql, entries.values());
        for (const [lease, count] of left) if (count <= 0) sql.endLease.run(lease);
        more();
        meta.set('books', books);
      }),
    );
    for (const [lease, count] of left)
      if (count > 0) this.#unbooked.set(lease, count);
      else this.#unbooked.delete(lease);
  }
}
