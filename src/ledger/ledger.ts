import type {Attempt} from '../client/attempt.ts';
import type {Operation} from '../client/wire.ts';
import {OutputError, StateError} from '../job/errors.ts';
import type {Charge, Settled} from './lookup.ts';
import {Sqlite, type SqlRow, type Statement, sqliteCode} from './sqlite.ts';
import {countAttempt, countUp, emptyTally, type Tally} from './tally.ts';

/** Raised whenever the tables, the tally or the checkpoint change their shape. */
const VERSION = 2;

const SCHEMA = `
  CREATE TABLE lookup (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    operation TEXT NOT NULL,
    state INTEGER NOT NULL,
    cost REAL NOT NULL,
    ambiguous INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    data TEXT,
    at INTEGER
  );
  CREATE TABLE carried (key TEXT PRIMARY KEY, operation TEXT NOT NULL, data TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`;

const WAITING = 0;
const SENT = 1;
const stateOf = {ok: 2, failed: 3, unknown: 4} as const;

/** What the ledger knows of a value: its outcome for good, or what it has been through so far. */
export interface Entry {
  readonly id: number;
  readonly settled: Settled | undefined;
  readonly ambiguous: boolean;
}

/** One value that is about to be sent. */
export interface Reservation extends Booking {
  /** Whether the ledger knows the value already. */
  readonly known: boolean;
}

interface Booking {
  readonly key: string;
  readonly operation: Operation;
  /** Credits that the call may cost. */
  readonly cost: number;
}

/** What became of one attempt; `settled` where it was the value's last. */
export interface Outcome extends Booking {
  readonly attempt: Attempt;
  readonly charge: Charge;
  /** Whether the value had been asked before. */
  readonly retry: boolean;
  readonly settled?: Exclude<Settled, {status: 'skipped'}> | undefined;
}

export interface LedgerOptions {
  /** Most credits, spent, maybe spent and reserved together. */
  readonly maxCredits?: number | undefined;
  /** What becomes of values that were sent without an outcome when the last session ended. */
  readonly resend: 'always' | 'never';
  readonly now: () => number;
}

/**
 * The run's ledger: per distinct value a durable reservation before it is sent, and its outcome for good after. From
 * it come the dedupe, the resume, the budget and the books.
 *
 * Every transaction is grouped: those that are about to be sent come with the outcomes that arrived since.
 *
 * @throws {StateError} when its file is damaged or of another version; {@link OutputError} when it can't be written.
 */
export class Ledger {
  readonly tally: Tally;
  /** Values that were in flight when the last session ended: they may have been charged. */
  readonly interrupted: number;
  readonly #db: Sqlite;
  readonly #options: LedgerOptions;
  readonly #sql: Record<
    'find' | 'findMany' | 'reserve' | 'settle' | 'adopt' | 'setMeta' | 'getMeta' | 'carried',
    Statement
  >;
  #outcomes: Outcome[] = [];
  #adopted: {key: string; operation: Operation; data: string}[] = [];
  #flush: Promise<void> | undefined;
  #reserved = 0;

  constructor(path: string, options: LedgerOptions) {
    this.#options = options;
    const opened = guarded(() => open(path, options.maxCredits !== undefined));
    this.#db = opened;
    this.#sql = guarded(() => statements(opened));
    this.tally = this.getMeta<Tally>('tally') ?? emptyTally();
    this.interrupted = guarded(() => this.#recover());
  }

  /** What is known of these values; those that are new are not in the map. */
  find(keys: readonly string[]): Map<string, Entry> {
    this.#drain();
    const found = new Map<string, Entry>();
    for (let from = 0; from < keys.length; from += FIND_AT_ONCE) {
      const some = keys.slice(from, from + FIND_AT_ONCE);
      for (const row of guarded(() => this.#rows(some))) found.set(row.key as string, entryOf(row));
    }
    return found;
  }

  /**
   * Reserves the credits of as many of these calls as the budget allows, in order, and marks those values as sent.
   * Durable on return. Returns how many may be sent.
   */
  reserve(batch: readonly Reservation[]): number {
    let allowed = 0;
    let cost = 0;
    for (const item of batch) {
      if (!this.affords(cost + item.cost)) break;
      cost += item.cost;
      allowed += 1;
    }
    const granted = batch.slice(0, allowed);
    for (const {operation, known} of granted) if (!known) this.tally.operations[operation].distinct += 1;
    if (allowed > 0) this.#write(granted);
    this.#reserved += cost;
    return allowed;
  }

  /** Whether the budget has room for `cost` more credits. */
  affords(cost: number): boolean {
    return this.#options.maxCredits === undefined || this.committed + cost <= this.#options.maxCredits;
  }

  /** Credits spent, maybe spent, and reserved for calls in flight. */
  get committed(): number {
    let sum = this.#reserved;
    for (const {spent, maybeSpent} of Object.values(this.tally.operations)) sum += spent + maybeSpent;
    return sum;
  }

  /** Books what became of an attempt; resolves once that is in the file. */
  record(outcome: Outcome): Promise<void> {
    this.#outcomes.push(outcome);
    this.#reserved -= outcome.cost;
    this.#book(outcome);
    return this.#soon();
  }

  /** Takes over answers that were not asked for: from the store, or carried over from a run that was given up. */
  adopt(operation: Operation, key: string, data: string): void {
    this.#adopted.push({key, operation, data});
    this.tally.operations[operation].distinct += 1;
    this.tally.operations[operation].fromCache += 1;
    if (this.#adopted.length >= ADOPT_AT_ONCE) this.#drain();
  }

  /** An answer from a run that was given up, where it is not older than `notBefore`. */
  carried(key: string, notBefore: number): string | undefined {
    return guarded(() => this.#sql.carried.get(key, notBefore))?.data as string | undefined;
  }

  /** Starts the run over: outcomes and checkpoint go, but every answer stays at hand. */
  restart(): void {
    guarded(() =>
      this.#db.transaction(() => {
        this.#db.exec(`
          INSERT OR REPLACE INTO carried SELECT key, operation, data, at FROM lookup WHERE state = ${stateOf.ok} AND at IS NOT NULL;
          DELETE FROM lookup;
          DELETE FROM meta;
        `);
      }),
    );
    Object.assign(this.tally, emptyTally());
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

  /** Writes out what is waiting, and closes the file. */
  close(): void {
    this.#drain();
    this.#db.close();
  }

  /** Closes without writing: after an error that makes writing pointless. */
  abandon(): void {
    this.#outcomes = [];
    this.#adopted = [];
    try {
      this.#db.close();
    } catch {
      // The error that led here is the one to report.
    }
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
    if (this.#outcomes.length > 0 || this.#adopted.length > 0) this.#write([]);
  }

  #write(reservations: readonly Reservation[], more?: () => void): void {
    const outcomes = this.#outcomes;
    const adopted = this.#adopted;
    this.#outcomes = [];
    this.#adopted = [];
    const now = this.#options.now();
    guarded(() =>
      this.#db.transaction(() => {
        for (const {key, operation, data} of adopted) this.#sql.adopt.run(key, operation, data);
        for (const outcome of outcomes) this.#writeOutcome(outcome, now);
        for (const {key, operation, cost} of reservations) this.#sql.reserve.run(key, operation, cost);
        if (outcomes.length > 0 || adopted.length > 0)
          this.#sql.setMeta.run('tally', JSON.stringify(this.tally));
        more?.();
      }),
    );
  }

  #writeOutcome({key, settled, attempt}: Outcome, now: number): void {
    const state = settled === undefined ? WAITING : stateOf[settled.status];
    const error = settled !== undefined && 'error' in settled ? settled.error : null;
    const fetched = attempt.kind === 'answered' ? now : null;
    this.#sql.settle.run(
      state,
      attempt.kind === 'ambiguous' ? 1 : 0,
      error,
      settled?.data ?? null,
      fetched,
      key,
    );
  }

  #book({operation, attempt, charge, cost, retry}: Outcome): void {
    const books = this.tally.operations[operation];
    countAttempt(this.tally, attempt);
    if (attempt.kind !== 'not_sent') {
      books.calls += 1;
      if (retry) books.retries += 1;
    }
    if (charge === 'spent') books.spent += cost;
    if (charge === 'maybe') books.maybeSpent += cost;
  }

  /** Values marked as sent when the last session ended: nobody knows, so they may have been charged. */
  #recover(): number {
    const lost = this.#db
      .prepare(
        `SELECT operation, count(*) AS n, sum(cost) AS cost FROM lookup WHERE state = ${SENT} GROUP BY operation`,
      )
      .all();
    if (lost.length === 0) return 0;
    let count = 0;
    for (const row of lost) {
      const books = this.tally.operations[row.operation as Operation];
      books.calls += Number(row.n);
      books.maybeSpent += Number(row.cost);
      count += Number(row.n);
    }
    countUp(this.tally.byError, 'interrupted', count);
    const then =
      this.#options.resend === 'always'
        ? `state = ${WAITING}, ambiguous = 1`
        : `state = ${stateOf.unknown}, error = 'interrupted'`;
    this.#db.transaction(() => {
      this.#db.exec(`UPDATE lookup SET ${then} WHERE state = ${SENT}`);
      this.#sql.setMeta.run('tally', JSON.stringify(this.tally));
    });
    return count;
  }
}

const FIND_AT_ONCE = 64;
const ADOPT_AT_ONCE = 1_000;

function open(path: string, full: boolean): Sqlite {
  // With a budget, a reservation has to survive a power cut as well; without one, the end of the process is enough.
  const db = new Sqlite(path, {synchronous: full ? 'FULL' : 'NORMAL', exclusive: true, busyTimeoutMs: 0});
  const version = Number(db.pragma('user_version')?.user_version);
  if (version === 0) {
    db.exec(`BEGIN; ${SCHEMA} PRAGMA user_version = ${VERSION}; COMMIT;`);
  } else if (version !== VERSION) {
    db.close();
    throw new StateError(
      'state_version',
      `The saved state is of version ${version}, this program's is ${VERSION}. Finish the run with the program that began it, or start over with --restart.`,
    );
  }
  return db;
}

function statements(db: Sqlite) {
  const columns = 'key, id, state, ambiguous, error, data';
  const many = Array(FIND_AT_ONCE).fill('?').join(',');
  return {
    find: db.prepare(`SELECT ${columns} FROM lookup WHERE key = ?`),
    findMany: db.prepare(`SELECT ${columns} FROM lookup WHERE key IN (${many})`),
    reserve: db.prepare(
      `INSERT INTO lookup (key, operation, state, cost) VALUES (?, ?, ${SENT}, ?) ON CONFLICT (key) DO UPDATE SET state = ${SENT}, cost = excluded.cost`,
    ),
    settle: db.prepare(
      'UPDATE lookup SET state = ?, ambiguous = max(ambiguous, ?), error = ?, data = ?, at = ? WHERE key = ?',
    ),
    adopt: db.prepare(
      `INSERT OR IGNORE INTO lookup (key, operation, state, cost, data) VALUES (?, ?, ${stateOf.ok}, 0, ?)`,
    ),
    setMeta: db.prepare(
      'INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    ),
    getMeta: db.prepare('SELECT value FROM meta WHERE name = ?'),
    carried: db.prepare('SELECT data FROM carried WHERE key = ? AND at >= ?'),
  };
}

function entryOf(row: SqlRow): Entry {
  const base = {id: Number(row.id), ambiguous: Boolean(row.ambiguous)};
  return {...base, settled: settledOf(row)};
}

function settledOf(row: SqlRow): Settled | undefined {
  const data = row.data === null ? {} : {data: String(row.data)};
  const error = String(row.error);
  switch (row.state) {
    case stateOf.ok:
      return {status: 'ok', data: String(row.data)};
    case stateOf.failed:
      return {status: 'failed', error, ...data};
    case stateOf.unknown:
      return {status: 'unknown', error, ...data};
    default:
      return undefined;
  }
}

/** Runs `work`; what SQLite says of the file becomes an error that says what to do. */
function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = sqliteCode(error);
    if (code === undefined) throw error;
    if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') throw damaged(error);
    throw new OutputError(
      'state_unwritable',
      `The run's state can't be written (${code}). Free the cause (disk space, permissions), then run the same command again.`,
      {cause: error},
    );
  }
}

function damaged(cause: unknown): StateError {
  return new StateError(
    'state_damaged',
    "The run's saved state is damaged. Start over with --restart; answers already in the answer store are not paid for again.",
    {cause},
  );
}
