import {Spare} from '../disk/spare.ts';
import type {Sqlite} from '../disk/sqlite.ts';
import type {Operation} from '../operations/table.ts';
import {Bills, type SavedBills} from './bills.ts';
import {Budget, type Holding, type Limits} from './budget.ts';
import type {BookedAttempt, KeptAnswer, LedgerEntry, Reservation} from './entry.ts';
import {GivenUp, type StartOver} from './given-up.ts';
import {guarded, openLedgerFile, removeNames, SPARE} from './ledger-file.ts';
import {answerOf, answersOf, type LedgerStatements, ledgerStatements, loseSent} from './ledger-rows.ts';
import {LedgerWriter} from './ledger-writer.ts';
import {isKept, type Outcome} from './lookup.ts';
import {saved, toSaved} from './saved-value.ts';
import {bookAttempt, bookLost, emptyTally, overEmpty, type Tally} from './tally.ts';

export interface LedgerOptions extends Limits {
  /** True if an earlier attempt of the run left a state that was unreadable. */
  readonly lostState?: boolean | undefined;
  /** True for a ledger that no run resumes. Its files are unlinked while open, so a kill leaves none behind. */
  readonly temporary?: boolean | undefined;
  /** Returns unspent credits of the killed session `holder` to budgets. `taken`: credits it took, by limit. */
  readonly giveBack?: ((holder: string, taken: (name: string) => number) => void) | undefined;
}

/**
 * The run's ledger. For each distinct value, its file has a durable reservation before the call, and the final
 * outcome after the call. So no value is bought twice, and no limit is exceeded, also when the run is resumed. The
 * ledger also keeps the books: the run's counts of calls and credits.
 *
 * A transaction writes reservations together with the outcomes that arrived since the last transaction. On a full
 * disk, the ledger reserves nothing more, but still writes the outcomes of calls in flight, into spare space. After
 * any other write error it writes nothing more. The books in memory then still count every call.
 *
 * @throws {StateError} if its file is damaged or of another version; {@link OutputError} if it can't be written.
 */
export class Ledger {
  readonly tally: Tally;
  readonly budget: Budget;
  readonly bills: Bills;
  /** Answers, doubts and spending from the time before the run's restarts. */
  readonly givenUp: GivenUp;
  /** Number of calls that were in flight when the last session ended: they may have been charged. */
  readonly interrupted: number;
  readonly #db: Sqlite;
  readonly #sql: LedgerStatements;
  readonly #writer: LedgerWriter;
  readonly #spare: Spare | undefined;
  /** Calls that were sent and are not booked yet, by their keys. */
  readonly #inFlight = new Map<string, Reservation>();
  #state: 'open' | 'ended' | 'closed' = 'open';

  constructor(path: string, options: LedgerOptions) {
    const {temporary = false, shared = []} = options;
    const full = !temporary && (options.maxCredits !== undefined || shared.length > 0);
    const db = guarded(() => openLedgerFile(path, full));
    if (temporary) removeNames(path);
    this.#db = db;
    this.#spare = temporary ? undefined : new Spare(path + SPARE);
    try {
      this.#sql = guarded(() => ledgerStatements(db));
      this.givenUp = guarded(() => new GivenUp(db, options.lostState ?? false));
      this.tally = overEmpty(emptyTally(), this.getMeta<Tally>('tally') ?? emptyTally());
      const saveBills = (bills: SavedBills) => guarded(() => this.#saveMeta('bills', bills));
      this.bills = new Bills(this.tally, this.getMeta<SavedBills>('bills'), saveBills);
      this.budget = new Budget(options, this.tally);
      this.#writer = new LedgerWriter({
        db,
        sql: this.#sql,
        saveTally: () => this.#saveMeta('tally', this.tally),
        spare: this.#spare,
      });
      this.interrupted = guarded(() => this.#bookInterrupted());
      // Gives back unspent credits of a killed session, before this session takes its own.
      const before = this.getMeta<Holding>('holding');
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

  /** Returns the entries of the values with these keys. A value that the ledger does not know has no entry. */
  find(keys: readonly string[]): Map<string, LedgerEntry> {
    return this.#writer.find(keys);
  }

  /** Number of the row that shows the answer of a key's first call; undefined if no row is chosen yet. */
  firstRow(key: string): number | undefined {
    const row = guarded(() => this.#sql.firstRow.get(key))?.first_row ?? null;
    return row === null ? this.#writer.unwritten.firstRows.get(key) : Number(row);
  }

  /** Sets the value's {@link firstRow}. Durable with the next checkpoint. */
  setFirstRow(key: string, row: number): void {
    this.#writer.unwritten.firstRows.set(key, row);
  }

  /** Forgets each {@link firstRow} after `row`, where the run resumes: the input may have changed from there on. */
  forgetRowsAfter(row: number): void {
    guarded(() => this.#sql.forgetRowsAfter.run(row));
  }

  /**
   * Durably reserves credits for the calls, in order, and marks them as sent. Returns how many the budgets allow.
   */
  reserve(batch: readonly Reservation[]): number {
    const granted: Reservation[] = [];
    try {
      for (const call of batch) {
        if (!this.budget.take(call.key, call.cost, call.renews)) break;
        granted.push(call);
        this.#countDistinct(call, 1);
      }
      if (granted.length > 0) this.#writer.write(granted);
    } catch (error) {
      for (const call of granted) {
        this.budget.release(call.key, call.cost, 'free');
        this.#countDistinct(call, -1);
      }
      throw error;
    }
    for (const call of granted) this.#inFlight.set(call.key, call);
    return granted.length;
  }

  /** Books an attempt. Resolves once the booking is in the file; rejects if it can't be written. */
  record(booked: BookedAttempt): Promise<void> {
    if (this.#state !== 'open') return Promise.reject(this.#writer.refusal);
    const nth = bookAttempt(this.tally, booked);
    this.#inFlight.delete(booked.key);
    this.budget.release(booked.key, booked.cost, booked.charge);
    this.#writer.unwritten.book(booked, nth);
    return this.#writer.soon();
  }

  /** Books a call whose outcome arrived after the call was booked as interrupted. */
  found(booked: BookedAttempt): Promise<void> {
    if (this.#state === 'open') {
      bookLost(this.tally, booked.operation, -1, -booked.cost);
      this.budget.hold(booked.cost);
    }
    return this.record({...booked, wasLost: true});
  }

  /**
   * Settles a value without a new call: by an earlier outcome, or as failed or unknown after its last allowed
   * send. `known`: true if the ledger has counted the value already.
   */
  adopt(operation: Operation, key: string, outcome: Outcome, known = false): void {
    const tally = this.tally.operations[operation];
    if (!known) tally.distinct += 1;
    if (isKept(outcome)) tally.fromStore += 1;
    if ('rejected' in outcome) tally.knownRejections += 1;
    this.#writer.adopt(key, {operation, outcome});
  }

  /** Settles a value by its earlier answer, after the call to renew that answer failed. */
  keep(operation: Operation, key: string, outcome: Outcome): void {
    this.#writer.adopt(key, {operation, outcome});
  }

  /** Makes a rejection usable for other runs if the value is to blame (`isKept`), else a failure of this run. */
  judgeRejection(key: string, isKept: boolean): void {
    this.#writer.unwritten.judge(key, isKept ? ++this.tally.bought : null);
  }

  /** Rejections that an earlier session left without a decision by {@link judgeRejection}. */
  unjudged(): KeptAnswer[] {
    return guarded(() => this.#sql.unjudged.all()).map(answerOf);
  }

  /**
   * Yields, in groups, the answers with a higher number than `nth`. If `nth` is 0, the answers from before a
   * restart come first.
   */
  *answersAfter(nth: number): Generator<KeptAnswer[]> {
    if (this.#state === 'open') this.#writer.drain();
    if (nth === 0) yield* this.givenUp.answers();
    yield* answersOf(last => guarded(() => this.#sql.answered.all(Number(last?.id ?? 0), nth)));
  }

  /**
   * Starts the run over at an endpoint and account (`scope`). Deletes all entries and the checkpoint. What was paid
   * for moves to {@link givenUp}: answers, spending, and doubts about calls. With a fresh budget the earlier
   * spending no longer counts.
   */
  restart(scope: string, how: StartOver = {}): void {
    guarded(() =>
      this.#db.transaction(() => {
        this.bills.begin(undefined, () => {
          Object.assign(this.tally, this.givenUp.begin(this.tally, scope, how));
        });
        if (how.run !== undefined) this.#saveMeta('run', how.run);
        this.#saveMeta('tally', this.tally);
        this.#saveHolding();
      }),
    );
    this.budget.clear();
  }

  getMeta<T>(name: string): T | undefined {
    const row = guarded(() => this.#sql.getMeta.get(name));
    return row && saved<T>(row.value);
  }

  /** Saves `value` under `name`, together with all outcomes that arrived. Durable on return. */
  setMeta(name: string, value: unknown): void {
    this.#writer.write([], () => this.#saveMeta(name, value));
  }

  /** Books the calls in flight as maybe charged, and writes all bookings. Afterwards no attempt can be booked. */
  end(): void {
    if (this.#state !== 'open') return;
    if (this.#loseInFlight()) this.#writer.write([], () => this.#saveLost());
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
    for (const close of [() => this.budget.close(), () => this.#db.close()]) {
      try {
        close();
      } catch {
        // Ignored: the caller reports the error for which it abandons the ledger.
      }
    }
  }

  #countDistinct({operation, known}: Reservation, by: 1 | -1): void {
    if (!known) this.tally.operations[operation].distinct += by;
  }

  #saveHolding(): void {
    const {holding} = this.budget;
    if (holding !== undefined) this.#saveMeta('holding', holding);
  }

  #saveMeta(name: string, value: unknown): void {
    this.#sql.setMeta.run(name, toSaved(value));
  }

  /** Books calls as maybe charged if they had no outcome when the last session ended. Returns their number. */
  #bookInterrupted(): number {
    const lost = this.#sql.sent.all();
    for (const {operation, n, cost} of lost)
      bookLost(this.tally, operation as Operation, Number(n), Number(cost));
    if (lost.length > 0) this.#db.transaction(() => this.#saveLost());
    return lost.reduce((sum, {n}) => sum + Number(n), 0);
  }

  /** Books this session's calls in flight as maybe charged, in memory only. Returns true if there were any. */
  #loseInFlight(): boolean {
    if (this.#inFlight.size === 0) return false;
    for (const {operation, cost} of this.#inFlight.values()) bookLost(this.tally, operation, 1, cost);
    this.#inFlight.clear();
    this.budget.clear();
    return true;
  }

  #saveLost(): void {
    loseSent(this.#sql);
    this.#saveMeta('tally', this.tally);
  }
}
