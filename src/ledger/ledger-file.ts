import {rmSync} from 'node:fs';
import {isDamage, Sqlite} from '../disk/sqlite.ts';
import {isOfDisk, OutputError, StateError, systemReason} from '../errors.ts';
import {damaged, saved} from './saved-value.ts';
import {damageOf} from './sound.ts';

/** Raise this version if tables, tally, checkpoint or identity change shape. Other versions are refused. */
const VERSION = 11;
/**
 * The program raises ledgers from this version on to {@link VERSION}. Saved values have checksums since version 10,
 * and histories in place of a number of doubts since version 11.
 */
const OLDEST = 9;

const CARRIED = `
  CREATE TABLE carried (
    key TEXT NOT NULL,
    scope TEXT NOT NULL,
    operation TEXT NOT NULL,
    state INTEGER NOT NULL,
    -- Attempts since its answer, if any, as a ValueHistory; NULL if none left a doubt.
    history TEXT,
    error TEXT,
    data TEXT,
    bought_at INTEGER,
    PRIMARY KEY (key, scope)
  ) WITHOUT ROWID;`;

/**
 * `lookup`: a row for each distinct value. `carried`: answers and doubts from before the run's restarts, by scope
 * (endpoint and account). `given_up`: the books (counts of calls and credits) from before the restarts.
 *
 * `nth`: number of an answer among the answers that this run bought; NULL for an answer without a call.
 */
const SCHEMA = `
  CREATE TABLE lookup (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    operation TEXT NOT NULL,
    state INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    dispatch INTEGER NOT NULL DEFAULT 0,
    -- Number of the last call (its dispatch), if its session ended before the end of the call was known.
    interrupted INTEGER,
    first_row INTEGER,
    -- Attempts since the last restart, as a ValueHistory; NULL if none left a doubt.
    history TEXT,
    error TEXT,
    data TEXT,
    bought_at INTEGER,
    nth INTEGER
  );
  ${CARRIED}
  CREATE TABLE given_up (scope TEXT, tally TEXT NOT NULL);
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`;

/** SQL for a value whose last call was interrupted, before version 11. That doubt is not in `ambiguous`. */
const WAS_LOST = "(error IS 'interrupted' AND dispatch <> 0)";
/** SQL for a history, before version 11: a number of doubts, and the last error code. */
const historyOf = (doubts: string) =>
  `json_object('mayBeCarriedOut', json('true'), 'doubts', ${doubts}, 'lastCode', coalesce(error, 'interrupted'))`;
/**
 * SQL that raises a ledger to version 11. State 0: `WAITING`, 1: `SENT`. The column `ambiguous` stays, unused: to drop
 * a column, SQLite takes as much memory as the table has bytes.
 */
const RAISED = `
  ALTER TABLE lookup ADD COLUMN history TEXT;
  UPDATE lookup SET history = ${historyOf(`ambiguous + ${WAS_LOST}`)} WHERE ambiguous + ${WAS_LOST} > 0;
  ALTER TABLE lookup ADD COLUMN interrupted INTEGER;
  UPDATE lookup SET interrupted = dispatch WHERE ${WAS_LOST};
  UPDATE lookup SET error = NULL WHERE state IN (0, 1);
  ALTER TABLE carried RENAME TO earlier;
  ${CARRIED}
  INSERT INTO carried SELECT key, scope, operation, state, iif(doubts > 0, ${historyOf('doubts')}, NULL), error, data, bought_at FROM earlier;
  DROP TABLE earlier;
`;

/** Suffix of the file that reserves disk space, so that a full disk doesn't keep the ledger from being written. */
export const SPARE = '-spare';

/**
 * Opens a ledger's file, or creates it. `full`: true if a transaction must survive a power cut, as a credit limit
 * needs. Otherwise it survives only the end of the process.
 */
export function openLedgerFile(path: string, full: boolean): Sqlite {
  const db = new Sqlite(path, {synchronous: full ? 'FULL' : 'NORMAL', exclusive: true, busyTimeoutMs: 0});
  const version = db.pragma('user_version');
  if (version === 0) {
    db.exec(`BEGIN; ${SCHEMA} PRAGMA user_version = ${VERSION}; COMMIT;`);
    return db;
  }
  try {
    if (version < OLDEST || version > VERSION) throw ofVersion(version);
    if (version < VERSION) db.exec(`BEGIN; ${RAISED} PRAGMA user_version = ${VERSION}; COMMIT;`);
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

function ofVersion(version: number): StateError {
  return new StateError(
    'state_version',
    `The saved state has version ${version}; this program needs ${VERSION}. Finish the run with the program that began it, or start over with --restart.`,
  );
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
 * Reads the run's identity from a ledger that no process has open. `hasCalls`: true if the run sent a call, also if
 * that was before a restart. Throws as {@link openLedgerFile} does.
 */
export function peek<Run>(path: string): {readonly run: Run | undefined; readonly hasCalls: boolean} {
  const db = guarded(() => openLedgerFile(path, false));
  try {
    const run = guarded(() => db.query(['value'], "FROM meta WHERE name = 'run'").get());
    const calls = ['lookup WHERE dispatch <> 0 OR history IS NOT NULL', 'carried'];
    return {
      run: run && saved<Run>(run.value),
      hasCalls: calls.some(
        rows => guarded(() => db.query(['key'], `FROM ${rows} LIMIT 1`).get()) !== undefined,
      ),
    };
  } finally {
    db.close();
  }
}
