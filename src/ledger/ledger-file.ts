import {rmSync} from 'node:fs';
import {crc32} from 'node:zlib';
import {IN_LIST, isDamage, listOf, Sqlite, type SqlRow} from '../disk/sqlite.ts';
import {isOfDisk, OutputError, StateError, systemReason} from '../errors.ts';
import {damageOf} from './sound.ts';

/** Raise this version if tables, tally, checkpoint or a run's identity change shape. Other versions are refused. */
const VERSION = 10;
/** Version without checksums of the saved values. Opening such a ledger turns it into the present version. */
const WITHOUT_CHECKSUMS = 9;

/** `nth` numbers the answers that this run bought, in order. It is NULL for answers that it got without a call. */
const SCHEMA = `
  CREATE TABLE lookup (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    operation TEXT NOT NULL,
    state INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    dispatch INTEGER NOT NULL DEFAULT 0,
    first_row INTEGER,
    -- Attempts that may have been charged and brought no answer; one that was interrupted is not in here yet.
    ambiguous INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    data TEXT,
    bought_at INTEGER,
    nth INTEGER
  );
  CREATE TABLE carried (
    key TEXT NOT NULL,
    scope TEXT NOT NULL,
    operation TEXT NOT NULL,
    state INTEGER NOT NULL,
    -- Sends since its answer, if any, that may have been charged and brought none.
    doubts INTEGER NOT NULL,
    error TEXT,
    data TEXT,
    bought_at INTEGER,
    PRIMARY KEY (key, scope)
  ) WITHOUT ROWID;
  CREATE TABLE given_up (scope TEXT, tally TEXT NOT NULL);
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`;

/** Suffix of the file that reserves disk space, so that the ledger can still be written when the disk is full. */
export const SPARE = '-spare';

/** State of a value that waits for its first or next call. Other states: `SENT`, and the final ones in `stateOf`. */
export const WAITING = 0;
const SENT = 1;
export const stateOf = {ok: 2, failed: 3, unknown: 4, rejected: 5} as const;

/** Error of a value whose session ended before the outcome was known. The service may have carried the call out. */
export const INTERRUPTED = 'interrupted';

/**
 * SQL for the number of a value's sends that may have been charged and brought no answer. If `dispatch` is 0, the
 * run's current attempt never sent the value: its error is from an earlier attempt, and is not counted.
 */
export const DOUBTS = `ambiguous + (error IS '${INTERRUPTED}' AND dispatch <> 0)`;

/** Maximum keys per statement: all rows that a statement finds are one JSON text in memory. */
const FIND_AT_ONCE = 64;
/** Answers per read when they are copied out of the ledger. */
export const COPY_AT_ONCE = 500;

/**
 * Opens a ledger's file, or creates it. `full`: reservations survive a power cut, as a budget needs. Otherwise they
 * survive only the end of the process.
 */
export function openLedgerFile(path: string, full: boolean): Sqlite {
  const db = new Sqlite(path, {synchronous: full ? 'FULL' : 'NORMAL', exclusive: true, busyTimeoutMs: 0});
  const version = db.pragma('user_version');
  if (version === 0) {
    db.exec(`BEGIN; ${SCHEMA} PRAGMA user_version = ${VERSION}; COMMIT;`);
    return db;
  }
  try {
    if (version === WITHOUT_CHECKSUMS) db.exec(`PRAGMA user_version = ${VERSION}`);
    else if (version !== VERSION) throw ofVersion(version);
    const damage = damageOf(db);
    if (damage !== undefined) throw damaged(new Error(damage));
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Removes the names of an open ledger's files: the files vanish when they are closed, however the process ends. The
 * write-ahead log exists by now, so SQLite opens nothing by name again. (On Windows this fails.)
 */
export function removeNames(path: string): void {
  for (const suffix of ['', '-wal']) {
    try {
      rmSync(path + suffix, {force: true});
    } catch {
      // On Windows the caller removes the directory later.
    }
  }
}

function ofVersion(version: number): StateError {
  return new StateError(
    'state_version',
    `The saved state has version ${version}; this program needs ${VERSION}. Finish the run with the program that began it, or start over with --restart.`,
  );
}

/** Number of known answers that one statement writes: a fifth faster than one answer per statement. */
export const ADOPTED_AT_ONCE = 64;

/** Binding a value takes time, so values that all answers share are written into the statement. */
const ADOPTED_ANSWERS = `(?, ?, ${stateOf.ok}, 0, NULL, ?, ?)`;

function adoption(rows: string): string {
  return `INSERT INTO lookup (key, operation, state, cost, error, data, bought_at) VALUES ${rows} ON CONFLICT (key) DO UPDATE SET state = excluded.state, error = coalesce(excluded.error, error), data = excluded.data, bought_at = excluded.bought_at WHERE state = ${WAITING}`;
}

export type LedgerStatements = ReturnType<typeof ledgerStatements>;

export function ledgerStatements(db: Sqlite) {
  const entry = ['key', 'state', 'dispatch', 'ambiguous', 'error', 'data', 'bought_at'];
  return {
    any: db.query(['id'], 'FROM lookup LIMIT 1'),
    find: db.query(entry, `FROM lookup WHERE key ${IN_LIST}`),
    reserve: db.prepare(
      `INSERT INTO lookup (key, operation, state, cost, dispatch, first_row) VALUES (?, ?, ${SENT}, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET state = ${SENT}, cost = excluded.cost, dispatch = excluded.dispatch, first_row = excluded.first_row, ambiguous = ambiguous + (error IS '${INTERRUPTED}'), error = nullif(error, '${INTERRUPTED}')`,
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

/** Runs `work`, and turns errors of SQLite and the file system into errors that tell the user what to do. */
export function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (isDamage(error)) throw damaged(error);
    throw isOfDisk(error) ? unwritable(systemReason(error), error) : error;
  }
}

export function unwritable(reason: string, cause: unknown): OutputError {
  return new OutputError(
    'state_unwritable',
    `The run's state can't be written (${reason}). Fix the cause (disk space, permissions), then run the same command again.`,
    {cause},
  );
}

/**
 * Reads the run's identity from a ledger that no process has open. `hasCalls`: the run's current attempt or an earlier
 * one sent a call. Throws as {@link openLedgerFile} does.
 */
export function peek<Run>(path: string): {readonly run: Run | undefined; readonly hasCalls: boolean} {
  const db = guarded(() => openLedgerFile(path, false));
  try {
    const run = guarded(() => db.query(['value'], "FROM meta WHERE name = 'run'").get());
    const calls = ['lookup WHERE dispatch <> 0 OR ambiguous > 0', 'carried'];
    return {
      run: run && saved<Run>(run.value),
      hasCalls: calls.some(
        some => guarded(() => db.query(['key'], `FROM ${some} LIMIT 1`).get()) !== undefined,
      ),
    };
  } finally {
    db.close();
  }
}

/** Writes a value as a line of JSON, then a line with its checksum, which shows a changed digit. */
export function toSaved(value: unknown): string {
  const json = JSON.stringify(value);
  return `${json}\n${crc32(json)}`;
}

/** Reads a text of {@link toSaved}, or one without a checksum (an earlier version's). Throws `state_damaged`. */
export function saved<T>(text: unknown): T {
  const [json = '', checksum] = String(text).split('\n');
  if (checksum !== undefined && Number(checksum) !== crc32(json))
    throw damaged(new Error('a saved value has another checksum'));
  try {
    return JSON.parse(json) as T;
  } catch (error) {
    throw damaged(error);
  }
}

function damaged(cause: unknown): StateError {
  return new StateError(
    'state_damaged',
    "The run's saved state is damaged. Start over with --restart; answers already in the answer store are not paid for again.",
    {cause},
  );
}
