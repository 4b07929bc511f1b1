import {randomBytes} from 'node:crypto';
import {rmSync, statSync, writeFileSync} from 'node:fs';
import {isDiskFullError, type Sqlite} from '../../disk/sqlite.ts';
import {systemReason} from '../../errors.ts';
import {type LedgerEntry, leaseOfSendOrder, type Reservation, sendOrder} from './ledger-entry.ts';
import {
  beginLedgerSession,
  type LedgerSession,
  ledgerUnwritableError,
  openLedgerFile,
  orThrowLedgerError,
  unlinkLedgerFiles,
} from './ledger-recovery.ts';
import {
  findEntries,
  forgetFailures,
  leaseText,
  ROWS_AT_ONCE,
  readEntry,
  readMeta,
  resetSpending,
  toChecksummedJson,
  writeEntries,
  writeMeta,
} from './ledger-rows.ts';

/** Number of outcomes without a call that are written together. Keys are random: smaller groups write pages more often. */
const SETTLED_AT_ONCE = 4_096;

/**
 * A ledger's file, open for one session. Each transaction writes the lease of the calls to be sent next, and the entries
 * and counts that changed since the last transaction.
 *
 * On a full disk, it removes the spare file to make room for the outcomes of calls in flight, and refuses reservations.
 * Any other failed write is final: from then on, the counts in memory are ahead of the file.
 */
export class LedgerFile {
  /**
   * The state in the file when the session began. The session changes its counts, which each transaction writes, and its
   * last numbers.
   */
  readonly session: LedgerSession;
  /** The calls in flight, by key of the value, in the order of sending. */
  readonly inFlight = new Map<string, Reservation>();
  readonly #db: Sqlite;
  /** Disk space for outcomes on a full disk. A temporary ledger needs none: no session resumes it. */
  readonly #spare: SpareFile | undefined;
  #waiting = new Map<string, LedgerEntry>();
  #writtenCounts: string;
  #failure: unknown;
  /** Set once the disk is full: every further reservation throws this error. */
  #full: unknown;
  #isOpen = true;

  /**
   * Opens the file for the endpoint and account `scope`. `full`: true if a transaction must survive a power cut, as a
   * credit limit needs; otherwise it survives only the end of the process. `temporary`: its names are removed at once.
   */
  constructor(path: string, scope: string, full: boolean, temporary: boolean) {
    this.#db = orThrowLedgerError(() => openLedgerFile(path, full));
    if (temporary) unlinkLedgerFiles(path);
    this.#spare = temporary ? undefined : new SpareFile(path + SPARE_SUFFIX);
    try {
      this.session = orThrowLedgerError(() => beginLedgerSession(this.#db, scope));
    } catch (error) {
      this.#db.close();
      throw error;
    }
    this.#writtenCounts = toChecksummedJson(this.session.counts);
  }

  /** The error that every write throws once a write has failed or writing has ended; undefined until then. */
  get refusal(): unknown {
    return this.#failure ?? (this.#isOpen ? undefined : new Error('the ledger is closed'));
  }

  find(keys: readonly string[]): Map<string, LedgerEntry> {
    const found = new Map<string, LedgerEntry>();
    const others: string[] = [];
    for (const key of keys) {
      const waiting = this.#waiting.get(key);
      if (waiting !== undefined) found.set(key, waiting);
      else others.push(key);
    }
    for (const entry of orThrowLedgerError(() => findEntries(this.session.sql, others)))
      found.set(entry.key, entry);
    return found;
  }

  /** Writes what waits. Returns the number of the last value's row; 0 without one. */
  lastRow(): number {
    this.drain();
    const {last} = orThrowLedgerError(() => this.#db.query(['max(id) AS last'], 'FROM value').get()) ?? {};
    return Number(last);
  }

  /**
   * Yields, in groups, the entries with answers that the run bought after the answer with this number. `bought`: no
   * rejections, but also the answers that have no number, since they are not kept.
   */
  *answeredAfter(number: number, which: 'answered' | 'bought' = 'answered'): Generator<LedgerEntry[]> {
    this.drain();
    for (let last = 0; ; ) {
      const entries = orThrowLedgerError(() => this.session.sql[which].all(last, number).map(readEntry));
      if (entries.length > 0) yield entries;
      if (entries.length < ROWS_AT_ONCE) return;
      last = entries.at(-1)?.id ?? last;
    }
  }

  /** Yields, in groups, the rejections that are not judged yet. The caller judges each group before the next. */
  *unjudgedRejections(): Generator<LedgerEntry[]> {
    for (;;) {
      this.drain();
      const entries = orThrowLedgerError(() => this.session.sql.unjudged.all().map(readEntry));
      if (entries.length === 0) return;
      yield entries;
    }
  }

  /** Places in the order of sending: of unjudged rejections, with the numbers of their rows, and of answered calls. */
  rejectedAndAnsweredCalls() {
    this.drain();
    return orThrowLedgerError(() => ({
      rejected: this.session.sql.rejectedCalls
        .all()
        .map(({id, sent}) => ({id: Number(id), sendOrder: Number(sent)})),
      answered: this.session.sql.answeredCalls.all().map(({sent}) => Number(sent)),
    }));
  }

  getMeta<T>(name: string): T | undefined {
    return orThrowLedgerError(() => readMeta<T>(this.#db, name));
  }

  setMeta(name: string, value: unknown): void {
    this.#write(() => writeMeta(this.#db, name, value));
  }

  forgetFailures(): void {
    this.#write(() => forgetFailures(this.#db, 0));
  }

  /** Begins the count of the run `run` at the endpoint and account `scope`. */
  beginCount(scope: string, run: unknown): void {
    this.#write(() => {
      forgetFailures(this.#db, 1);
      resetSpending(this.#db, scope);
      writeMeta(this.#db, 'run', run);
    });
  }

  add(entry: LedgerEntry): void {
    this.#waiting.set(entry.key, entry);
  }

  addSettled(entry: LedgerEntry): void {
    this.add(entry);
    if (this.#waiting.size >= SETTLED_AT_ONCE) this.drain();
  }

  /** Writes the waiting entries. Throws if they can't be written, or an earlier write failed. */
  drain(): void {
    if (this.#waiting.size > 0 || this.#failure !== undefined) this.#write();
  }

  /** Writes the waiting entries. Every later write throws. */
  endWriting(): void {
    this.drain();
    this.#isOpen = false;
  }

  /** Writes the lease of calls that leave together, if any, with the waiting entries. The calls are in flight then. */
  reserve(calls: readonly Reservation[]): void {
    if (calls.length === 0) {
      this.drain();
      return;
    }
    if (this.refusal === undefined) this.#demandSpace(this.inFlight.size + calls.length);
    const lease = this.session.lastLease + 1;
    this.#write(() => this.session.sql.lease.run(lease, leaseText(calls)), true);
    this.session.lastLease = lease;
    for (const [place, call] of calls.entries()) {
      call.entry.sendOrder = sendOrder(lease, place);
      this.inFlight.set(call.key, call);
    }
  }

  /** Closes the file without writing. The spare file stays for the next session. */
  abandon(): void {
    this.#db.close();
  }

  close(): void {
    this.#db.close();
    this.#spare?.release();
  }

  /** Writes the waiting entries, and runs `more`, in one transaction. */
  #write(more: () => void = () => {}, isReservation = false): void {
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
      this.#write(more);
    }
  }

  /** Reserves disk space for the outcomes of `calls` in flight, before other programs fill the disk. Throws without space. */
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
    const counts = toChecksummedJson(this.session.counts);
    const [oldest] = this.inFlight.values();
    const lease =
      oldest === undefined ? this.session.lastLease + 1 : leaseOfSendOrder(oldest.entry.sendOrder);
    orThrowLedgerError(() =>
      this.#db.transaction(() => {
        writeEntries(this.session.sql, this.#waiting.values());
        this.session.sql.endLeases.run(lease);
        if (counts !== this.#writtenCounts) this.session.sql.count.run(counts);
        more();
      }),
    );
    this.#waiting = new Map();
    this.#writtenCounts = counts;
  }
}

/** Suffix of the {@link SpareFile}'s name. */
export const SPARE_SUFFIX = '-spare';
/** Calls in flight whose outcomes need {@link STEP_BYTES}, each in a transaction of its own of ledger and store. */
const STEP_CALLS = 50;
const STEP_BYTES = 1_048_576;
/** The file repeats a random block of this size, since some file systems would compress equal bytes. */
const BLOCK_BYTES = 65_536;

/** Reserves disk space with a file. On a full disk, `release` makes room for the answers that a run has paid for. */
export class SpareFile {
  readonly #path: string;
  #heldBytes = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Makes the file as large as `calls` in flight need. Throws the system's error if the disk has no room for it. */
  hold(calls: number): void {
    const bytes = Math.ceil(calls / STEP_CALLS) * STEP_BYTES;
    if (this.#heldBytes >= bytes) return;
    try {
      // A kill may have cut it off.
      const size = statSync(this.#path, {throwIfNoEntry: false})?.size ?? 0;
      const missing = Buffer.alloc(Math.max(0, bytes - size), randomBytes(BLOCK_BYTES));
      writeFileSync(this.#path, missing, {mode: 0o600, flag: 'a'});
      this.#heldBytes = bytes;
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** Removes the file. Returns false if there was no file to remove. */
  release(): boolean {
    this.#heldBytes = 0;
    try {
      rmSync(this.#path);
      return true;
    } catch {
      return false;
    }
  }
}
