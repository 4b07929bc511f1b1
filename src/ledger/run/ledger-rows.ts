import {crc32} from 'node:zlib';
import {IN_LIST_SQL, type Sqlite, type SqlRow, type SqlValue, toListParameters} from '../../disk/sqlite.ts';
import {StateError} from '../../errors.ts';
import type {Operation} from '../../operations/table.ts';
import {say, setting} from '../../sentence.ts';
import type {Outcome} from '../lookup-outcome.ts';
import {type LedgerEntry, noAttempts, type Reservation, sendOrder} from './ledger-entry.ts';
import {zeroRunCounts} from './tally.ts';

/**
 * `scope`: the ledger's endpoint and account, with its `RunCounts`. `value`: a row for each distinct value (a
 * `LedgerEntry`). `lease`: the calls that left together, until all of them are booked. The columns `scope` are 0: ledgers
 * that the first programs wrote may have several endpoints and accounts.
 */
const SCHEMA = `
  CREATE TABLE scope (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, counts TEXT NOT NULL);
  CREATE TABLE value (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    scope INTEGER NOT NULL,
    operation TEXT NOT NULL,
    state INTEGER NOT NULL,
    sent INTEGER NOT NULL,
    interrupted INTEGER,
    -- The value's history: \`carried_out\` is 0, or 1 and the number of kills. A waiting value has the last code in
    -- \`error\`.
    carried_out INTEGER NOT NULL,
    doubts INTEGER NOT NULL,
    error TEXT,
    data TEXT,
    bought_at INTEGER,
    nth INTEGER,
    UNIQUE (key, scope)
  );
  CREATE TABLE lease (id INTEGER PRIMARY KEY, scope INTEGER NOT NULL, calls TEXT NOT NULL);
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`;

/** Raise the version if a saved value changes shape, too. */
export const ledgerFormat = {schema: SCHEMA, version: 1};

/** State of a value that waits for its first or next call. Others: outcomes. */
const WAITING = 0;
const stateOf = {ok: 2, failed: 3, unknown: 4, once: 5, twice: 6} as const;
const IS_ANSWERED = `state IN (${stateOf.ok}, ${stateOf.unknown}) AND nth > 0`;
const IS_UNJUDGED = `state = ${stateOf.once} AND nth = 0`;

/** Maximum number of rows that are read at once. */
export const ROWS_AT_ONCE = 500;

/** Columns of a value's row that change, in the order of {@link columnsOf}. */
const WRITTEN = 'state sent interrupted carried_out doubts error data bought_at nth'.split(' ');
const READ = ['id', 'key', 'operation', ...WRITTEN];

export function damagedLedgerError(cause: unknown): StateError {
  return new StateError(
    'state_damaged',
    say`The run's saved state is damaged. Start over with ${setting('restart', true)}; answers already in the answer store are not paid for again.`,
    {cause},
  );
}

/** Writes a value as a line of JSON, then a line with its checksum, which shows a changed digit. */
export function toChecksummedJson(value: unknown): string {
  const json = JSON.stringify(value);
  return `${json}\n${crc32(json)}`;
}

/** @throws {StateError} `state_damaged` for a text that {@link toChecksummedJson} did not write. */
export function fromChecksummedJson<T>(text: unknown): T {
  const [json = '', checksum] = String(text).split('\n');
  if (checksum !== String(crc32(json)))
    throw damagedLedgerError(new Error('a saved value has another checksum'));
  try {
    return JSON.parse(json) as T;
  } catch (error) {
    throw damagedLedgerError(error);
  }
}

export function readMeta<T>(db: Sqlite, name: string): T | undefined {
  const row = db.query(['value'], 'FROM meta WHERE name = ?').get(name);
  return row && fromChecksummedJson<T>(row.value);
}

export function writeMeta(db: Sqlite, name: string, value: unknown): void {
  db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(name, toChecksummedJson(value));
}

/** The calls of a lease as they are saved: each with its key, operation, cost, dispatch, and if it renews an answer. */
export function leaseText(calls: readonly Reservation[]): string {
  return toChecksummedJson(
    calls.map(({key, operation, cost, dispatch, renews}) => [key, operation, cost, dispatch, renews]),
  );
}

export function leasedCalls(text: unknown): readonly Omit<Reservation, 'entry'>[] {
  const saved = fromChecksummedJson<readonly [string, Operation, number, number, boolean | null][]>(text);
  return saved.map(([key, operation, cost, dispatch, renews]) => ({
    ...{key, operation, cost, dispatch},
    renews: renews === true,
  }));
}

export function readEntry(row: SqlRow): LedgerEntry {
  return {
    operation: row.operation as Operation,
    key: String(row.key),
    history: {
      mayBeCarriedOut: Number(row.carried_out) > 0,
      doubts: Number(row.doubts),
      kills: Math.max(0, Number(row.carried_out) - 1),
      lastCode: row.error === null ? noAttempts.lastCode : String(row.error),
    },
    outcome: outcomeOf(row),
    interrupted: row.interrupted === null ? undefined : Number(row.interrupted),
    sendOrder: Number(row.sent),
    answerNumber: row.nth === null ? null : Number(row.nth),
    isUsed: false,
    id: Number(row.id),
  };
}

function outcomeOf(row: SqlRow): Outcome | undefined {
  const error = String(row.error);
  const boughtAt = Number(row.bought_at);
  switch (row.state) {
    case stateOf.ok:
      return {status: 'ok', data: String(row.data), ...(row.bought_at !== null && {boughtAt})};
    case stateOf.failed:
      return {status: 'failed', error, ...(row.bought_at !== null && {said: 'service'})};
    case stateOf.unknown:
      if (row.data === null) return {status: 'unknown', error};
      return {status: 'unknown', error, data: String(row.data), boughtAt};
    case stateOf.once:
      return {status: 'failed', error, rejected: 'once', boughtAt};
    case stateOf.twice:
      return {status: 'failed', error, rejected: 'twice', boughtAt};
    default:
      return undefined;
  }
}

/** The columns {@link WRITTEN} of an entry. A waiting value has its last error code in `error`. */
function columnsOf({history, outcome, interrupted, sendOrder, answerNumber}: LedgerEntry): SqlValue[] {
  const {mayBeCarriedOut, doubts, kills, lastCode} = history;
  const attempts = [sendOrder, interrupted ?? null, mayBeCarriedOut ? 1 + kills : 0, doubts];
  if (outcome === undefined) return [WAITING, ...attempts, lastCode, null, null, answerNumber];
  return [
    stateOf[outcome.rejected ?? outcome.status],
    ...attempts,
    'error' in outcome ? outcome.error : null,
    'data' in outcome ? (outcome.data ?? null) : null,
    // A failure is not bought: here, its column says that the code is the service's.
    outcome.boughtAt ?? ('said' in outcome ? 0 : null),
    answerNumber,
  ];
}

export type LedgerStatements = ReturnType<typeof ledgerStatements>;

export function ledgerStatements(db: Sqlite) {
  const changes = WRITTEN.map(column => `${column} = excluded.${column}`).join(', ');
  return {
    find: db.query(READ, `FROM value WHERE key ${IN_LIST_SQL}`),
    put: db.prepare(
      `INSERT INTO value (key, scope, operation, ${WRITTEN.join(', ')}) VALUES (?, 0, ?, ${WRITTEN.map(() => '?').join(', ')})
      ON CONFLICT (key, scope) DO UPDATE SET ${changes}`,
    ),
    lease: db.prepare('INSERT INTO lease (id, scope, calls) VALUES (?, 0, ?)'),
    endLeases: db.prepare('DELETE FROM lease WHERE id < ?'),
    count: db.prepare('UPDATE scope SET counts = ?'),
    rejectedCalls: db.query(['id', 'sent'], `FROM value WHERE ${IS_UNJUDGED} ORDER BY sent`),
    // An answer with a later attempt without an answer has the place of that attempt.
    answeredCalls: db.query(
      ['max(sent) AS sent'],
      `FROM value WHERE ${IS_ANSWERED} AND doubts = 0 AND carried_out < 2 GROUP BY sent / ${sendOrder(1, 0)} ORDER BY sent`,
    ),
    unjudged: db.query(READ, `FROM value WHERE ${IS_UNJUDGED} ORDER BY id LIMIT ${ROWS_AT_ONCE}`),
    answered: db.query(
      READ,
      `FROM value WHERE id > ? AND state IN (${stateOf.ok}, ${stateOf.unknown}, ${stateOf.once}, ${stateOf.twice}) AND nth > ? ORDER BY id LIMIT ${ROWS_AT_ONCE}`,
    ),
    bought: db.query(
      READ,
      `FROM value WHERE id > ? AND state = ${stateOf.ok} AND (nth > ? OR bought_at IS NULL) ORDER BY id LIMIT ${ROWS_AT_ONCE}`,
    ),
  };
}

export function findEntries(sql: LedgerStatements, keys: readonly string[]): LedgerEntry[] {
  return toListParameters(keys).flatMap(list => sql.find.all(list).map(readEntry));
}

export function writeEntries(sql: LedgerStatements, entries: Iterable<LedgerEntry>): void {
  for (const entry of entries) sql.put.run(entry.key, entry.operation, ...columnsOf(entry));
}

/** Begins a new count at `key`: nothing is spent, doubts count as one. Values of another endpoint or account go. */
export function resetSpending(db: Sqlite, key: string): void {
  db.exec('UPDATE value SET doubts = min(doubts, 1) WHERE sent > 0');
  if (db.prepare('UPDATE scope SET key = ?1 WHERE key <> ?1').run(key) > 0) db.exec('DELETE FROM value');
  db.prepare('UPDATE scope SET counts = ?').run(toChecksummedJson(zeroRunCounts()));
}

/**
 * Forgets failures, and rejections that are not known to be their values' fault; keeps at most `doubts` of each. A
 * verdict keeps its doubt: the token may be redeemed by a call of this run.
 */
export function forgetFailures(db: Sqlite, doubts: number): void {
  db.exec(
    `UPDATE value SET state = ${WAITING}, doubts = min(doubts, ${doubts}), bought_at = NULL, nth = NULL WHERE data IS NULL AND (state IN (${stateOf.failed}, ${stateOf.unknown}) OR ${IS_UNJUDGED})`,
  );
}
