import {IN_LIST, listOf, type Sqlite, type SqlRow} from '../disk/sqlite.ts';
import type {Operation} from '../operations/table.ts';
import type {BookedAttempt, KeptAnswer, LedgerEntry} from './entry.ts';
import type {Answer, Outcome} from './lookup.ts';
import {INTERRUPTED} from './value-history.ts';

/** State of a value that waits for its first or next call. Others: `SENT`, and `stateOf` for outcomes. */
export const WAITING = 0;
const SENT = 1;
export const stateOf = {ok: 2, failed: 3, unknown: 4, rejected: 5} as const;

/**
 * SQL for the number of a value's calls that brought no answer and may have been charged. If `dispatch` is 0, the
 * value was not sent since the run's last restart: then its error is from before the restart, and does not count.
 */
export const DOUBTS = `ambiguous + (error IS '${INTERRUPTED}' AND dispatch <> 0)`;

/** Maximum keys per statement: memory holds all rows that a statement finds, as one JSON text. */
const FIND_AT_ONCE = 64;
/** Number of answers that are read at once to copy them out of the ledger. */
export const COPY_AT_ONCE = 500;

export function answerOf(row: SqlRow): KeptAnswer {
  const outcome = outcomeOf(row) as Answer;
  return {operation: row.operation as Operation, key: String(row.key), outcome};
}

/** Yields answers in groups: memory may not hold all. `read` returns the rows that follow the row `last`. */
export function* answersOf(read: (last: SqlRow | undefined) => readonly SqlRow[]): Generator<KeptAnswer[]> {
  for (let last: SqlRow | undefined; ; ) {
    const rows = read(last);
    yield rows.map(answerOf);
    if (rows.length < COPY_AT_ONCE) return;
    last = rows.at(-1);
  }
}

export function entryOf(row: SqlRow): LedgerEntry {
  const interrupted = row.error === INTERRUPTED ? Number(row.dispatch) : undefined;
  const doubts = Number(row.doubts);
  const lastCode = String(row.error ?? INTERRUPTED);
  return {mayBeCarriedOut: doubts > 0, doubts, lastCode, interrupted, outcome: outcomeOf(row)};
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

/** The parameters of the statement `settle`. `nth`: number of the attempt's answer; null without an answer. */
export function attemptColumns({key, outcome, attempt, doubt}: BookedAttempt, nth: number | null) {
  const [state, settled, data, boughtAt] = columnsOf(outcome);
  const error = outcome === undefined && doubt && 'code' in attempt ? attempt.code : settled;
  return [state, Number(doubt), error, data, boughtAt, nth, key] as const;
}

/** Number of known answers that one statement writes. This is a fifth faster than one answer per statement. */
export const ADOPTED_AT_ONCE = 64;

/**
 * The SQL values of a known answer's row. Binding parameters takes time, so values that all answers share are
 * part of the statement.
 */
const ADOPTED_ANSWERS = `(?, ?, ${stateOf.ok}, 0, NULL, ?, ?)`;

function adoption(rows: string): string {
  return `INSERT INTO lookup (key, operation, state, cost, error, data, bought_at) VALUES ${rows} ON CONFLICT (key) DO UPDATE SET state = excluded.state, error = coalesce(excluded.error, error), data = excluded.data, bought_at = excluded.bought_at WHERE state = ${WAITING}`;
}

export type LedgerStatements = ReturnType<typeof ledgerStatements>;

export function ledgerStatements(db: Sqlite) {
  const entry = ['key', 'state', 'dispatch', `${DOUBTS} AS doubts`, 'error', 'data', 'bought_at'];
  return {
    any: db.query(['id'], 'FROM lookup LIMIT 1'),
    find: db.query(entry, `FROM lookup WHERE key ${IN_LIST}`),
    reserve: db.prepare(
      `INSERT INTO lookup (key, operation, state, cost, dispatch, first_row) VALUES (?, ?, ${SENT}, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET state = ${SENT}, cost = excluded.cost, dispatch = excluded.dispatch, first_row = excluded.first_row, ambiguous = ${DOUBTS}, error = nullif(error, '${INTERRUPTED}')`,
    ),
    settle: db.prepare(
      `UPDATE lookup SET state = ?, ambiguous = ambiguous + ?, error = coalesce(?, nullif(error, '${INTERRUPTED}')), data = ?, bought_at = ?, nth = ? WHERE key = ?`,
    ),
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
    lose: db.prepare(`UPDATE lookup SET state = ${WAITING}, error = '${INTERRUPTED}' WHERE state = ${SENT}`),
    answered: db.query(
      ['id', 'key', 'operation', 'state', 'error', 'data', 'bought_at'],
      `FROM lookup WHERE id > ? AND state IN (${stateOf.ok}, ${stateOf.rejected}) AND nth > ? ORDER BY id LIMIT ${COPY_AT_ONCE}`,
    ),
  };
}

export function findRows(sql: LedgerStatements, keys: readonly string[]): SqlRow[] {
  const rows: SqlRow[] = [];
  for (let from = 0; from < keys.length; from += FIND_AT_ONCE)
    rows.push(...sql.find.all(listOf(keys.slice(from, from + FIND_AT_ONCE))));
  return rows;
}
