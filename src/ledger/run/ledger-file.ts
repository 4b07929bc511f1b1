import {rmSync} from 'node:fs';
import {isDamage, Sqlite, VersionError} from '../../disk/sqlite.ts';
import {isOfDisk, OutputError, StateError, systemReason} from '../../errors.ts';
import {operationNames} from '../../operations/table.ts';
import {say, set} from '../../sentence.ts';
import {ROWS_AT_ONCE} from './ledger-rows.ts';
import {damaged, saved} from './saved-value.ts';

/** Raise this version if tables, books or a saved value change shape. Other versions are refused. */
const VERSION = 13;

/**
 * `value`: a row for each distinct value at an endpoint and account (`scope`, a number). `lease`: the calls that left
 * together, until all of them are booked. `nth`: number of an answer among the answers that this run bought; NULL for
 * an answer without a call.
 */
const SCHEMA = `
  CREATE TABLE value (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    scope INTEGER NOT NULL,
    operation TEXT NOT NULL,
    state INTEGER NOT NULL,
    -- The last lease of which the value's call is booked; 0 without a call.
    lease INTEGER NOT NULL,
    -- Number of the last call (its dispatch), if its session ended before the end of the call was known.
    interrupted INTEGER,
    -- The value's attempts without an answer, as a ValueHistory. A waiting value has their last code in \`error\`.
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

/** Suffix of the file that reserves disk space, so that a full disk doesn't keep the ledger from being written. */
export const SPARE = '-spare';

/**
 * Opens a ledger's file, or creates it. `full`: true if a transaction must survive a power cut, as a credit limit
 * needs. Otherwise it survives only the end of the process.
 */
export function openLedgerFile(path: string, full: boolean): Sqlite {
  const format = {schema: SCHEMA, version: VERSION};
  const synchronous = full ? 'FULL' : 'NORMAL';
  const db = new Sqlite(path, {format, synchronous, exclusive: true, busyTimeoutMs: 0});
  try {
    const damage = damageOf(db);
    if (damage !== undefined) throw damaged(new Error(damage));
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Removes the names of an open ledger's files. The files then vanish when they are closed, however the
 * process ends. This is safe: SQLite has opened the write-ahead log by now, and opens no file by name again.
 * On Windows it fails.
 */
export function removeNames(path: string): void {
  for (const suffix of ['', '-wal']) {
    try {
      rmSync(path + suffix, {force: true});
    } catch {
      // Windows does not remove open files. There the caller removes their directory later.
    }
  }
}

/** Runs `work`, and turns errors of SQLite and the file system into errors that tell the user what to do. */
export function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof VersionError)
      throw new StateError(
        'state_version',
        say`The saved state can't be used (${error.message}). Finish the run with the program that began it, or start over with ${set('restart', true)}.`,
        {cause: error},
      );
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
 * Reads the run's identity from a ledger that no process has open. `hasCalls`: true if the run sent a call. Throws as
 * {@link openLedgerFile} does.
 */
export function peek<Run>(path: string): {readonly run: Run | undefined; readonly hasCalls: boolean} {
  const db = guarded(() => openLedgerFile(path, false));
  try {
    const found = (rows: string) => guarded(() => db.query(['value'], `FROM ${rows} LIMIT 1`).get());
    const run = found("meta WHERE name = 'run'");
    const sent = ['(SELECT key AS value FROM value WHERE lease > 0)', '(SELECT id AS value FROM lease)'];
    return {run: run && saved<Run>(run.value), hasCalls: sent.some(rows => found(rows) !== undefined)};
  } finally {
    db.close();
  }
}

/** SQL condition that is true for every row of `value` that this program wrote. */
const IS_SOUND = `operation IN (${operationNames.map(name => `'${name}'`).join(', ')})${['scope', 'state', 'lease', 'doubts'].map(column => ` AND typeof(${column}) = 'integer'`).join('')}`;

/**
 * Describes damage in a ledger's file; undefined if the whole file is sound. Called before anything is sent, so
 * that no run finds damage midway. Takes 1 µs per value.
 *
 * @throws SQLite's errors if pages or texts can't be read.
 */
function damageOf(db: Sqlite): string | undefined {
  const found = db.query(['quick_check AS found'], 'FROM pragma_quick_check(1)').get()?.found;
  if (found !== 'ok') return String(found);
  // SQLite doesn't check that texts are UTF-8. Reading a text does, so this reads all texts.
  const page = db.query(
    [
      'max(id) AS last',
      `sum(NOT (${IS_SOUND})) AS odd`,
      "group_concat(key || coalesce(error, '') || coalesce(data, ''), '') AS texts",
    ],
    `FROM (SELECT * FROM value WHERE id > ? ORDER BY id LIMIT ${ROWS_AT_ONCE})`,
  );
  for (let id = 0; ; ) {
    const {last = null, odd} = page.get(id) ?? {};
    if (Number(odd) > 0) return `a value's row between ${id} and ${last}`;
    if (last === null) return undefined;
    id = Number(last);
  }
}
