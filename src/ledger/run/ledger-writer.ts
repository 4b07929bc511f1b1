import {isDiskFullError, type Sqlite} from '../../disk/sqlite.ts';
import {systemReason} from '../../errors.ts';
import type {Bookkeeping} from './bookkeeping.ts';
import {BitSet} from './distinct-keys.ts';
import type {LedgerEntry, Reservation} from './ledger-entry.ts';
import {ledgerUnwritableError, orThrowLedgerError, type SpareFile} from './ledger-file.ts';
import {countsText, findEntries, type LedgerStatements, leaseText, writeEntries} from './ledger-rows.ts';

/**
 * Number of outcomes without a call that are written together. Keys are random: smaller groups would write
 * the same pages more often.
 */
const ADOPT_AT_ONCE = 4_096;

/**
 * Writes a ledger's file. Each transaction writes the lease of the calls to be sent next, and the bookings since the
 * last transaction.
 *
 * On a full disk, the writer removes the spare file to make room for the outcomes of calls in flight, and refuses
 * reservations. Any other failed write is final: from then on, the counts in memory are ahead of the file.
 */
export class LedgerWriter {
  readonly #db: Sqlite;
  readonly #sql: LedgerStatements;
  readonly #books: Bookkeeping;
  /** Disk space for outcomes on a full disk. A temporary ledger needs none: no session resumes it. */
  readonly #spare: SpareFile | undefined;
  /**
   * The bits of all keys that the file may have: other keys need no search in it. Undefined for a file that had values
   * when it was opened.
   */
  readonly #bits: BitSet | undefined;
  /** Entries that wait to be written, by key. */
  #waiting = new Map<string, LedgerEntry>();
  /** The counts as they are in the file. */
  #counts: string;
  #failure: unknown;
  /** Set once the disk is full: every further reservation throws this error. */
  #full: unknown;
  #isOpen = true;

  /** `isResumed`: true if the file has values. */
  constructor(db: Sqlite, sql: LedgerStatements, books: Bookkeeping, isResumed: boolean, spare?: SpareFile) {
    this.#db = db;
    this.#sql = sql;
    this.#books = books;
    this.#spare = spare;
    this.#bits = isResumed ? undefined : new BitSet();
    this.#counts = countsText(books.counts);
  }

  /** The error that every write throws once a write has failed or the writer is closed; undefined until then. */
  get refusal(): unknown {
    return this.#failure ?? (this.#isOpen ? undefined : new Error('the ledger is closed'));
  }

  find(keys: readonly string[]): Map<string, LedgerEntry> {
    const found = new Map<string, LedgerEntry>();
    const others: string[] = [];
    for (const key of keys) {
      const waiting = this.#waiting.get(key);
      if (waiting !== undefined) found.set(key, waiting);
      else if (this.#bits?.has(bitOfKey(key)) !== false) others.push(key);
    }
    for (const entry of orThrowLedgerError(() => findEntries(this.#sql, others))) found.set(entry.key, entry);
    return found;
  }

  /** Queues an entry. */
  add(entry: LedgerEntry): void {
    this.#bits?.add(bitOfKey(entry.key));
    this.#waiting.set(entry.key, entry);
  }

  /** Queues an entry whose value was settled without a call. */
  addSettled(entry: LedgerEntry): void {
    this.add(entry);
    if (this.#waiting.size >= ADOPT_AT_ONCE) this.drain();
  }

  /** Writes the waiting entries. Throws if they can't be written, or an earlier write failed. */
  drain(): void {
    if (this.#waiting.size > 0 || this.#failure !== undefined) this.write();
  }

  /** Writes the waiting entries. Every later write throws. */
  close(): void {
    this.drain();
    this.#isOpen = false;
  }

  /** Writes the calls that leave together, if any, with the waiting entries. */
  reserve(lease: number, calls: readonly Reservation[]): void {
    if (calls.length === 0) {
      this.drain();
      return;
    }
    if (this.refusal === undefined) this.#demandSpace(this.#books.inFlight + calls.length);
    this.write(() => this.#sql.lease.run(lease, leaseText(calls)), true);
    for (const {key} of calls) this.#bits?.add(bitOfKey(key));
  }

  /** Writes the waiting entries, and runs `more`, in one transaction. */
  write(more: () => void = () => {}, isReservation = false): void {
    const {refusal} = this;
    if (refusal !== undefined) throw refusal;
    try {
      this.#commit(more);
    } catch (error) {
      if (!isDiskFullError(error) || this.#spare?.release() !== true) {
        this.#failure = error;
        throw error;
      }
      this.#full = error;
      if (isReservation) throw error;
      this.write(more);
    }
  }

  /**
   * Reserves disk space for the outcomes of `calls` in flight, before other programs fill the disk. Throws if there is
   * no space.
   */
  #demandSpace(calls: number): void {
    if (this.#full !== undefined) throw this.#full;
    try {
      this.#spare?.hold(calls);
    } catch (error) {
      this.#full = ledgerUnwritableError(systemReason(error), error);
      throw this.#full;
    }
  }

  #commit(more: () => void): void {
    const counts = countsText(this.#books.counts);
    orThrowLedgerError(() =>
      this.#db.transaction(() => {
        writeEntries(this.#sql, this.#waiting.values());
        this.#sql.endLeases.run(this.#books.oldestLease);
        if (counts !== this.#counts) this.#sql.count.run(counts);
        more();
      }),
    );
    this.#waiting = new Map();
    this.#counts = counts;
  }
}

/** Number of bits: 1 MiB. Beside ten million keys, 30% of new ones have a bit of their own. */
const BITS = 2 ** 23;
/** Number of a key's characters that are used. A key is a hash, so a few characters suffice. */
const SAMPLE = 8;

/** Bit of a key: the FNV-1a hash of its first characters, folded. */
export function bitOfKey(key: string): number {
  let mixed = 0x811c9dc5;
  const end = Math.min(key.length, SAMPLE);
  for (let at = 0; at < end; at++) mixed = Math.imul(mixed ^ key.charCodeAt(at), 0x01000193);
  return (mixed ^ (mixed >>> 23)) & (BITS - 1);
}
