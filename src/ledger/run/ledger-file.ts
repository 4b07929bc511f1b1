import {randomBytes} from 'node:crypto';
import {rmSync, statSync, writeFileSync} from 'node:fs';
import {crc32} from 'node:zlib';
import {isDamageError, Sqlite, VersionError} from '../../disk/sqlite.ts';
import {isDiskError, OutputError, StateError, systemReason} from '../../errors.ts';
import {operationNames} from '../../operations/table.ts';
import {say, set} from '../../sentence.ts';

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
const format = {schema: SCHEMA, version: 1};

/** Maximum number of rows that are read at once. */
export const ROWS_AT_ONCE = 500;

/**
 * Opens a ledger's file, or creates it. `full`: true if a transaction must survive a power cut, as a credit limit
 * needs. Otherwise it survives only the end of the process.
 */
export function openLedgerFile(path: string, full: boolean): Sqlite {
  const db = openFile(path, full);
  try {
    refuseDamage(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function openFile(path: string, full: boolean): Sqlite {
  const synchronous = full ? 'FULL' : 'NORMAL';
  return new Sqlite(path, {format, synchronous, exclusive: true, busyTimeoutMs: 0});
}

/**
 * Removes the names of an open ledger's files. The files then vanish when they are closed, however the
 * process ends. This is safe: SQLite has opened the write-ahead log by now, and opens no file by name again.
 * On Windows it fails.
 */
export function unlinkLedgerFiles(path: string): void {
  for (const suffix of ['', '-wal']) {
    try {
      rmSync(path + suffix, {force: true});
    } catch {
      // Windows does not remove open files. There the caller removes their directory later.
    }
  }
}

/** Runs `work`, and turns errors of SQLite and the file system into errors that tell the user what to do. */
export function orThrowLedgerError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof VersionError)
      throw new StateError(
        'state_version',
        say`The saved state can't be used (${error.message}). Finish the run with the program that began it, or start over with ${set('restart', true)}.`,
        {cause: error},
      );
    if (isDamageError(error)) throw damaged(error);
    throw isDiskError(error) ? ledgerUnwritableError(systemReason(error), error) : error;
  }
}

export function ledgerUnwritableError(reason: string, cause: unknown): OutputError {
  return new OutputError(
    'state_unwritable',
    `The run's state can't be written (${reason}). Fix the cause (disk space, permissions), then run the same command again.`,
    {cause},
  );
}

function damaged(cause: unknown): StateError {
  return new StateError(
    'state_damaged',
    say`The run's saved state is damaged. Start over with ${set('restart', true)}; answers already in the answer store are not paid for again.`,
    {cause},
  );
}

/** Writes a value as a line of JSON, then a line with its checksum, which shows a changed digit. */
export function toChecksummedJson(value: unknown): string {
  const json = JSON.stringify(value);
  return `${json}\n${crc32(json)}`;
}

/**
 * Reads a text that {@link toChecksummedJson} wrote.
 *
 * @throws {StateError} `state_damaged` if the text is damaged.
 */
export function fromChecksummedJson<T>(text: unknown): T {
  const [json = '', checksum] = String(text).split('\n');
  if (checksum !== String(crc32(json))) throw damaged(new Error('a saved value has another checksum'));
  try {
    return JSON.parse(json) as T;
  } catch (error) {
    throw damaged(error);
  }
}

/** Reads a value that was saved under a name; undefined if there is none. */
export function readMeta<T>(db: Sqlite, name: string): T | undefined {
  const row = db.query(['value'], 'FROM meta WHERE name = ?').get(name);
  return row && fromChecksummedJson<T>(row.value);
}

export function writeMeta(db: Sqlite, name: string, text: string): void {
  db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(name, text);
}

/** State of a ledger that no session has open. */
export interface LedgerState<Run> {
  readonly run?: Run | undefined;
  /** True if the run sent a call. */
  readonly hasCalls: boolean;
  /** Its endpoint and account, as a key. The first programs' ledgers may have several. */
  readonly owners: readonly string[];
}

/**
 * Reads the state of a ledger that no process has open. Does not look for damage: to open it does.
 *
 * @throws an error if it can't be read.
 */
export function peekLedger<Run>(path: string): LedgerState<Run> {
  const db = openFile(path, false);
  try {
    const has = (rows: string) => db.query(['1 AS found'], `FROM ${rows} LIMIT 1`).get() !== undefined;
    return {
      run: readMeta<Run>(db, 'run'),
      hasCalls: has('value WHERE sent > 0') || has('lease'),
      owners: db
        .query(['key'], 'FROM scope')
        .all()
        .map(({key}) => String(key)),
    };
  } finally {
    db.close();
  }
}

/** SQL condition that is true for every row of `value` that this program wrote. */
const IS_SOUND = [
  `operation IN (${operationNames.map(name => `'${name}'`).join(', ')})`,
  ...['state', 'sent', 'doubts'].map(column => `typeof(${column}) = 'integer'`),
].join(' AND ');

/**
 * Throws for damage in a ledger's file. Called before anything is sent, so that no run finds damage midway. Takes 1 µs
 * per value.
 */
function refuseDamage(db: Sqlite): void {
  const found = db.query(['quick_check AS found'], 'FROM pragma_quick_check(1)').get()?.found;
  if (found !== 'ok') throw damaged(new Error(String(found)));
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
    if (Number(odd) > 0) throw damaged(new Error(`a value's row between ${id} and ${last}`));
    if (last === null) return;
    id = Number(last);
  }
}

/** Suffix of the {@link SpareFile}'s name. */
export const SPARE_SUFFIX = '-spare';
/** Calls in flight whose outcomes need {@link STEP_BYTES}, each in a transaction of its own of ledger and store. */
const STEP_CALLS = 50;
const STEP_BYTES = 1_048_576;
/** The file repeats a random block of this size, since some file systems would compress equal bytes. */
const BLOCK_BYTES = 65_536;

/**
 * Reserves disk space with a file. When the disk is full, `release` removes the file, so that a run can
 * still store the answers that it has paid for.
 */
export class SpareFile {
  readonly #path: string;
  #heldBytes = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Makes the file as large as `calls` in flight need. Throws the system's error if the disk has no room for it. */
  hold(calls: number): void {
    const bytes = Math.ceil(calls / STEP_CALLS) * STEP_BYTES;
    if (this.#heldBytes >= bytes) return;
    try {
      // A kill may have cut it off.
      const size = statSync(this.#path, {throwIfNoEntry: false})?.size ?? 0;
      const missing = Buffer.alloc(Math.max(0, bytes - size), randomBytes(BLOCK_BYTES));
      writeFileSync(this.#path, missing, {mode: 0o600, flag: 'a'});
      this.#heldBytes = bytes;
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** Removes the file. Returns false if there was no file to remove. */
  release(): boolean {
    this.#heldBytes = 0;
    try {
      rmSync(this.#path);
      return true;
    } catch {
      return false;
    }
  }
}
