import {codeOf} from '../client/attempt.ts';
import type {Sqlite, SqlRow} from '../disk/sqlite.ts';
import type {Charge} from '../job/settings/cost.ts';
import type {BookedAttempt, Reservation} from './entry.ts';
import {guarded} from './ledger-file.ts';
import {saved} from './saved-value.ts';
import {INTERRUPTED} from './value-history.ts';

/**
 * The table is created when a session first records its calls. `scope` (endpoint and account) becomes NULL when a
 * restart with a fresh budget takes the call out of the run's books.
 */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS call (
    id INTEGER PRIMARY KEY,
    dispatch INTEGER NOT NULL UNIQUE,
    run TEXT NOT NULL,
    scope TEXT,
    key TEXT NOT NULL,
    operation TEXT NOT NULL,
    rows TEXT NOT NULL,
    cost INTEGER NOT NULL,
    sent_at INTEGER,
    ended_at INTEGER,
    outcome TEXT,
    status INTEGER,
    code TEXT,
    request_id TEXT,
    charge TEXT
  )`;

const COLUMNS = [
  ...['id', 'run', 'key', 'operation', 'rows', 'cost', 'sent_at', 'ended_at', 'outcome', 'status', 'code'],
  ...['request_id', 'charge'],
];
const READ_AT_ONCE = 500;
/** Maximum number of row numbers stored with a call. Millions of rows may have the call's value. */
const MOST_ROWS = 20;

/** One attempt, and its charge as booked. */
export interface CallRecord {
  readonly run: string;
  /** Identifies operation and value: see {@link LookupKey}. */
  readonly key: string;
  readonly operation: string;
  /** Numbers of the first rows that waited for the call when it was sent. */
  readonly rows: readonly number[];
  /** Number of the attempt among the attempts of its value, from 1. */
  readonly nth: number;
  /** Maximum cost, in thousandths of a credit. */
  readonly cost: number;
  /** Milliseconds since the epoch. `endedAt` is null if the attempt had not ended when its session did. */
  readonly sentAt: number;
  readonly endedAt: number | null;
  /** The attempt's kind; `interrupted` if it had not ended when its session did. */
  readonly outcome: string;
  readonly status: number | null;
  readonly code: string | null;
  readonly requestId: string | null;
  readonly charge: Charge;
}

/**
 * The table of calls, with a row for each attempt. The row is written in the ledger's own transactions: when
 * credits are reserved for the attempt, and when its charge is booked. So after any kill the rows add up to
 * the run's books.
 */
export class CallRecords {
  readonly #db: Sqlite;
  readonly #sql: ReturnType<typeof statements>;

  constructor(db: Sqlite) {
    db.exec(SCHEMA);
    this.#db = db;
    this.#sql = statements(db);
  }

  static areIn(db: Sqlite): boolean {
    return db.hasTable('call');
  }

  reserve({dispatch, key, operation, cost, rows, sentAt}: Reservation, run: string, scope: string): void {
    const named = JSON.stringify(rows?.().slice(0, MOST_ROWS) ?? []);
    this.#sql.reserve.run(dispatch, run, scope, key, operation, named, cost, Math.round(sentAt ?? 0));
  }

  settle({dispatch, attempt, charge}: BookedAttempt): void {
    const {kind, boughtAt} = attempt;
    const status = 'status' in attempt ? (attempt.status ?? null) : null;
    const code = codeOf(attempt) ?? null;
    const requestId = ('pace' in attempt ? attempt.pace?.requestId : undefined) ?? null;
    this.#sql.settle.run(Math.round(boughtAt), kind, status, code, requestId, charge, dispatch);
  }

  /** Marks attempts as maybe charged if they were in flight when their session ended. */
  lose(): void {
    this.#sql.lose.run();
  }

  /** Takes all attempts until now out of the run's books (its counts). Keeps their rows, with a NULL scope. */
  forget(): void {
    this.#sql.forget.run();
  }

  /** Yields the attempts that count in the books of a scope (endpoint and account), in the order of sending. */
  *of(scope: string): Generator<CallRecord> {
    guarded(() => this.#db.exec('CREATE INDEX IF NOT EXISTS call_key ON call (key, id)'));
    for (let after = 0; ; ) {
      const rows = guarded(() => this.#sql.read.all(after, scope));
      for (const row of rows) yield recordOf(row);
      if (rows.length < READ_AT_ONCE) return;
      after = Number(rows.at(-1)?.id);
    }
  }
}

function recordOf(row: SqlRow): CallRecord {
  return {
    run: String(row.run),
    key: String(row.key),
    operation: String(row.operation),
    rows: saved<number[]>(row.rows),
    nth: Number(row.nth),
    cost: Number(row.cost),
    sentAt: Number(row.sent_at),
    endedAt: row.ended_at as number | null,
    outcome: String(row.outcome),
    status: row.status as number | null,
    code: row.code as string | null,
    requestId: row.request_id as string | null,
    charge: row.charge as Charge,
  };
}

function statements(db: Sqlite) {
  const nth =
    '(SELECT count(*) FROM call AS other WHERE other.key = call.key AND other.id <= call.id) AS nth';
  return {
    reserve: db.prepare(
      'INSERT INTO call (dispatch, run, scope, key, operation, rows, cost, sent_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    settle: db.prepare(
      'UPDATE call SET ended_at = ?, outcome = ?, status = ?, code = ?, request_id = ?, charge = ? WHERE dispatch = ?',
    ),
    lose: db.prepare(
      `UPDATE call SET outcome = '${INTERRUPTED}', code = '${INTERRUPTED}', charge = 'maybe' WHERE charge IS NULL`,
    ),
    forget: db.prepare('UPDATE call SET scope = NULL'),
    read: db.query(
      [...COLUMNS, nth],
      `FROM call WHERE id > ? AND scope = ? AND charge IS NOT NULL ORDER BY id LIMIT ${READ_AT_ONCE}`,
    ),
  };
}
