import {Spare} from '../disk/spare.ts';
import type {Sqlite} from '../disk/sqlite.ts';
import type {Operation} from '../operations/table.ts';
import {type Accounting, bookAttempt, bookLost, unbookLost} from './bookkeeping.ts';
import {type Books, emptyBooks, nothingSpent, type SpendingBy, scopeIn} from './books.ts';
import {attemptAll, Budget, type Holding} from './budget.ts';
import {type BookedAttempt, type KeptAnswer, type LedgerEntry, newEntry, type Reservation} from './entry.ts';
import {judgeRejections} from './judge-rejections.ts';
import {guarded, openLedgerFile, removeNames, SPARE} from './ledger-file.ts';
import type {LedgerOptions} from './ledger-options.ts';
import {answersAfter, type LedgerStatements, ledgerStatements, type ScopedAnswers} from './ledger-rows.ts';
import {LedgerWriter} from './ledger-writer.ts';
import {isKept, type LookupKey, type Outcome} from './lookup.ts';
import {Meta} from './meta.ts';
import {recoverLeases} from './recovery.ts';
import {emptyTally, noRefusalsYet, type Tally} from './tally.ts';
import {UsedValues} from './used-values.ts';
import {noAttempts} from './value-history.ts';

/** Maximum number of calls that leave together. */
const MOST_IN_LEASE = 2 ** 20;

/**
 * The run's ledger: all that a run remembers. For each distinct value at an endpoint and account, its file has a
 * durable reservation before the call, and the final outcome after the call. So no value is bought twice, and no limit
 * is exceeded, however often the run is killed, and whatever list or settings it has next. The ledger also keeps the
 * books: the counts of calls and credits.
 *
 * A transaction writes reservations together with the outcomes that arrived since the last transaction. On a full
 * disk, the ledger reserves nothing more, but still writes the outcomes of calls in flight, into spare space. After
 * any other write error it writes nothing more. The books in memory then still count every call.
 *
 * @throws {StateError} if its file is damaged or of another version; {@link OutputError} if it can't be written.
 */
export class Ledger {
  /** The counts of this session. */
  readonly tally: Tally;
  readonly budget: Budget;
  /** Number of calls that were in flight when the last session ended: they may have been charged. */
  readonly interrupted: number;
  /** True if the ledger had values when it was opened. */
  readonly isResumed: boolean;
  readonly #options: LedgerOptions;
  readonly #db: Sqlite;
  readonly #meta: Meta;
  readonly #accounts: Accounting;
  /** Number of answers that the run had bought when this session began. */
  readonly #boughtBefore: number;
  readonly #sql: LedgerStatements;
  readonly #writer: LedgerWriter;
  readonly #spare: Spare | undefined;
  #used: UsedValues;
  /** Calls that were sent and are not booked yet, by their keys, with their lease and place in the order of sending. */
  readonly #inFlight = new Map<
    string,
    {readonly call: Reservation; readonly lease: number; readonly nthSent: number}
  >();
  #state: 'open' | 'ended' | 'closed' = 'open';

  constructor(path: string, options: LedgerOptions) {
    const {temporary = false, shared = []} = options;
    const full = !temporary && (options.maxCredits !== undefined || shared.length > 0);
    const db = guarded(() => openLedgerFile(path, full));
    if (temporary) removeNames(path);
    this.#options = options;
    this.#db = db;
    this.#spare = temporary ? undefined : new Spare(path + SPARE);
    try {
      this.#meta = new Meta(db);
      const books = this.#meta.get<Books>('books') ?? emptyBooks();
      this.#boughtBefore = books.bought;
      this.tally = emptyTally(books.refusals);
      this.#accounts = {books, scope: scopeIn(books, options.scope), tally: this.tally};
      this.#sql = guarded(() => ledgerStatements(db, this.#accounts.scope));
      this.interrupted = guarded(() => recoverLeases(db, this.#accounts, this.#meta));
      this.isResumed = guarded(() => this.#sql.any.get()) !== undefined;
      this.#used = this.#unused();
      this.budget = new Budget(options, books, this.#accounts.scope);
      this.#writer = new LedgerWriter({db, sql: this.#sql, meta: this.#meta, books, spare: this.#spare});
      // Gives back unspent credits of a killed session, before this session takes its own.
      const before = this.#meta.get<Holding>('holding');
      if (before !== undefined) options.giveBack?.(before.holder, this.budget.takenSince(before));
      guarded(() => this.#saveHolding());
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** True while entries can be read, also after {@link end}. False once the ledger is closed or a write failed. */
  get isReadable(): boolean {
    return this.#state === 'ended' || (this.#state === 'open' && this.#writer.refusal === undefined);
  }

  /** Spending since the count began, by operation. */
  get spending(): SpendingBy {
    const {books, scope} = this.#accounts;
    return books.spending[scope] ?? nothingSpent();
  }

  /** Spending since the count began, of each endpoint and account by its number. */
  get spendingByScope(): readonly (readonly [scope: number, SpendingBy])[] {
    const {scopes, spending} = this.#accounts.books;
    return scopes.flatMap((_, scope) => {
      const by = spending[scope];
      return by ? [[scope, by] as const] : [];
    });
  }

  /** The number of this session's endpoint and account. */
  get scope(): number {
    return this.#accounts.scope;
  }

  /** Number of answers that the run has bought. */
  get bought(): number {
    return this.#accounts.books.bought;
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

  /** True if this session bought the entry's outcome. It then holds for the session, whatever the clock says. */
  isOfSession({nth}: LedgerEntry): boolean {
    return nth !== null && nth > this.#boughtBefore;
  }

  /** Counts a value whose rows get the outcome in the ledger. */
  use(entry: LedgerEntry): void {
    this.#used.addKnown(entry);
  }

  /** Begins to count values anew, since the run reads its input again. */
  readAgain(): void {
    this.#writer.drain();
    this.#used = this.#unused();
    for (const counts of Object.values(this.tally.operations))
      Object.assign(counts, {distinct: 0, fromStore: 0, knownRejections: 0});
  }

  /**
   * Durably reserves credits for the calls, in order, and marks them as sent. Returns how many the budgets allow.
   */
  reserve(batch: readonly Reservation[]): number {
    const granted: Reservation[] = [];
    const {books} = this.#accounts;
    try {
      for (const call of batch) {
        if (!this.budget.take(call.key, call.cost, call.renews)) break;
        granted.push(call);
      }
      if (granted.length === 0) return 0;
      books.lease += 1;
      this.#writer.reserve(books.lease, granted);
    } catch (error) {
      for (const call of granted) this.budget.release(call.key, call.cost, 'free');
      throw error;
    }
    for (const [index, call] of granted.entries()) {
      this.#used.add(call.entry);
      this.#inFlight.set(call.key, {call, lease: books.lease, nthSent: books.lease * MOST_IN_LEASE + index});
    }
    return granted.length;
  }

  /** Books an attempt. Resolves once the booking is in the file; rejects if it can't be written. */
  record(booked: BookedAttempt): Promise<void> {
    const sent = this.#inFlight.get(booked.key);
    if (this.#state !== 'open' || sent === undefined) return Promise.reject(this.#writer.refusal);
    const {entry} = sent.call;
    this.#inFlight.delete(booked.key);
    this.budget.release(booked.key, booked.cost, booked.charge);
    entry.lease = sent.lease;
    return this.#book(entry, booked, sent.nthSent);
  }

  /** Books a call whose outcome arrived after the call was booked as interrupted. */
  found(entry: LedgerEntry, booked: BookedAttempt): Promise<void> {
    if (this.#state !== 'open') return Promise.reject(this.#writer.refusal);
    unbookLost(this.#accounts, entry, booked.cost);
    return this.#book(entry, booked, entry.lease * MOST_IN_LEASE);
  }

  /**
   * Settles a value without a new call: by an earlier outcome, or as failed or unknown after its last allowed send.
   */
  adopt(entry: LedgerEntry, outcome: Outcome): void {
    this.#used.add(entry);
    Object.assign(entry, {outcome, nth: null});
    if (isKept(outcome)) {
      entry.history = noAttempts;
      this.#used.countStored(entry, outcome);
    }
    this.#writer.add(entry);
  }

  /**
   * Judges the rejections of the run, once it makes no more calls. A rejection is its value's answer, also for other
   * runs, if a call that was sent later was answered, and if it is not one of `streak` or more that were sent without
   * an answered call between them. Otherwise the account may be the reason: then it is a failure of this run. Calls
   * `keep` with the answers, and returns the number of failures by operation.
   */
  judgeRejections(streak: number, keep: (answer: KeptAnswer) => void): ReadonlyMap<Operation, number> {
    return guarded(() => judgeRejections(this.#sql, this.#writer, this.#accounts.books, streak, keep));
  }

  /** Yields, in groups, the answers with a higher number than `nth`, also those of other endpoints and accounts. */
  *answersAfter(nth: number): Generator<ScopedAnswers> {
    if (this.#state === 'open') this.#writer.drain();
    yield* answersAfter(this.#sql, nth, this.#accounts.books.scopes);
  }

  /**
   * Begins a new count for the run `run`: earlier spending counts against no limit, failed values are looked up again,
   * and all doubts of a value count as one. Answers stay.
   */
  beginCount(run: unknown): void {
    const {books} = this.#accounts;
    guarded(() =>
      this.#db.transaction(() => {
        Object.assign(books, {spending: [], draws: {}});
        Object.assign(books.refusals, noRefusalsYet());
        this.#sql.forgetFailures.run(1);
        this.#sql.forgetDoubts.run();
        this.#meta.set('run', run);
        this.#meta.set('books', books);
        this.#saveHolding();
      }),
    );
  }

  /** Lets the next session look failed values up again, as if they had not been sent: the service is to blame. */
  forgetFailures(): void {
    Object.assign(this.#accounts.books.refusals, noRefusalsYet());
    this.#writer.write(() => this.#sql.forgetFailures.run(0));
  }

  /** Reads a value that {@link setMeta} saved; undefined if there is none. */
  getMeta<T>(name: string): T | undefined {
    return this.#meta.get<T>(name);
  }

  /** Saves `value` under `name`, together with all outcomes that arrived. Durable on return. */
  setMeta(name: string, value: unknown): void {
    this.#writer.write(() => this.#meta.set(name, value));
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
    // Errors are ignored: the caller reports the error for which it abandons the ledger.
    attemptAll([() => this.budget.close(), () => this.#db.close()]);
  }

  /** `nthSent`: the call's place in the order of sending. */
  #book(entry: LedgerEntry, booked: BookedAttempt, nthSent: number): Promise<void> {
    bookAttempt(this.#accounts, entry, booked, nthSent);
    this.#writer.book(entry);
    return this.#writer.soon();
  }

  #unused(): UsedValues {
    const {last} = guarded(() => this.#sql.lastId.get()) ?? {};
    return new UsedValues(this.tally, Number(last ?? 0));
  }

  #saveHolding(): void {
    const {holding} = this.budget;
    if (holding !== undefined) this.#meta.set('holding', holding);
  }

  /** Books this session's calls in flight as maybe charged. */
  #loseInFlight(): void {
    for (const {call, lease} of this.#inFlight.values()) {
      bookLost(this.#accounts, call.entry, {...call, lease});
      this.#writer.book(call.entry);
    }
    this.#inFlight.clear();
    this.budget.clear();
  }
}
