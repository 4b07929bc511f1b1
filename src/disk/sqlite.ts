import {randomUUID} from 'node:crypto';
import {chmodSync, closeSync, lstatSync, openSync, rmSync, statSync} from 'node:fs';
import {dirname, join, resolve} from 'node:path';
import Database from 'libsql';
import {systemCode} from '../errors.ts';
import {refuseNotFile} from './path.ts';

export type SqlValue = string | number | bigint | null;
export type SqlRow = Record<string, unknown>;

/** A prepared statement without result rows. `run` returns the number of changed rows. */
export interface WriteStatement {
  run(...values: SqlValue[]): number;
}

export interface PreparedQuery {
  get(...values: SqlValue[]): SqlRow | undefined;
  all(...values: SqlValue[]): SqlRow[];
}

interface SqliteFormat {
  readonly schema: string;
  /** Raise it when the schema, or what a column holds, changes: files of other versions are refused. */
  readonly version: number;
}

export interface SqliteOptions {
  /** Without it, the file is used as it is. */
  readonly format?: SqliteFormat;
  /**
   * `FULL`: every commit survives a power cut. `NORMAL`: every commit survives the end of the process. `OFF`: none
   * does, and a transaction that fails may keep a part of its changes, unless the file is shared.
   */
  readonly synchronous: 'OFF' | 'NORMAL' | 'FULL';
  /** True for a file that no kill of one of its processes may damage, even without `synchronous`. */
  readonly isShared?: boolean;
  /** Keeps every other process out, which saves a system call per transaction. */
  readonly exclusive?: boolean;
  /** For a file from which rows are removed: overwrites them with zeros, and can give free pages back. */
  readonly isPruned?: boolean;
  readonly busyTimeoutMs: number;
}

/** SQLite copies its log to the file after this many pages (32 MiB): one that changed many times by then is copied once. */
const LOG_PAGES = 8_192;
/** Page cache. It can hold the inner pages of an index of some ten million entries. */
const CACHE_KIB = 16_384;

/** Opens a database by its whole path: the driver takes a name such as `file:st` or `libsql:o` for a URL. */
export function openDatabase(path: string, options?: Database.Options): Database.Database {
  return new Database(resolve(path), options);
}

/** SQL that tests if a value is in a list of any length from {@link toListParameter}. */
export const IN_LIST_SQL = 'IN (SELECT value FROM json_each(?))';

/** A list as a single SQL parameter, which takes half the time of one parameter for each text. */
export function toListParameter(texts: readonly string[]): string {
  return JSON.stringify(texts);
}

/** Maximum texts per statement: memory holds all rows that a statement finds, as one JSON text. */
const FIND_AT_ONCE = 64;

/** {@link toListParameter} for many texts: a parameter for each group of them. */
export function toListParameters(texts: readonly string[]): string[] {
  const groups = Math.ceil(texts.length / FIND_AT_ONCE);
  return Array.from({length: groups}, (_, group) =>
    toListParameter(texts.slice(group * FIND_AT_ONCE, (group + 1) * FIND_AT_ONCE)),
  );
}

/** Refuses bytes that are not UTF-8, and keeps a byte order mark. */
const utf8 = new TextDecoder('utf-8', {fatal: true, ignoreBOM: true});

/** A file of another version, which is not written to. */
export class VersionError extends Error {
  constructor(found: number, needed: number) {
    super(`it has version ${found}; this program needs ${needed}`);
  }
}

/** A SQLite database in a file of mode 0600. Errors have SQLite's `code`, or the system's if it can't be created. */
export class Sqlite {
  readonly #db: Database.Database;
  readonly #exclusive: boolean;
  readonly #onClosed: () => void;
  #dataVersion: Database.Statement | undefined;

  /**
   * Opens the file, or creates it with its tables. `onClosed` is called once it is closed.
   *
   * @throws {VersionError}, and every error that {@link isDamageError} and {@link isBusyError} tell apart.
   */
  constructor(path: string, options: SqliteOptions, onClosed: () => void = () => {}) {
    const {format, synchronous, exclusive = false, isShared = false, isPruned = false} = options;
    this.#exclusive = exclusive;
    this.#onClosed = onClosed;
    mustBeFile(path);
    refuseOthers(path);
    closeSync(openSync(path, 'a', 0o600));
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
    this.#db = openDatabase(path);
    try {
      this.pragma(`busy_timeout = ${options.busyTimeoutMs}`);
      const isNew = format !== undefined && this.#isNew(format);
      if (exclusive) this.pragma('locking_mode = EXCLUSIVE');
      // SQLite before 3.51.3 may lose commits or damage a file with a log (WAL) if one connection checkpoints while
      // another writes (https://sqlite.org/wal.html#walresetbug); the driver has 3.45.1. So only a file that no
      // other process can open has a log.
      const journal = exclusive ? 'WAL' : 'TRUNCATE';
      this.pragma(`journal_mode = ${synchronous === 'OFF' && !isShared ? 'OFF' : journal}`);
      this.pragma(`synchronous = ${synchronous}`);
      this.pragma(`wal_autocheckpoint = ${LOG_PAGES}`);
      this.pragma(`cache_size = -${CACHE_KIB}`);
      if (isPruned) this.pragma('secure_delete = ON');
      // Without effect on a file that has tables.
      if (isNew && isPruned) this.pragma('auto_vacuum = INCREMENTAL');
      if (isNew) this.transaction(() => this.#create(format));
    } catch (error) {
      this.#db.close();
      if (!isBusyError(error) || hasLocks(dirname(path))) throw error;
      throw Object.assign(new Error('its file system has no locks'), {code: 'ENOLCK', syscall: 'lock', path});
    }
  }

  /** True if the file has no tables yet. Writes nothing. */
  #isNew({version}: SqliteFormat): boolean {
    const present = this.pragma('user_version');
    if (present !== 0 && present !== version) throw new VersionError(present, version);
    return present === 0;
  }

  /** Creates the tables, unless another process has created them meanwhile. */
  #create(format: SqliteFormat): void {
    if (this.#isNew(format)) this.exec(`${format.schema}; PRAGMA user_version = ${format.version};`);
  }

  /** Sets a pragma, or reads one that is a number. */
  pragma(text: string): number {
    const [row = {}] = this.#db.pragma(text) as SqlRow[];
    return Number(Object.values(row)[0]);
  }

  /** A number that changes once another connection has written to the file. */
  dataVersion(): number {
    this.#dataVersion ??= this.#db.prepare('PRAGMA data_version');
    return Number((this.#dataVersion.get([]) as SqlRow).data_version);
  }

  exec(sql: string): void {
    this.#db.exec(sql);
  }

  /** `run` passes all values in one array. Otherwise the driver takes a single null for named parameters. */
  prepare(sql: string): WriteStatement {
    const statement = this.#db.prepare(sql);
    return {run: (...values) => statement.run(values).changes};
  }

  /**
   * Prepares a SELECT. `columns`: each is a `name` or `expression AS name`.
   *
   * SQLite returns all rows as the bytes of one JSON text. If it returned texts, the driver would end the process at one
   * that is not UTF-8, as in a damaged file. One JSON text also costs less time than an object for each row.
   */
  query(columns: readonly string[], fromClause: string): PreparedQuery {
    const names = columns.map(column => column.slice(column.lastIndexOf(' ') + 1));
    const rows = `json_group_array(json_array(${names.join(', ')}))`;
    const statement = this.#db.prepare(
      `SELECT CAST(${rows} AS BLOB) AS json FROM (SELECT ${columns.join(', ')} ${fromClause})`,
    );
    const all = (...values: SqlValue[]) => {
      const {json} = statement.get(values) as {json: ArrayBuffer};
      const lists = JSON.parse(decodeText(json)) as unknown[][];
      return lists.map(list => {
        // Uses a loop: Object.fromEntries takes as long as SQLite's own search.
        const row: SqlRow = {};
        for (let at = 0; at < names.length; at++) row[names[at] as string] = list[at];
        return row;
      });
    };
    return {all, get: (...values) => all(...values)[0]};
  }

  /** Runs `work` in one transaction. If it throws, the file keeps none of its changes. */
  transaction<T>(work: () => T): T {
    return this.#transact('BEGIN IMMEDIATE', work);
  }

  /** Runs `work`, which only reads, on one snapshot of the file: it does not see what others write meanwhile. */
  reading<T>(work: () => T): T {
    return this.#transact('BEGIN; SELECT 1 FROM sqlite_master LIMIT 1', work);
  }

  /**
   * `begin`: the SQL that takes the lock. It is never prepared: the driver does not reset a statement that finds the file
   * locked, and until a reset this connection keeps all others from writing.
   */
  #transact<T>(begin: string, work: () => T): T {
    try {
      this.#db.exec(begin);
      const result = work();
      this.#db.exec('COMMIT');
      return result;
    } catch (error) {
      try {
        this.#db.exec('ROLLBACK');
      } catch {
        // Ignores this error: on a full disk and the like, SQLite has already rolled back. Throws the first error.
      }
      throw error;
    }
  }

  /**
   * Closes the file. The driver keeps an exclusive lock until the garbage collector frees its statements, so that another
   * run in this process would find the file locked. To release the lock, this ends WAL mode first.
   */
  close(): void {
    try {
      if (this.#exclusive) {
        this.pragma('journal_mode = DELETE');
        this.pragma('locking_mode = NORMAL');
        this.#db.prepare('SELECT 1 FROM sqlite_master LIMIT 1').all([]);
      }
    } catch {
      // Ignores errors such as a full disk: committed data is safe, and the lock ends with the process.
    }
    this.#db.close();
    this.#onClosed();
  }
}

/** Throws for a pipe or the like, since opening a pipe would wait. {@link isDamageError} is true for this error. */
function mustBeFile(path: string): void {
  try {
    refuseNotFile(path);
  } catch (error) {
    throw Object.assign(error as Error, {code: 'SQLITE_NOTADB'});
  }
}

/** Throws if another user owns the file, or a journal that SQLite would write back: that user could give it any content. */
function refuseOthers(path: string): void {
  const user = process.geteuid?.();
  for (const file of [path, `${path}-journal`, `${path}-wal`]) {
    const uid = lstatSync(file, {throwIfNoEntry: false})?.uid;
    if (user === undefined || uid === undefined || uid === user) continue;
    const fault = new Error(`it belongs to another user (uid ${uid})`);
    throw Object.assign(fault, {syscall: 'open', path: file});
  }
}

function decodeText(bytes: ArrayBuffer): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw Object.assign(new Error('a text is no UTF-8', {cause}), {code: 'SQLITE_CORRUPT'});
  }
}

/** SQLite's result code, such as `SQLITE_FULL`; undefined for other errors. */
export function sqliteCode(error: unknown): string | undefined {
  const code = systemCode(error);
  return code.startsWith('SQLITE_') ? code : undefined;
}

/** True if the error, or its cause, is that the disk is full. */
export function isDiskFullError(error: unknown): boolean {
  const codes = [error, (error as Error | undefined)?.cause].map(systemCode);
  return codes.some(code => code === 'SQLITE_FULL' || code === 'ENOSPC' || code === 'EDQUOT');
}

/**
 * False if the directory's file system has no locks, such as NFS without lockd (ENOLCK). SQLite calls every file there
 * busy; so this locks a new file, which no other process knows.
 */
export function hasLocks(directory: string): boolean {
  const path = join(directory, `.bulk-enrich.${randomUUID()}`);
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // Another check says why nothing can be written there.
    return true;
  }
  try {
    const db = lockDatabase(path);
    db?.close();
    return db !== undefined;
  } catch {
    return true;
  } finally {
    rmSync(path, {force: true});
  }
}

/** Opens a database that is only a lock, and keeps others out. Undefined if another connection has locked it. */
export function lockDatabase(path: string): Database.Database | undefined {
  const db = openDatabase(path);
  try {
    db.exec('BEGIN EXCLUSIVE');
    return db;
  } catch (error) {
    db.close();
    if (isBusyError(error)) return undefined;
    throw error;
  }
}

/** True if another connection has the file locked. */
export function isBusyError(error: unknown): boolean {
  return systemCode(error).startsWith('SQLITE_BUSY');
}

/**
 * True if the error shows that the file is damaged, or not a database. `SQLITE_ERROR` counts too: our statements
 * work in every undamaged file, so a table or column is missing, or bytes are in place of a text.
 */
export function isDamageError(error: unknown): boolean {
  return /^SQLITE_(CORRUPT.*|NOTADB|ERROR)$/.test(systemCode(error));
}

/** Advice for a file that can't be used: a damaged one is to be removed; any other cause has to be fixed. */
export function adviseRepair(error: unknown): string {
  if (!isDamageError(error)) return 'Fix the cause.';
  return 'It is damaged: remove the file, and the next run begins a new one.';
}
