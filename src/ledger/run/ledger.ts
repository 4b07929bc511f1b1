import {Spare} from '../../disk/spare.ts';
import type {Sqlite} from '../../disk/sqlite.ts';
import type {Operation} from '../../operations/table.ts';
import {isKept, type LookupKey, type Outcome} from '../lookup.ts';
import {type Accounting, bookAttempt, bookLost, unbookLost} from './bookkeeping.ts';
import {type Books, emptyBooks, nothingSpent, type SpendingBy, scopeIn} from './books.ts';
import {attemptAll, Budget, type Holding} from './budget.ts';
import {type BookedAttempt, type KeptAnswer, type LedgerEntry, newEntry, type Reservation} from './entry.ts';
import {judgeRejections} from './judge-rejections.ts';
import {guarded, openLedgerFile, removeNames, SPARE} from './ledger-file.ts';
import type {LedgerOptions} from './ledger-options.ts';
import {answersAfter, type LedgerStatements, ledgerStatements, type ScopedAnswers} from './ledger-rows.ts';
import {LedgerWriter} from './ledger-writer.ts';
import {Meta} from './meta.ts';
import {recoverLeases} from './recovery.ts';
import {emptyTally, noRefusalsYet, type Tally} from './tally.ts';
import {UsedValues} from './used-values.ts';
import {noAttempts} from './value-history.ts';

/** Maximum number of calls that leave together. */
const MOST_IN_LEASE = 2 ** 20;

/** A call that is not booked yet: the `nth` of its lease. `limits`: names of the limits that its credits are of. */
interface CallInFlight {
  readonly call: Reservation;
  readonly limits: readonly string[];
  readonly lease: number;
  readonly nth: number;
}

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
  /** Calls that were sent and are not booked yet, by their keys. */
  readonly #inFlight = new Map<string, CallInFlight>();
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

  /** Calls in flight: those that were reserved and are not booked yet. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Adds up `measure` over the calls in flight. */
  sumInFlight(measure: (call: Reservation) => number): number {
    let sum = 0;
    for (const {call} of this.#inFlight.values()) sum += measure(call);
    return sum;
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
   * Writes all that was booked before in the same transaction, also if no call is reserved.
   */
  reserve(batch: readonly Reservation[]): number {
    const granted: CallInFlight[] = [];
    const {books} = this.#accounts;
    try {
      for (const call of batch) {
        const limits = this.budget.take(call.cost, call.renews);
        if (limits === undefined) break;
        granted.push({call, limits, lease: books.lease + 1, nth: granted.length});
      }
      if (granted.length === 0) this.#writer.drain();
      else this.#writer.reserve(++books.lease, batch.slice(0, granted.length));
    } catch (error) {
      for (const {call, limits} of granted) this.budget.release(limits, call, 'free');
      throw error;
    }
    for (const sent of granted) {
      this.#used.add(sent.call.entry);
      this.#inFlight.set(sent.call.key, sent);
    }
    return granted.length;
  }

  /** Books an attempt. The next {@link reserve} writes it. A call that was booked at {@link end} stays as it is. */
  record(booked: BookedAttempt): void {
    const sent = this.#inFlight.get(booked.key);
    if (this.#state !== 'open' || sent === undefined) return;
    const {call, limits, lease, nth} = sent;
    this.#inFlight.delete(booked.key);
    this.budget.release(limits, call, booked.charge);
    call.entry.lease = lease;
    this.#book(call.entry, booked, lease * MOST_IN_LEASE + nth);
  }

  /** Books a call whose outcome arrived after the call was booked as interrupted. Durable on return. */
  found(entry: LedgerEntry, booked: BookedAttempt): void {
    if (this.#state !== 'open') throw this.#writer.refusal;
    unbookLost(this.#accounts, entry, booked.cost);
    this.#book(entry, booked, entry.lease * MOST_IN_LEASE);
    this.#writer.drain();
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
  #book(entry: LedgerEntry, booked: BookedAttempt, nthSent: number): void {
    bookAttempt(this.#accounts, entry, booked, nthSent);
    this.#writer.book(entry);
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
    for (const {call, limits, lease} of this.#inFlight.values()) {
      bookLost(this.#accounts, call.entry, {...call, lease});
      this.budget.release(limits, call, 'maybe');
      this.#writer.book(call.entry);
    }
    this.#inFlight.clear();
  }
}
