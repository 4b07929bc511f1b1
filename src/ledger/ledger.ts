import {isStored, type Operation} from '../operations/table.ts';
import type {DailyBudget} from './daily-budget.ts';
import {
  type Answer,
  answerOf,
  columnsOf,
  type Entry,
  entryOf,
  type Known,
  type Outcome,
  type Reservation,
} from './entry.ts';
import {type Earlier, GivenUp} from './given-up.ts';
import {
  COPY_AT_ONCE,
  damaged,
  FIND_AT_ONCE,
  guarded,
  INTERRUPTED,
  ledgerStatements,
  openLedgerFile,
  stateOf,
  WAITING,
} from './ledger-file.ts';
import type {Sqlite, SqlRow} from './sqlite.ts';
import {countAttempt, countUp, emptyTally, overEmpty, spendingOf, type Tally} from './tally.ts';

export interface LedgerOptions {
  /** Most that may be spent, maybe spent and reserved together; in thousandths of a credit, as all money in here. */
  readonly maxCredits?: number | undefined;
  /** The job's budget of the day, where it has one. */
  readonly daily?: DailyBudget | undefined;
  /** What becomes of values that were sent without an outcome when the last session ended. */
  readonly resend: 'always' | 'never';
  /** Whether there was state before this that could not be read. */
  readonly lostState?: boolean | undefined;
  readonly now: () => number;
}

const ADOPT_AT_ONCE = 20_000;

/**
 * The run's ledger: per distinct value a durable reservation before it is sent, and its outcome for good after. From
 * it come the dedupe, the resume, the budget and the books.
 *
 * Every transaction is grouped: those that are about to be sent come with the outcomes that arrived since. A failed
 * write is final, as the books in memory are ahead of the file's from then on.
 *
 * @throws {StateError} when its file is damaged or of another version; {@link OutputError} when it can't be written.
 */
export class Ledger {
  readonly tally: Tally;
  /** Values that were in flight when the last session ended: they may have been charged. */
  readonly interrupted: number;
  readonly #db: Sqlite;
  readonly #options: LedgerOptions;
  readonly #sql: ReturnType<typeof ledgerStatements>;
  #outcomes: Outcome[] = [];
  readonly #givenUp: GivenUp;
  #adopted = new Map<string, {operation: Operation; settled: Known}>();
  #flush: Promise<void> | undefined;
  #reserved = 0;
  #inFlight = 0;
  #dayUsed = 0;
  #limit: 'run' | 'day' | undefined;
  #state: 'open' | 'failed' | 'closed' = 'open';

  constructor(path: string, options: LedgerOptions) {
    this.#options = options;
    const full = options.maxCredits !== undefined || options.daily !== undefined;
    const db = guarded(() => openLedgerFile(path, full));
    this.#db = db;
    try {
      this.#sql = guarded(() => ledgerStatements(db));
      const {resend, lostState = false} = options;
      this.#givenUp = guarded(() => new GivenUp(db, {resend, lostState}));
      this.tally = overEmpty(emptyTally(), this.getMeta<Tally>('tally') ?? emptyTally());
      this.interrupted = guarded(() => this.#giveUpSent());
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** What is known of these values; those that are new are not in the map. */
  find(keys: readonly string[]): Map<string, Entry> {
    const found = new Map<string, Entry>();
    for (const key of keys) {
      const settled = this.#adopted.get(key)?.settled;
      if (settled !== undefined) found.set(key, {ambiguous: false, interrupted: undefined, settled});
    }
    const others = found.size === 0 ? keys : keys.filter(key => !found.has(key));
    for (let from = 0; from < others.length; from += FIND_AT_ONCE) {
      const some = others.slice(from, from + FIND_AT_ONCE);
      for (const row of guarded(() => this.#rows(some))) found.set(row.key as string, entryOf(row));
    }
    return found;
  }

  /**
   * Reserves the credits of as many of these calls as the budgets allow, in order, and marks those values as sent.
   * Durable on return. Returns how many may be sent.
   */
  reserve(batch: readonly Reservation[]): number {
    let allowed = 0;
    for (const item of batch) {
      if (!this.#take(item)) break;
      allowed += 1;
    }
    const granted = batch.slice(0, allowed);
    for (const {operation, known} of granted) if (!known) this.tally.operations[operation].distinct += 1;
    this.#inFlight += allowed;
    if (allowed > 0) this.#write(granted);
    return allowed;
  }

  /** Whether the budgets have room for `cost` more. */
  affords(cost: number): boolean {
    const {maxCredits, daily} = this.#options;
    return (
      (maxCredits === undefined || this.committed + cost <= maxCredits) && daily?.affords(cost) !== false
    );
  }

  /** What is spent, maybe spent, and reserved for calls in flight; that of attempts that were given up included. */
  get committed(): number {
    const {spent, maybeSpent} = spendingOf(this.tally);
    return spent + maybeSpent + this.#reserved;
  }

  /** What attempts that were given up have cost. */
  get earlier(): Earlier {
    return this.#givenUp.earlier;
  }

  /** The day's budget, where it is what the last reservation was refused for. */
  get exhaustedDay(): DailyBudget | undefined {
    return this.#limit === 'day' ? this.#options.daily : undefined;
  }

  /** What the job's budget of the day came to, where it has one. */
  get day(): {readonly limit: number; readonly used: number} | undefined {
    const {daily} = this.#options;
    if (daily === undefined) return undefined;
    if (this.#state === 'open') this.#dayUsed = daily.used;
    return {limit: daily.maxCredits, used: this.#dayUsed};
  }

  /** Books what became of an attempt; resolves once that is in the file. */
  record(outcome: Outcome): Promise<void> {
    if (this.#state !== 'open') return Promise.reject(new Error('the ledger is closed'));
    this.#outcomes.push(outcome);
    this.#inFlight -= 1;
    this.#reserved -= outcome.cost;
    this.#options.daily?.settle(outcome.key, outcome.cost, outcome.charge === 'free');
    this.#book(outcome);
    return this.#soon();
  }

  /** Books what became of a call after all that was given up for lost when its session ended. */
  found(outcome: Outcome): Promise<void> {
    const books = this.tally.operations[outcome.operation];
    books.maybeSpent -= outcome.cost;
    this.tally.unconfirmed -= 1;
    countUp(this.tally.byError, INTERRUPTED, -1);
    this.#inFlight += 1;
    this.#reserved += outcome.cost;
    return this.record(outcome);
  }

  /** Takes over what was not asked for: answers from the store, and outcomes of an attempt that was given up. */
  adopt(operation: Operation, key: string, settled: Known, known = false): void {
    this.#adopted.set(key, {operation, settled});
    if (!known) this.tally.operations[operation].distinct += 1;
    if (settled.status === 'ok') this.tally.operations[operation].fromCache += 1;
    if (this.#adopted.size >= ADOPT_AT_ONCE) this.#drain();
  }

  /** Notes that a value has to be asked for as the answer store could not be read. */
  notLookedUp(operation: Operation): void {
    this.tally.operations[operation].notLookedUp += 1;
  }

  /** Whether any value of this operation was answered in this run, or is known from an earlier one. */
  isAnswered(operation: Operation): boolean {
    const {answered, fromCache} = this.tally.operations[operation];
    return answered + fromCache > 0;
  }

  /** What an attempt that was given up knew of a value; see {@link GivenUp.find}. */
  carried(key: string, notBefore: number): Entry | undefined {
    return guarded(() => this.#givenUp.find(key, notBefore));
  }

  /** Answers that came since `since` (milliseconds since the epoch) and are kept for other runs, in groups. */
  *answersSince(since: number): Generator<Answer[]> {
    for (let after = 0; ; ) {
      const rows = guarded(() => this.#sql.answered.all(after, since));
      yield rows.map(answerOf).filter(({operation}) => isStored(operation));
      if (rows.length < COPY_AT_ONCE) return;
      after = Number(rows.at(-1)?.id);
    }
  }

  /**
   * Starts the run over at an endpoint and account: outcomes and checkpoint go; answers, doubt and what was spent there
   * stay at hand, but for the spending where the budget is to be fresh.
   */
  restart(scope: string, freshBudget = false): void {
    guarded(() =>
      this.#db.transaction(() => {
        Object.assign(this.tally, this.#givenUp.begin(this.tally, scope, freshBudget));
        this.#writeTally();
      }),
    );
    this.#reserved = 0;
  }

  getMeta<T>(name: string): T | undefined {
    const text = guarded(() => this.#sql.getMeta.get(name))?.value;
    if (text === undefined) return undefined;
    try {
      return JSON.parse(String(text)) as T;
    } catch (error) {
      throw damaged(error);
    }
  }

  /** Saves a value together with all outcomes that arrived; durable on return. */
  setMeta(name: string, value: unknown): void {
    this.#write([], () => this.#sql.setMeta.run(name, JSON.stringify(value)));
  }

  /** Writes out what is waiting, books calls still in flight as maybe spent, and closes the file. */
  close(): void {
    if (this.#state === 'closed') return;
    this.#drain();
    if (this.#inFlight > 0) guarded(() => this.#giveUpSent());
    this.#dayUsed = this.#options.daily?.used ?? 0;
    this.#options.daily?.close();
    this.#state = 'closed';
    this.#db.close();
  }

  /** Closes without writing: after an error that makes writing pointless. */
  abandon(): void {
    this.#state = 'closed';
    for (const close of [() => this.#options.daily?.close(), () => this.#db.close()]) {
      try {
        close();
      } catch {
        // The error that led here is the one to report.
      }
    }
  }

  #take({key, cost}: Reservation): boolean {
    const {maxCredits, daily} = this.#options;
    this.#limit = undefined;
    if (maxCredits !== undefined && this.committed + cost > maxCredits) this.#limit = 'run';
    else if (daily?.take(key, cost) === false) this.#limit = 'day';
    else this.#reserved += cost;
    return this.#limit === undefined;
  }

  #rows(keys: readonly string[]): SqlRow[] {
    const [first] = keys;
    if (keys.length === 1 && first !== undefined) {
      const row = this.#sql.find.get(first);
      return row === undefined ? [] : [row];
    }
    const padded =
      keys.length === FIND_AT_ONCE ? keys : [...keys, ...Array<null>(FIND_AT_ONCE - keys.length).fill(null)];
    return this.#sql.findMany.all(...padded);
  }

  #soon(): Promise<void> {
    this.#flush ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        this.#flush = undefined;
        try {
          this.#drain();
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
    return this.#flush;
  }

  #drain(): void {
    if (this.#outcomes.length > 0 || this.#adopted.size > 0) this.#write([]);
  }

  #write(reservations: readonly Reservation[], more?: () => void): void {
    if (this.#state !== 'open') throw new Error('the ledger is closed');
    const outcomes = this.#outcomes;
    const adopted = this.#adopted;
    this.#outcomes = [];
    this.#adopted = new Map();
    const now = this.#options.now();
    this.#state = 'failed';
    guarded(() =>
      this.#db.transaction(() => {
        for (const [key, {operation, settled}] of adopted)
          this.#sql.adopt.run(key, operation, ...columnsOf(settled));
        for (const outcome of outcomes) this.#writeOutcome(outcome, now);
        for (const {key, operation, cost, dispatch} of reservations)
          this.#sql.reserve.run(key, operation, cost, dispatch);
        if (outcomes.length + adopted.size + reservations.length > 0) this.#writeTally();
        more?.();
      }),
    );
    this.#state = 'open';
  }

  #writeTally(): void {
    this.#sql.setMeta.run('tally', JSON.stringify(this.tally));
  }

  #writeOutcome({key, settled, attempt}: Outcome, now: number): void {
    const [state, error, data] = columnsOf(settled);
    // One that can't be read was carried out too.
    const ambiguous = attempt.kind === 'ambiguous' || attempt.kind === 'unreadable' ? 1 : 0;
    const at = attempt.kind === 'answered' ? now : null;
    this.#sql.settle.run(state, ambiguous, error, data, at, key);
  }

  #book({operation, attempt, charge, cost, retry}: Outcome): void {
    const books = this.tally.operations[operation];
    if (countAttempt(this.tally, attempt)) {
      books.calls += 1;
      if (retry) books.retries += 1;
    }
    if (attempt.kind === 'answered') books.answered += 1;
    if (charge === 'spent') books.spent += cost;
    if (charge === 'maybe') books.maybeSpent += cost;
  }

  /** Values that were sent and have no outcome: nobody knows, so they may have been charged. Returns how many. */
  #giveUpSent(): number {
    const lost = this.#sql.sent.all();
    let count = 0;
    for (const row of lost) {
      const books = this.tally.operations[row.operation as Operation];
      books.maybeSpent += Number(row.cost);
      count += Number(row.n);
    }
    if (count === 0) return 0;
    this.tally.unconfirmed += count;
    countUp(this.tally.byError, INTERRUPTED, count);
    const never = this.#options.resend === 'never';
    this.#db.transaction(() => {
      this.#sql.lose.run(never ? stateOf.unknown : WAITING);
      this.#writeTally();
    });
    this.#reserved = 0;
    return count;
  }
}
