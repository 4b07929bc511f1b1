import {IN_LIST, listOf, type Sqlite, type SqlRow, type SqlValue} from '../../disk/sqlite.ts';
import type {Operation} from '../../operations/table.ts';
import type {Answer, Outcome} from '../lookup.ts';
import type {KeptAnswer, LedgerEntry} from './entry.ts';
import {noAttempts} from './value-history.ts';

/** State of a value that waits for its first or next call. Others: outcomes. */
const WAITING = 0;
const stateOf = {ok: 2, failed: 3, unknown: 4, rejected: 5} as const;

/** Maximum keys per statement: memory holds all rows that a statement finds, as one JSON text. */
const FIND_AT_ONCE = 64;
/** Maximum number of rows that are read at once. */
export const ROWS_AT_ONCE = 500;

/** Columns of a value's row that change, in the order of {@link columnsOf}. */
const WRITTEN = [
  'state',
  'lease',
  'interrupted',
  'carried_out',
  'doubts',
  'error',
  'data',
  'bought_at',
  'nth',
];
const READ = ['id', 'key', 'operation', ...WRITTEN];

/** Answers of one endpoint and account (`scope`, as a key). */
export interface ScopedAnswers {
  readonly scope: string;
  readonly answers: readonly KeptAnswer[];
}

export function entryOf(row: SqlRow): LedgerEntry {
  const outcome = outcomeOf(row);
  return {
    operation: row.operation as Operation,
    key: String(row.key),
    history: {
      mayBeCarriedOut: row.carried_out === 1,
      doubts: Number(row.doubts),
      lastCode: row.error === null ? noAttempts.lastCode : String(row.error),
    },
    outcome,
    interrupted: row.interrupted === null ? undefined : Number(row.interrupted),
    lease: Number(row.lease),
    nth: row.nth === null ? null : Number(row.nth),
    isUsed: false,
    id: Number(row.id),
  };
}

function outcomeOf(row: SqlRow): Outcome | undefined {
  const error = String(row.error);
  const boughtAt = Number(row.bought_at);
  switch (row.state) {
    case stateOf.ok:
      return {status: 'ok', data: String(row.data), boughtAt};
    case stateOf.failed:
      return {status: 'failed', error};
    case stateOf.unknown:
      if (row.data === null) return {status: 'unknown', error};
      return {status: 'unknown', error, data: String(row.data), boughtAt};
    case stateOf.rejected:
      return {status: 'failed', error, rejected: true, boughtAt};
    default:
      return undefined;
  }
}

/** The columns {@link WRITTEN} of an entry. A waiting value has its last error code in `error`. */
function columnsOf({history, outcome, interrupted, lease, nth}: LedgerEntry): SqlValue[] {
  const {mayBeCarriedOut, doubts, lastCode} = history;
  const attempts = [lease, interrupted ?? null, mayBeCarriedOut ? 1 : 0, doubts];
  if (outcome === undefined) return [WAITING, ...attempts, lastCode, null, null, nth];
  return [
    'rejected' in outcome ? stateOf.rejected : stateOf[outcome.status],
    ...attempts,
    'error' in outcome ? outcome.error : null,
    'data' in outcome ? (outcome.data ?? null) : null,
    outcome.boughtAt ?? null,
    nth,
  ];
}

/** Number of known answers that one statement writes. This is a fifth faster than one answer per statement. */
const ANSWERS_AT_ONCE = 64;

function put(rows: string): string {
  const changes = WRITTEN.map(column => `${column} = excluded.${column}`).join(', ');
  return `INSERT INTO value (key, scope, operation, ${WRITTEN.join(', ')}) VALUES ${rows} ON CONFLICT (key, scope) DO UPDATE SET ${changes}`;
}

export type LedgerStatements = ReturnType<typeof ledgerStatements>;

/** Statements for the values of one endpoint and account. `scope`: its number. */
export function ledgerStatements(db: Sqlite, scope: number) {
  // Binding parameters takes time, so columns that all answers from the store share are part of the statement.
  const knownAnswer = `(?, ${scope}, ?, ${stateOf.ok}, 0, NULL, 0, 0, NULL, ?, ?, NULL)`;
  return {
    any: db.query(['id'], 'FROM value LIMIT 1'),
    lastId: db.query(['max(id) AS last'], 'FROM value'),
    find: db.query(READ, `FROM value WHERE key ${IN_LIST} AND scope = ${scope}`),
    put: db.prepare(put(`(?, ${scope}, ?, ${WRITTEN.map(() => '?').join(', ')})`)),
    putAnswers: db.prepare(put(Array(ANSWERS_AT_ONCE).fill(knownAnswer).join(', '))),
    lease: db.prepare(`INSERT INTO lease (id, scope, calls) VALUES (?, ${scope}, ?)`),
    endLease: db.prepare('DELETE FROM lease WHERE id = ?'),
    rejectedCalls: db.query(
      ['id', 'lease'],
      `FROM value WHERE scope = ${scope} AND state = ${stateOf.rejected} AND nth < 0 ORDER BY nth DESC`,
    ),
    answeredLeases: db.query(
      ['lease'],
      `FROM (SELECT DISTINCT lease FROM value WHERE scope = ${scope} AND state IN (${stateOf.ok}, ${stateOf.unknown}) AND nth > 0 ORDER BY lease)`,
    ),
    unjudged: db.query(
      READ,
      `FROM value WHERE scope = ${scope} AND state = ${stateOf.rejected} AND nth < 0 ORDER BY id LIMIT ${ROWS_AT_ONCE}`,
    ),
    // Failures, and rejections that are not known to be their values' fault. A verdict keeps its doubt: the token may
    // be redeemed by a call of this run.
    forgetFailures: db.prepare(
      `UPDATE value SET state = ${WAITING}, doubts = min(doubts, ?), bought_at = NULL WHERE data IS NULL AND (state IN (${stateOf.failed}, ${stateOf.unknown}) OR (state = ${stateOf.rejected} AND nth < 0))`,
    ),
    forgetDoubts: db.prepare('UPDATE value SET doubts = 1 WHERE doubts > 1'),
    answered: db.query(
      [...READ, 'scope'],
      `FROM value WHERE id > ? AND state IN (${stateOf.ok}, ${stateOf.unknown}, ${stateOf.rejected}) AND nth > ? ORDER BY id LIMIT ${ROWS_AT_ONCE}`,
    ),
  };
}

export function findRows(sql: LedgerStatements, keys: readonly string[]): SqlRow[] {
  const rows: SqlRow[] = [];
  for (let from = 0; from < keys.length; from += FIND_AT_ONCE)
    rows.push(...sql.find.all(listOf(keys.slice(from, from + FIND_AT_ONCE))));
  return rows;
}

/** Writes entries as they are now. */
export function writeEntries(sql: LedgerStatements, entries: Iterable<LedgerEntry>): void {
  let answers: LedgerEntry[] = [];
  let values: SqlValue[] = [];
  const write = (entry: LedgerEntry) => sql.put.run(entry.key, entry.operation, ...columnsOf(entry));
  for (const entry of entries) {
    const {outcome, lease, history, nth} = entry;
    if (outcome?.status !== 'ok' || lease > 0 || nth !== null || history !== noAttempts) {
      write(entry);
      continue;
    }
    answers.push(entry);
    values.push(entry.key, entry.operation, outcome.data, outcome.boughtAt);
    if (answers.length < ANSWERS_AT_ONCE) continue;
    sql.putAnswers.run(...values);
    answers = [];
    values = [];
  }
  answers.forEach(write);
}

/**
 * Yields answers that the run bought after the answer with the number `nth`, in groups of one scope. `scopes`: all
 * scopes by their numbers.
 */
export function* answersAfter(
  sql: LedgerStatements,
  nth: number,
  scopes: readonly string[],
): Generator<ScopedAnswers> {
  for (let last = 0; ; ) {
    const rows = sql.answered.all(last, nth);
    for (const [number, scope] of scopes.entries()) {
      const answers = rows.filter(row => row.scope === number).map(row => answerOf(entryOf(row)));
      if (answers.length > 0) yield {scope, answers};
    }
    if (rows.length < ROWS_AT_ONCE) return;
    last = Number(rows.at(-1)?.id);
  }
}

/** The kept answer of an entry that has one. */
export function answerOf({operation, key, outcome}: LedgerEntry): KeptAnswer {
  return {operation, key, outcome: outcome as Answer};
}
