import {type Operation, perOperation} from '../../operations/table.ts';
import {isStorable, type LookupKey, type Outcome} from '../lookup-outcome.ts';
import {Budget, type CreditLimits} from './budget.ts';
import {
  type BookedAttempt,
  failureOf,
  findValuesAtFault,
  type KeyedAnswer,
  keyedAnswerOf,
  type LedgerEntry,
  newEntry,
  noAttempts,
  type Reservation,
} from './ledger-entry.ts';
import {LedgerFile} from './ledger-file.ts';
import {
  bookInterrupted,
  countBooked,
  DistinctValueCounter,
  emptyTally,
  resetRunCounts,
  type SpendingByOperation,
  type Tally,
  unbookInterrupted,
  zeroRunCounts,
} from './tally.ts';

export interface LedgerOptions extends CreditLimits {
  /** Endpoint and account of this session, as a key. A new ledger belongs to them. */
  readonly scope: string;
  /** True if an earlier session of the run left a state that was unreadable: it may have sent any value. */
  readonly lostState?: boolean | undefined;
  /** True for a ledger that no run resumes. Its files are unlinked while open, so a kill leaves none behind. */
  readonly temporary?: boolean | undefined;
}

/**
 * All that a run of one output at one endpoint and account remembers. For each distinct value, its file has a durable
 * reservation before the call, and the final outcome with its cost after the call. So no value is bought twice, and no
 * limit is exceeded, however often the run is killed, and whatever list or settings it has next. After a failed write, the
 * counts in memory still have every call.
 *
 * @throws {StateError} if its file is damaged or of another version; {@link OutputError} if it can't be written.
 */
export class Ledger {
  readonly tally: Tally;
  /** Spending since the count began, by operation, with this session's. */
  readonly spending: SpendingByOperation;
  readonly budget: Budget;
  /** Number of calls that were in flight when the last session ended: they may have been charged. */
  readonly interrupted: number;
  readonly isResumed: boolean;
  /** Endpoint and account of the ledger's values, as a key. If they are not this session's, it must call {@link beginCount}. */
  readonly owner: string;
  readonly #options: LedgerOptions;
  readonly #file: LedgerFile;
  readonly #session: LedgerFile['session'];
  /** Answers with a higher number hold for this session: at first, those that it buys. */
  #boughtBefore: number;
  #used: DistinctValueCounter;
  #state: 'open' | 'ended' | 'closed' = 'open';

  constructor(path: string, options: LedgerOptions) {
    const {scope, temporary = false, maxCredits, account} = options;
    const file = new LedgerFile(path, scope, !temporary && (maxCredits ?? account) !== undefined, temporary);
    this.#options = options;
    this.#file = file;
    const {counts, owner, interrupted, lastId, bought} = file.session;
    this.#session = file.session;
    this.tally = emptyTally(counts);
    this.spending = counts.spending;
    this.budget = new Budget(options, counts);
    this.owner = owner;
    this.interrupted = interrupted;
    this.isResumed = lastId > 0;
    this.#boughtBefore = bought;
    this.#used = new DistinctValueCounter(this.tally, lastId);
  }

  /** True while entries can be read, also after {@link end}. False once the ledger is closed or a write failed. */
  get isReadable(): boolean {
    return this.#state === 'ended' || (this.#state === 'open' && this.#file.refusal === undefined);
  }

  get inFlight(): number {
    return this.#file.inFlight.size;
  }

  sumInFlight(measure: (call: Reservation) => number): number {
    return [...this.#file.inFlight.values()].reduce((sum, call) => sum + measure(call), 0);
  }

  get bought(): number {
    return this.#session.bought;
  }

  /** Returns the entries of the values with these keys. A value that the ledger does not know has no entry. */
  find(keys: readonly string[]): Map<string, LedgerEntry> {
    const found = this.#file.find(keys);
    for (const entry of found.values()) entry.isUsed ||= this.#used.has(entry);
    return found;
  }

  /** The entry of a value that {@link find} did not find. */
  newEntry(lookup: LookupKey): LedgerEntry {
    const wasSent = this.#options.lostState === true;
    return newEntry(lookup, wasSent ? {...noAttempts, mayBeCarriedOut: true} : noAttempts);
  }

  /** True if this session bought the entry's outcome, or {@link useAnswersAfter} allows it. It then holds, whatever the clock says. */
  isOfSession({answerNumber}: LedgerEntry): boolean {
    return answerNumber !== null && answerNumber > this.#boughtBefore;
  }

  /** Lets this session use all answers with a higher number than `number`, whatever their age. */
  useAnswersAfter(number: number): void {
    this.#boughtBefore = number;
  }

  /**
   * Gives up the answers with a higher number than `number` that are not fresh any more: what they cost counts against no
   * limit of the run. Returns their number. `costOf`: cost of a call, in thousandths of a credit.
   */
  expireAnswers(
    number: number,
    isFresh: (entry: LedgerEntry) => boolean,
    costOf: (operation: Operation) => number,
  ): number {
    const answers = perOperation(() => 0);
    for (const entries of this.#file.answeredAfter(number))
      for (const {operation} of entries) answers[operation] += 1;
    let count = 0;
    for (const entries of this.#file.answeredAfter(number))
      for (const entry of entries.filter(each => !isFresh(each))) {
        const {operation} = entry;
        // Prices may have changed since: an answer counts no more than was spent on it.
        const paid = Math.floor(this.spending[operation].spent / answers[operation]);
        this.#session.counts.expired += Math.min(costOf(operation), paid);
        this.#file.addSettled(Object.assign(entry, {answerNumber: null}));
        count += 1;
      }
    this.#file.drain();
    return count;
  }

  /** Counts a value as used by this session: its rows get the outcome that the ledger has. */
  markUsed(entry: LedgerEntry): void {
    this.#used.addKnown(entry);
  }

  /** Begins to count values anew, since the run reads its input again. */
  restartDistinctCounts(): void {
    this.#used = new DistinctValueCounter(this.tally, this.#file.lastRow());
    for (const counts of Object.values(this.tally.operations))
      Object.assign(counts, {distinct: 0, fromStore: 0, knownRejections: 0});
  }

  /**
   * Durably reserves credits for the calls, in order, and marks them as sent. Returns how many the budgets allow.
   * Writes all that was booked before in the same transaction, also if no call is reserved.
   */
  reserve(batch: readonly Reservation[]): number {
    const granted = batch.slice(0, this.budget.reserve(batch));
    try {
      this.#file.reserve(granted);
    } catch (error) {
      for (const call of granted) this.budget.release(call, 'free');
      throw error;
    }
    for (const {entry} of granted) this.#used.add(entry);
    return granted.length;
  }

  /** Books an attempt. The next {@link reserve} writes it. A call that was booked at {@link end} stays as it is. */
  bookAttempt(booked: BookedAttempt): void {
    const call = this.#file.inFlight.get(booked.key);
    if (call === undefined) return;
    this.#file.inFlight.delete(call.key);
    this.budget.release(call, booked.charge);
    if (call.renews === true && booked.charge !== 'free') this.#session.counts.renewed += call.cost;
    this.#book(call.entry, booked);
  }

  /** Books a call whose outcome arrived after the call was booked as interrupted. Durable on return. */
  bookLate(entry: LedgerEntry, booked: BookedAttempt): void {
    if (this.#state !== 'open') throw this.#file.refusal;
    unbookInterrupted(booked, this.#session.counts);
    this.#book(entry, booked);
    this.#file.drain();
  }

  #book(entry: LedgerEntry, booked: BookedAttempt): void {
    const {outcome, history} = booked;
    countBooked(this.tally, this.#session.counts.spending[booked.operation], booked);
    Object.assign(entry, {history, interrupted: undefined});
    // An attempt without an outcome leaves an earlier answer, which rows may still get if no call is possible.
    if (outcome !== undefined) {
      Object.assign(entry, {outcome, answerNumber: isStorable(outcome) ? 0 : null});
      if (isStorable(outcome) && outcome.rejected !== 'once')
        Object.assign(entry, {answerNumber: ++this.#session.bought, history: noAttempts});
    }
    this.#file.add(entry);
  }

  /** Settles a value without a new call: by an earlier outcome, or as failed or unknown after its last allowed send. */
  settleWithoutCall(entry: LedgerEntry, outcome: Outcome): void {
    this.#used.add(entry);
    this.#used.countStored(entry.operation, outcome);
    Object.assign(entry, {outcome, answerNumber: null}, isStorable(outcome) && {history: noAttempts});
    this.#file.addSettled(entry);
  }

  /**
   * Judges the rejections of the run, once it makes no more calls. A rejection is its value's answer, also for other
   * runs, if {@link findValuesAtFault} says so. Otherwise the account may be the reason: then it is a failure of this run.
   * Calls `keep` with the answers, and returns the number of failures among this session's values, by operation.
   */
  settleRejections(streak: number, keep: (answer: KeyedAnswer) => void): ReadonlyMap<Operation, number> {
    const failures = new Map<Operation, number>();
    const {rejected, answered} = this.#file.rejectedAndAnsweredCalls();
    const atFault = findValuesAtFault(rejected, answered, streak);
    for (const entries of this.#file.unjudgedRejections())
      for (const entry of entries) {
        const {id, operation} = entry;
        if (atFault.has(id))
          keep(keyedAnswerOf(Object.assign(entry, {answerNumber: ++this.#session.bought})));
        else {
          Object.assign(entry, {outcome: failureOf(entry), answerNumber: null});
          // A list may have lost the rows of other values since.
          if (this.#used.has(entry)) failures.set(operation, (failures.get(operation) ?? 0) + 1);
        }
        this.#file.add(entry);
      }
    return failures;
  }

  *answersAfter(number: number): Generator<KeyedAnswer[]> {
    for (const entries of this.#file.answeredAfter(number)) yield entries.map(keyedAnswerOf);
  }

  /** The answers that were bought after the answer with this number, with those that no store keeps. */
  *newAnswersAfter(
    number: number,
  ): Generator<{operation: Operation; outcome: Extract<Outcome, {status: 'ok'}>}[]> {
    for (const entries of this.#file.answeredAfter(number, 'bought'))
      yield entries.flatMap(({operation, outcome}) =>
        outcome?.status === 'ok' ? [{operation, outcome}] : [],
      );
  }

  /**
   * Begins a new count for the run `run`: earlier spending counts against no limit, failed values are looked up again,
   * and all doubts of a value count as one. Answers stay, unless they are of another endpoint or account.
   */
  beginCount(run: unknown): void {
    resetRunCounts(this.#session.counts);
    this.#file.beginCount(this.#options.scope, run);
  }

  /** Lets the next session look failed values up again, as if they had not been sent: the service is to blame. */
  forgetFailures(): void {
    Object.assign(this.tally.refusals, zeroRunCounts().refusals);
    this.#file.forgetFailures();
  }

  getMeta<T>(name: string): T | undefined {
    return this.#file.getMeta<T>(name);
  }

  /** Saves `value` under `name`, together with all outcomes that arrived. Durable on return. */
  setMeta(name: string, value: unknown): void {
    this.#file.setMeta(name, value);
  }

  /** Books the calls in flight as maybe charged, and writes all bookings. Afterwards no attempt can be booked. */
  end(): void {
    if (this.#state !== 'open') return;
    this.#loseInFlight();
    this.#file.endWriting();
    this.#state = 'ended';
    this.budget.close();
  }

  close(): void {
    this.end();
    this.#state = 'closed';
    this.#file.close();
  }

  /** Closes without writing, after an error that makes writing pointless. */
  abandon(): void {
    this.#loseInFlight();
    this.#state = 'closed';
    for (const close of [() => this.budget.close(), () => this.#file.abandon()]) {
      try {
        close();
      } catch {
        // Ignored: the caller reports the error for which it abandons the ledger.
      }
    }
  }

  #loseInFlight(): void {
    const lost = [...this.#file.inFlight.values()];
    this.#file.inFlight.clear();
    for (const call of lost) {
      this.budget.release(call, 'maybe');
      bookInterrupted(call, this.#session.counts);
      this.#file.add(call.entry);
    }
  }
}
