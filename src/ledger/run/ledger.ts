import type {Sqlite} from '../../disk/sqlite.ts';
import type {Operation} from '../../operations/table.ts';
import {isStorable, type LookupKey, type Outcome} from '../lookup-outcome.ts';
import {Bookkeeping} from './bookkeeping.ts';
import type {Budget, CreditLimits} from './budget.ts';
import {expireAnswers} from './expire-answers.ts';
import {
  type BookedAttempt,
  type KeyedAnswer,
  type LedgerEntry,
  newEntry,
  noAttempts,
  type Reservation,
} from './ledger-entry.ts';
import {
  openLedgerFile,
  orThrowLedgerError,
  readMeta,
  SPARE_SUFFIX,
  SpareFile,
  toChecksummedJson,
  unlinkLedgerFiles,
  writeMeta,
} from './ledger-file.ts';
import {
  answeredAfter,
  beginLedgerSession,
  forgetFailures,
  keyedAnswerOfEntry,
  type LedgerStatements,
  resetSpending,
} from './ledger-rows.ts';
import {LedgerWriter} from './ledger-writer.ts';
import {settleRejections} from './settle-rejections.ts';
import {DistinctValueCounter, type SpendingByOperation, type Tally, zeroRunCounts} from './tally.ts';

export interface LedgerOptions extends CreditLimits {
  /** Endpoint and account of this session, as a key. A new ledger belongs to them. */
  readonly scope: string;
  /** True if an earlier session of the run left a state that was unreadable: it may have sent any value. */
  readonly lostState?: boolean | undefined;
  /** True for a ledger that no run resumes. Its files are unlinked while open, so a kill leaves none behind. */
  readonly temporary?: boolean | undefined;
}

/**
 * The run's ledger: all that a run of one output at one endpoint and account remembers. For each distinct value, its
 * file has a durable reservation before the call, and the final outcome with its cost after the call. So no value is bought twice,
 * and no limit is exceeded, however often the run is killed, and whatever list or settings it has next.
 *
 * On a full disk, the ledger reserves nothing more, but still writes the outcomes of calls in flight, into spare space.
 * After any other write error it writes nothing more. The counts in memory then still have every call.
 *
 * @throws {StateError} if its file is damaged or of another version; {@link OutputError} if it can't be written.
 */
export class Ledger {
  /** The counts of this session. */
  readonly tally: Tally;
  /** Spending since the count began, by operation, with this session's. */
  readonly spending: SpendingByOperation;
  readonly budget: Budget;
  /** Number of calls that were in flight when the last session ended: they may have been charged. */
  readonly interrupted: number;
  /** True if the ledger had values when it was opened. */
  readonly isResumed: boolean;
  /** Endpoint and account of the ledger's values, as a key. If they are not this session's, it must call {@link beginCount}. */
  readonly owner: string;
  readonly #options: LedgerOptions;
  readonly #db: Sqlite;
  readonly #books: Bookkeeping;
  readonly #sql: LedgerStatements;
  readonly #writer: LedgerWriter;
  readonly #spare: SpareFile | undefined;
  /** Answers with a higher number hold for this session: at first, those that it buys. */
  #boughtBefore: number;
  #used: DistinctValueCounter;
  #state: 'open' | 'ended' | 'closed' = 'open';

  constructor(path: string, options: LedgerOptions) {
    const {scope: key, temporary = false, maxCredits, account} = options;
    const full = !temporary && (maxCredits ?? account) !== undefined;
    const db = orThrowLedgerError(() => openLedgerFile(path, full));
    if (temporary) unlinkLedgerFiles(path);
    this.#options = options;
    this.#db = db;
    this.#spare = temporary ? undefined : new SpareFile(path + SPARE_SUFFIX);
    try {
      const found = orThrowLedgerError(() => beginLedgerSession(db, key));
      const {owner, lastId, interrupted, bought, sql} = found;
      const books = new Bookkeeping(options, found);
      this.tally = books.tally;
      this.spending = books.counts.spending;
      this.budget = books.budget;
      this.owner = owner;
      this.interrupted = interrupted;
      this.isResumed = lastId > 0;
      this.#books = books;
      this.#boughtBefore = bought;
      this.#used = new DistinctValueCounter(this.tally, lastId);
      this.#sql = sql;
      this.#writer = new LedgerWriter(db, sql, books, lastId > 0, this.#spare);
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** True while entries can be read, also after {@link end}. False once the ledger is closed or a write failed. */
  get isReadable(): boolean {
    return this.#state === 'ended' || (this.#state === 'open' && this.#writer.refusal === undefined);
  }

  /** Calls in flight: those that were reserved and are not booked yet. */
  get inFlight(): number {
    return this.#books.inFlight;
  }

  /** Adds up `measure` over the calls in flight. */
  sumInFlight(measure: (call: Reservation) => number): number {
    return this.#books.sumInFlight(measure);
  }

  /** Number of answers that the run has bought. */
  get bought(): number {
    return this.#books.bought;
  }

  /** Returns the entries of the values with these keys. A value that the ledger does not know has no entry. */
  find(keys: readonly string[]): Map<string, LedgerEntry> {
    const found = this.#writer.find(keys);
    for (const entry of found.values()) entry.isUsed ||= this.#used.has(entry);
    return found;
  }

  /** The entry of a value that {@link find} did not find. */
  newEntry(lookup: LookupKey): LedgerEntry {
    const wasSent = this.#options.lostState === true;
    return newEntry(lookup, wasSent ? {...noAttempts, mayBeCarriedOut: true} : noAttempts);
  }

  /** True if this session bought the entry's outcome, or {@link hold} named it. It then holds, whatever the clock says. */
  isOfSession({nth}: LedgerEntry): boolean {
    return nth !== null && nth > this.#boughtBefore;
  }

  /** Lets this session use all answers with a higher number than `nth`, whatever their age. */
  hold(nth: number): void {
    this.#boughtBefore = nth;
  }

  /**
   * Gives up the answers with a higher number than `nth` that are not fresh any more: what they cost counts against no
   * limit of the run. Returns their number. `costOf`: cost of a call, in thousandths of a credit.
   */
  expire(
    nth: number,
    isFresh: (entry: LedgerEntry) => boolean,
    costOf: (operation: Operation) => number,
  ): number {
    return orThrowLedgerError(() =>
      expireAnswers(this.#sql, this.#writer, this.#books.counts, nth, isFresh, costOf),
    );
  }

  /** Counts a value as used by this session: its rows get the outcome that the ledger has. */
  markUsed(entry: LedgerEntry): void {
    this.#used.addKnown(entry);
  }

  /** Begins to count values anew, since the run reads its input again. */
  readAgain(): void {
    this.#writer.drain();
    const {last} = orThrowLedgerError(() => this.#db.query(['max(id) AS last'], 'FROM value').get()) ?? {};
    this.#used = new DistinctValueCounter(this.tally, Number(last ?? 0));
    for (const counts of Object.values(this.tally.operations))
      Object.assign(counts, {distinct: 0, fromStore: 0, knownRejections: 0});
  }

  /**
   * Durably reserves credits for the calls, in order, and marks them as sent. Returns how many the budgets allow.
   * Writes all that was booked before in the same transaction, also if no call is reserved.
   */
  reserve(batch: readonly Reservation[]): number {
    const granted = this.#books.reserve(batch, (lease, calls) => this.#writer.reserve(lease, calls));
    for (const {entry} of granted) this.#used.add(entry);
    return granted.length;
  }

  /** Books an attempt. The next {@link reserve} writes it. A call that was booked at {@link end} stays as it is. */
  record(booked: BookedAttempt): void {
    const entry = this.#books.end(booked);
    if (entry !== undefined) this.#writer.add(entry);
  }

  /** Books a call whose outcome arrived after the call was booked as interrupted. Durable on return. */
  bookLate(entry: LedgerEntry, booked: BookedAttempt): void {
    if (this.#state !== 'open') throw this.#writer.refusal;
    this.#books.bookLate(entry, booked);
    this.#writer.add(entry);
    this.#writer.drain();
  }

  /**
   * Settles a value without a new call: by an earlier outcome, or as failed or unknown after its last allowed send.
   */
  adopt(entry: LedgerEntry, outcome: Outcome): void {
    this.#used.add(entry);
    this.#used.countStored(entry.operation, outcome);
    Object.assign(entry, {outcome, nth: null}, isStorable(outcome) && {history: noAttempts});
    this.#writer.addSettled(entry);
  }

  /**
   * Judges the rejections of the run, once it makes no more calls. A rejection is its value's answer, also for other
   * runs, if a call that was sent later was answered, and if it is not one of `streak` or more that were sent without
   * an answered call between them. Otherwise the account may be the reason: then it is a failure of this run. Calls
   * `keep` with the answers, and returns the number of failures among this session's values, by operation.
   */
  settleRejections(streak: number, keep: (answer: KeyedAnswer) => void): ReadonlyMap<Operation, number> {
    const [number, isUsed] = [() => ++this.#books.bought, (entry: LedgerEntry) => this.#used.has(entry)];
    return orThrowLedgerError(() => settleRejections(this.#sql, this.#writer, streak, number, isUsed, keep));
  }

  /** Yields, in groups, the answers with a higher number than `nth`. */
  *answersAfter(nth: number): Generator<KeyedAnswer[]> {
    if (this.#state === 'open') this.#writer.drain();
    for (const entries of answeredAfter(this.#sql, nth)) yield entries.map(keyedAnswerOfEntry);
  }

  /**
   * Begins a new count for the run `run`: earlier spending counts against no limit, failed values are looked up again,
   * and all doubts of a value count as one. Answers stay, unless they are of another endpoint or account.
   */
  beginCount(run: unknown): void {
    const {counts} = this.#books;
    const {spending, refusals, attempts} = zeroRunCounts();
    Object.assign(counts.spending, spending);
    Object.assign(counts.refusals, refusals);
    Object.assign(counts.attempts, attempts);
    Object.assign(counts, {renewed: 0, expired: 0});
    this.#writer.write(() => {
      forgetFailures(this.#db, 1);
      resetSpending(this.#db, this.#options.scope);
      writeMeta(this.#db, 'run', toChecksummedJson(run));
    });
  }

  /** Lets the next session look failed values up again, as if they had not been sent: the service is to blame. */
  forgetFailures(): void {
    Object.assign(this.tally.refusals, zeroRunCounts().refusals);
    this.#writer.write(() => forgetFailures(this.#db, 0));
  }

  /** Reads a value that {@link setMeta} saved; undefined if there is none. */
  getMeta<T>(name: string): T | undefined {
    return orThrowLedgerError(() => readMeta<T>(this.#db, name));
  }

  /** Saves `value` under `name`, together with all outcomes that arrived. Durable on return. */
  setMeta(name: string, value: unknown): void {
    this.#writer.write(() => writeMeta(this.#db, name, toChecksummedJson(value)));
  }

  /** Books the calls in flight as maybe charged, and writes all bookings. Afterwards no attempt can be booked. */
  end(): void {
    if (this.#state !== 'open') return;
    this.#loseInFlight();
    this.#writer.close();
    this.#state = 'ended';
    this.budget.close();
  }

  close(): void {
    this.end();
    this.#state = 'closed';
    this.#db.close();
    this.#spare?.release();
  }

  /** Closes without writing, after an error that makes writing pointless. */
  abandon(): void {
    this.#loseInFlight();
    this.#state = 'closed';
    for (const stage of [this.budget, this.#db]) {
      try {
        stage.close();
      } catch {
        // Ignored: the caller reports the error for which it abandons the ledger.
      }
    }
  }

  /** Books this session's calls in flight as maybe charged. */
  #loseInFlight(): void {
    for (const entry of this.#books.loseAll()) this.#writer.add(entry);
  }
}
