import type {Sqlite} from '../disk/sqlite.ts';
import type {Operation} from '../operations/table.ts';
import {Bills, type SavedBills} from './bills.ts';
import {Budget, type Holding, type Limits} from './budget.ts';
import {type CallRecord, CallRecords} from './call-records.ts';
import {
  answerOf,
  answersOf,
  type BookedAttempt,
  entryOf,
  type KeptAnswer,
  type LedgerEntry,
  type Reservation,
  reservedColumns,
} from './entry.ts';
import {GivenUp, type StartOver} from './given-up.ts';
import {KeyFilter} from './key-filter.ts';
import {
  findRows,
  guarded,
  type LedgerStatements,
  ledgerStatements,
  openLedgerFile,
  removeNames,
  saved,
} from './ledger-file.ts';
import {isKept, type Outcome} from './lookup.ts';
import {bookAttempt, bookLost, emptyTally, overEmpty, type Tally} from './tally.ts';
import {afterNextSends, Unwritten} from './unwritten.ts';

export interface LedgerOptions extends Limits {
  /** True if the run had state that was unreadable. */
  readonly lostState?: boolean | undefined;
  /** No run resumes from it: its files lose their names at once, so none is left however the process ends. */
  readonly temporary?: boolean | undefined;
  /** True to record each call: see {@link CallRecords}. */
  readonly recordsCalls?: boolean | undefined;
  /** Gives the unspent rest of a killed session's blocks back. `taken`: what that session took of a limit. */
  readonly giveBack?: ((holder: string, taken: (name: string) => number) => void) | undefined;
}

/**
 * The run's ledger. For each distinct value it holds a durable reservation before the call, and the final outcome
 * after. Repeats, resumes, the budget and the books rely on it.
 *
 * Transactions are grouped: reservations are written with the outcomes that arrived since. After a failed write the
 * ledger refuses all others, since its books in memory are ahead of the file's.
 *
 * @throws {StateError} if its file is damaged or of another version; {@link OutputError} if it can't be written.
 */
export class Ledger {
  readonly tally: Tally;
  readonly budget: Budget;
  readonly bills: Bills;
  /** The run's attempts that a restart gave up. */
  readonly givenUp: GivenUp;
  /** Calls in flight when the last session ended: they may have been charged. */
  readonly interrupted: number;
  readonly #db: Sqlite;
  readonly #sql: LedgerStatements;
  /** Undefined if no session has recorded its calls. */
  readonly #calls: CallRecords | undefined;
  readonly #recordsCalls: boolean;
  /** Keys that have a row, or will have one. */
  readonly #keys: KeyFilter;
  #unwritten = new Unwritten();
  #flush: Promise<void> | undefined;
  #state: 'open' | 'ended' | 'failed' | 'closed' = 'open';

  constructor(path: string, options: LedgerOptions) {
    const {temporary = false, shared = [], recordsCalls = false} = options;
    this.#recordsCalls = recordsCalls;
    const full = !temporary && (options.maxCredits !== undefined || shared.length > 0);
    const db = guarded(() => openLedgerFile(path, full));
    if (temporary) removeNames(path);
    this.#db = db;
    try {
      this.#sql = guarded(() => ledgerStatements(db));
      this.#keys = new KeyFilter(guarded(() => this.#sql.any.get()) !== undefined);
      this.givenUp = guarded(() => new GivenUp(db, options.lostState ?? false));
      this.#calls = guarded(() => (recordsCalls || CallRecords.areIn(db) ? new CallRecords(db) : undefined));
      this.tally = overEmpty(emptyTally(), this.getMeta<Tally>('tally') ?? emptyTally());
      const saveBills = (bills: SavedBills) => guarded(() => this.#saveMeta('bills', bills));
      this.bills = new Bills(this.tally, this.getMeta<SavedBills>('bills'), saveBills);
      this.budget = new Budget(options, this.tally);
      this.interrupted = guarded(() => this.#giveUpSent());
      // Gives back the last session's blocks before this one takes its own.
      const before = this.getMeta<Holding>('holding');
      if (before !== undefined) options.giveBack?.(before.holder, this.budget.takenSince(before));
      guarded(() => this.#saveHolding());
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** False after it was closed, or after a write failed. */
  get isReadable(): boolean {
    return this.#state === 'open' || this.#state === 'ended';
  }

  /** The entries of these values; a new value has no entry. */
  find(keys: readonly string[]): Map<string, LedgerEntry> {
    const known = keys.filter(key => this.#keys.mayHave(key));
    if (known.some(key => this.#unwritten.open.has(key))) this.#drain();
    const found = this.#unwritten.entriesOf(known);
    const others = known.filter(key => !found.has(key));
    for (const row of guarded(() => findRows(this.#sql, others))) found.set(row.key as string, entryOf(row));
    return found;
  }

  /** The first row with this value; undefined if no later row needs it. */
  firstRow(key: string): number | undefined {
    const row = guarded(() => this.#sql.firstRow.get(key))?.first_row ?? null;
    return row === null ? this.#unwritten.adopted.get(key)?.firstRow : Number(row);
  }

  /**
   * Reserves the credits of these calls in order, as far as the budgets allow, and marks their values as sent. Durable
   * on return. Returns how many may be sent.
   */
  reserve(batch: readonly Reservation[]): number {
    const refused = batch.findIndex(({key, cost, renews}) => !this.budget.take(key, cost, renews));
    const granted = refused < 0 ? batch : batch.slice(0, refused);
    for (const {operation, known} of granted) if (!known) this.tally.operations[operation].distinct += 1;
    try {
      if (granted.length > 0) this.#write(granted);
    } catch (error) {
      for (const {key, cost} of granted) this.budget.release(key, cost, 'free');
      throw error;
    }
    return granted.length;
  }

  /** Books an attempt. Resolves once the file has it. */
  record(booked: BookedAttempt): Promise<void> {
    if (this.#state !== 'open') return Promise.reject(new Error('the ledger is closed'));
    this.#unwritten.book(booked, bookAttempt(this.tally, booked));
    this.budget.release(booked.key, booked.cost, booked.charge);
    return this.#soon();
  }

  /** Books a call whose outcome arrives after it was given up as interrupted. */
  found(booked: BookedAttempt): Promise<void> {
    bookLost(this.tally, booked.operation, -1, -booked.cost);
    this.budget.hold(booked.cost);
    return this.record(booked);
  }

  /** Takes over an outcome without a call: from the store, or from an attempt that was given up. */
  adopt(operation: Operation, key: string, outcome: Outcome, known = false, firstRow?: number): void {
    this.#keys.add(key);
    this.#unwritten.adopt(key, {operation, outcome, firstRow});
    const tally = this.tally.operations[operation];
    if (!known) tally.distinct += 1;
    if (isKept(outcome)) tally.fromStore += 1;
    if ('rejected' in outcome) tally.knownRejections += 1;
    if (this.#unwritten.isFull) this.#drain();
  }

  /** Settles a value by its earlier answer after the call to renew it failed. */
  keep(operation: Operation, key: string, outcome: Outcome): void {
    this.#unwritten.adopt(key, {operation, outcome, firstRow: undefined});
  }

  /** Judges a rejection: kept for other runs if it is about the value, else a failure of this run only. */
  judgeRejection(key: string, isKept: boolean): void {
    this.#unwritten.judge(key, isKept ? ++this.tally.bought : null);
  }

  /** Rejections that a killed session left unjudged. */
  unjudged(): KeptAnswer[] {
    return guarded(() => this.#sql.unjudged.all()).map(answerOf);
  }

  /** Yields the answers bought after the `nth`, in groups. From 0 on, those of earlier attempts come first. */
  *answersAfter(nth: number): Generator<KeptAnswer[]> {
    if (this.#state === 'open') this.#drain();
    if (nth === 0) yield* this.givenUp.answers();
    yield* answersOf(last => guarded(() => this.#sql.answered.all(Number(last?.id ?? 0), nth)));
  }

  /**
   * Starts the run over at an endpoint and account. Outcomes and checkpoint are deleted. Answers, doubts and spending
   * are kept; with a fresh budget the spending counts no more.
   */
  restart(scope: string, how: StartOver = {}): void {
    guarded(() =>
      this.#db.transaction(() => {
        this.bills.begin(undefined, () => {
          Object.assign(this.tally, this.givenUp.begin(this.tally, scope, how));
          if (how.freshBudget === true) this.#calls?.forget();
        });
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

  /** Saves a value together with all outcomes that arrived. Durable on return. */
  setMeta(name: string, value: unknown): void {
    this.#write([], () => this.#saveMeta(name, value));
  }

  /** Yields the attempts that count in the books. */
  *callRecords(): Generator<CallRecord> {
    if (this.#calls !== undefined) yield* this.#calls.of(this.givenUp.scope);
  }

  /** Writes all that waits, and books calls in flight as maybe spent. The books don't change after this. */
  end(): void {
    if (this.#state === 'ended' || this.#state === 'closed') return;
    this.#drain();
    if (this.budget.inFlight > 0) guarded(() => this.#giveUpSent());
    this.budget.close();
    this.#state = 'ended';
  }

  close(): void {
    this.end();
    this.#state = 'closed';
    this.#db.close();
  }

  /** Closes without writing, after an error that makes writing pointless. */
  abandon(): void {
    this.#state = 'closed';
    for (const close of [() => this.budget.abandon(), () => this.#db.close()]) {
      try {
        close();
      } catch {
        // Report the error that led here, not this one.
      }
    }
  }

  /** Writes with the next reservations, a moment later; if there are none, without them. */
  #soon(): Promise<void> {
    this.#flush ??= afterNextSends(() => {
      this.#flush = undefined;
      this.#drain();
    });
    return this.#flush;
  }

  #drain(): void {
    if (this.#unwritten.size > 0) this.#write([]);
  }

  #write(reservations: readonly Reservation[], more?: () => void): void {
    if (this.#state !== 'open') throw new Error('the ledger is closed');
    const {runId: run = ''} = (this.#recordsCalls && this.getMeta<{readonly runId: string}>('run')) || {};
    const unwritten = this.#unwritten;
    this.#unwritten = new Unwritten();
    this.#state = 'failed';
    guarded(() =>
      this.#db.transaction(() => {
        unwritten.writeTo(this.#sql, this.#calls);
        for (const reservation of reservations) {
          this.#keys.add(reservation.key);
          this.#sql.reserve.run(...reservedColumns(reservation));
          if (this.#recordsCalls) this.#calls?.reserve(reservation, run, this.givenUp.scope);
        }
        if (unwritten.size + reservations.length > 0) this.#saveMeta('tally', this.tally);
        more?.();
      }),
    );
    this.#state = 'open';
  }

  #saveHolding(): void {
    const {holding} = this.budget;
    if (holding !== undefined) this.#saveMeta('holding', holding);
  }

  #saveMeta(name: string, value: unknown): void {
    this.#sql.setMeta.run(name, JSON.stringify(value));
  }

  /** Books sent calls without an outcome as maybe charged. Returns their number. */
  #giveUpSent(): number {
    const lost = this.#sql.sent.all();
    if (lost.length === 0) return 0;
    for (const {operation, n, cost} of lost)
      bookLost(this.tally, operation as Operation, Number(n), Number(cost));
    this.#db.transaction(() => {
      this.#sql.lose.run();
      this.#calls?.lose();
      this.#saveMeta('tally', this.tally);
    });
    this.budget.clear();
    return lost.reduce((sum, {n}) => sum + Number(n), 0);
  }
}
