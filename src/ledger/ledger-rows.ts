import {IN_LIST, listOf, type Sqlite, type SqlRow} from '../disk/sqlite.ts';
import type {Operation} from '../operations/table.ts';
import type {BookedAttempt, KeptAnswer, LedgerEntry} from './entry.ts';
import type {Answer, Outcome} from './lookup.ts';
import {toSaved} from './saved-value.ts';
import {historyIn, interruptedCall, withDoubt, withoutInterrupted} from './value-history.ts';

/** State of a value that waits for its first or next call. Others: `SENT`, and `stateOf` for outcomes. */
export const WAITING = 0;
const SENT = 1;
export const stateOf = {ok: 2, failed: 3, unknown: 4, rejected: 5} as const;

/** Maximum keys per statement: memory holds all rows that a statement finds, as one JSON text. */
const FIND_AT_ONCE = 64;
/** Maximum number of rows that are read at once. */
export const ROWS_AT_ONCE = 500;

export function answerOf(row: SqlRow): KeptAnswer {
  const outcome = outcomeOf(row) as Answer;
  return {operation: row.operation as Operation, key: String(row.key), outcome};
}

type ReadNext = (last: SqlRow | undefined) => readonly SqlRow[];

/** Yields rows in groups of {@link ROWS_AT_ONCE}: memory may not hold all. `read`: the rows behind the row `last`. */
export function* pagesOf(read: ReadNext): Generator<readonly SqlRow[]> {
  for (let last: SqlRow | undefined; ; ) {
    const rows = read(last);
    yield rows;
    if (rows.length < ROWS_AT_ONCE) return;
    last = rows.at(-1);
  }
}

export function* answersOf(read: ReadNext): Generator<KeptAnswer[]> {
  for (const rows of pagesOf(read)) yield rows.map(answerOf);
}

export function entryOf(row: SqlRow): LedgerEntry {
  const interrupted = row.interrupted === null ? undefined : Number(row.interrupted);
  return {...historyIn(row.history), interrupted, outcome: outcomeOf(row)};
}

/** The final outcome in a value's row; undefined while the value has none. */
export function outcomeOf(row: SqlRow): Outcome | undefined {
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

/** State, error, data and time of purchase, as columns of a value's row: the inverse of {@link outcomeOf}. */
export function columnsOf(outcome: Outcome | undefined) {
  if (outcome === undefined) return [WAITING, null, null, null] as const;
  const state = 'rejected' in outcome ? stateOf.rejected : stateOf[outcome.status];
  return [
    state,
    'error' in outcome ? outcome.error : null,
    'data' in outcome ? outcome.data : null,
    'boughtAt' in outcome ? outcome.boughtAt : null,
  ] as const;
}

/** Writes a booked attempt. `nth`: number of the attempt's answer; null without an answer. */
export function settle(sql: LedgerStatements, booked: BookedAttempt, nth: number | null): void {
  sql.settle.run(...columnsOf(booked.outcome), historyAfter(sql, booked), nth, booked.key);
}

/** The column `history` after an attempt; null if it stays as it is. */
function historyAfter(sql: LedgerStatements, {key, attempt, doubt, wasLost}: BookedAttempt): string | null {
  if (!doubt && wasLost !== true) return null;
  const before = historyIn(sql.history.get(key)?.history);
  const since = wasLost === true ? withoutInterrupted(before) : before;
  return toSaved(doubt ? withDoubt(since, attempt) : since);
}

/** Notes for each value that was sent, and has no outcome, that its call was interrupted. */
export function loseSent(sql: LedgerStatements): void {
  for (const {key, history} of sql.inFlight.all())
    sql.lose.run(toSaved(withDoubt(historyIn(history), interruptedCall)), String(key));
}

/** Number of known answers that one statement writes. This is a fifth faster than one answer per statement. */
export const ADOPTED_AT_ONCE = 64;

/**
 * The SQL values of a known answer's row. Binding parameters takes time, so values that all answers share are
 * part of the statement.
 */
const ADOPTED_ANSWERS = `(?, ?, ${stateOf.ok}, 0, NULL, ?, ?)`;

function adoption(rows: string): string {
  return `INSERT INTO lookup (key, operation, state, cost, error, data, bought_at) VALUES ${rows} ON CONFLICT (key) DO UPDATE SET state = excluded.state, error = excluded.error, data = excluded.data, bought_at = excluded.bought_at WHERE state = ${WAITING}`;
}

export type LedgerStatements = ReturnType<typeof ledgerStatements>;

export function ledgerStatements(db: Sqlite) {
  const entry = ['key', 'state', 'interrupted', 'history', 'error', 'data', 'bought_at'];
  return {
    any: db.query(['id'], 'FROM lookup LIMIT 1'),
    find: db.query(entry, `FROM lookup WHERE key ${IN_LIST}`),
    reserve: db.prepare(
      `INSERT INTO lookup (key, operation, state, cost, dispatch, first_row) VALUES (?, ?, ${SENT}, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET state = ${SENT}, cost = excluded.cost, dispatch = excluded.dispatch, first_row = excluded.first_row, interrupted = NULL`,
    ),
    settle: db.prepare(
      'UPDATE lookup SET state = ?, error = ?, data = ?, bought_at = ?, history = coalesce(?, history), interrupted = NULL, nth = ? WHERE key = ?',
    ),
    history: db.query(['history'], 'FROM lookup WHERE key = ?'),
    firstRow: db.query(['first_row'], 'FROM lookup WHERE key = ?'),
    setFirstRow: db.prepare('UPDATE lookup SET first_row = ? WHERE key = ?'),
    forgetRowsAfter: db.prepare('UPDATE lookup SET first_row = NULL WHERE first_row > ?'),
    keepRejection: db.prepare(`UPDATE lookup SET nth = ? WHERE key = ? AND state = ${stateOf.rejected}`),
    unjudged: db.query(
      ['key', 'operation', 'state', 'error', 'bought_at'],
      `FROM lookup WHERE state = ${stateOf.rejected} AND nth IS NULL AND dispatch <> 0 ORDER BY id`,
    ),
    dropRejection: db.prepare(
      `UPDATE lookup SET state = ${stateOf.failed}, bought_at = NULL WHERE key = ? AND state = ${stateOf.rejected}`,
    ),
    adopt: db.prepare(adoption('(?, ?, ?, 0, ?, ?, ?)')),
    adoptAnswers: db.prepare(adoption(Array(ADOPTED_AT_ONCE).fill(ADOPTED_ANSWERS).join(', '))),
    setMeta: db.prepare(
      'INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    ),
    getMeta: db.query(['value'], 'FROM meta WHERE name = ?'),
    sent: db.query(
      ['operation', 'count(*) AS n', 'sum(cost) AS cost'],
      `FROM lookup WHERE state = ${SENT} GROUP BY operation`,
    ),
    inFlight: db.query(['key', 'history'], `FROM lookup WHERE state = ${SENT}`),
    lose: db.prepare(
      `UPDATE lookup SET state = ${WAITING}, interrupted = dispatch, history = ? WHERE key = ?`,
    ),
    answered: db.query(
      ['id', 'key', 'operation', 'state', 'error', 'data', 'bought_at'],
      `FROM lookup WHERE id > ? AND state IN (${stateOf.ok}, ${stateOf.rejected}) AND nth > ? ORDER BY id LIMIT ${ROWS_AT_ONCE}`,
    ),
  };
}

export function findRows(sql: LedgerStatements, keys: readonly string[]): SqlRow[] {
  const rows: SqlRow[] = [];
  for (let from = 0; from < keys.length; from += FIND_AT_ONCE)
    rows.push(...sql.find.all(listOf(keys.slice(from, from + FIND_AT_ONCE))));
  return rows;
}
