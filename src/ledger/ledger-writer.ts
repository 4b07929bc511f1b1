import type {Sqlite} from '../disk/sqlite.ts';
import type {CallRecords} from './call-records.ts';
import type {Reservation} from './entry.ts';
import {guarded, type LedgerStatements} from './ledger-file.ts';
import {afterNextSends, Unwritten} from './unwritten.ts';

interface LedgerWriterOptions {
  readonly db: Sqlite;
  readonly sql: LedgerStatements;
  /** Undefined if no session has recorded its calls. */
  readonly calls: CallRecords | undefined;
  /** Returns what records the calls of one transaction; undefined if this session records none. */
  readonly recorder: (() => (call: Reservation) => void) | undefined;
  /** Saves the books within the transaction that writes what they count. */
  readonly saveTally: () => void;
}

/**
 * Writes a ledger's file. Each transaction takes what is about to be sent together with what was booked since. A failed
 * write is final: the books in memory are ahead of the file from then on.
 */
export class LedgerWriter {
  readonly #options: LedgerWriterOptions;
  #unwritten = new Unwritten();
  #flush: Promise<void> | undefined;
  #failure: unknown;
  #isOpen = true;

  constructor(options: LedgerWriterOptions) {
    this.#options = options;
  }

  /** Bookings that are not in the file yet. */
  get unwritten(): Unwritten {
    return this.#unwritten;
  }

  /** Error of every further write, after one failed or the writer was closed. */
  get refusal(): unknown {
    return this.#failure ?? (this.#isOpen ? undefined : new Error('the ledger is closed'));
  }

  /** Writes together with the calls that take the slots of those that ended; a moment later without any. */
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
    const {db, sql, calls, saveTally} = this.#options;
    const record = this.#options.recorder?.();
    const unwritten = this.#unwritten;
    this.#unwritten = new Unwritten();
    const work = () => {
      unwritten.writeTo(sql, calls);
      for (const call of reservations) {
        sql.reserve.run(call.key, call.operation, call.cost, call.dispatch, call.firstRow ?? null);
        record?.(call);
      }
      if (unwritten.size + reservations.length > 0) saveTally();
      more?.();
    };
    try {
      guarded(() => db.transaction(work));
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }
}
