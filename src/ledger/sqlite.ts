import {closeSync, openSync} from 'node:fs';
import Database from 'libsql';

export type Value = string | number | bigint | null;
export type SqlRow = Record<string, unknown>;

/** A prepared statement; arguments always come as one array, as the driver takes a lone object for named ones. */
export interface Statement {
  run(...values: Value[]): number;
  get(...values: Value[]): SqlRow | undefined;
  all(...values: Value[]): SqlRow[];
}

export interface SqliteOptions {
  /** `FULL` survives a power cut with every commit; `NORMAL` survives the end of the process, `OFF` too, but a power cut may damage the file. */
  readonly synchronous: 'OFF' | 'NORMAL' | 'FULL';
  /** Keeps every other process out, which saves a system call a transaction. */
  readonly exclusive?: boolean;
  /** Overwrites deleted content with zeros. */
  readonly secureDelete?: boolean;
  readonly busyTimeoutMs: number;
}

/** So many pages (32 MiB) gather in the log before they are brought home: keys are random, so that many meet there. */
const LOG_PAGES = 8_192;
/** Page cache of one database: enough for the inner pages of an index of some ten million entries. */
const CACHE_KIB = 16_384;

/** One SQLite database in one file of mode 0600. Thrown errors have SQLite's `code`. */
export class Sqlite {
  readonly #db: Database.Database;
  readonly #exclusive: boolean;

  constructor(path: string, options: SqliteOptions) {
    this.#exclusive = options.exclusive === true;
    closeSync(openSync(path, 'a', 0o600));
    this.#db = new Database(path);
    try {
      this.pragma(`busy_timeout = ${options.busyTimeoutMs}`);
      if (this.#exclusive) this.pragma('locking_mode = EXCLUSIVE');
      // SQLite before 3.51.3 may lose commits or damage a file with a log (WAL) where one connection brings the log home
      // while another writes (https://sqlite.org/wal.html#walresetbug); the driver has 3.45.1. Only a file that no other
      // process can open has a log.
      this.pragma(`journal_mode = ${this.#exclusive ? 'WAL' : 'TRUNCATE'}`);
      this.pragma(`synchronous = ${options.synchronous}`);
      this.pragma(`wal_autocheckpoint = ${LOG_PAGES}`);
      this.pragma(`cache_size = -${CACHE_KIB}`);
      if (options.secureDelete === true) this.pragma('secure_delete = ON');
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  pragma(text: string): SqlRow | undefined {
    return (this.#db.pragma(text) as SqlRow[])[0];
  }

  exec(sql: string): void {
    this.#db.exec(sql);
  }

  prepare(sql: string): Statement {
    const statement = this.#db.prepare(sql);
    return {
      run: (...values) => Number(statement.run(values).lastInsertRowid),
      get: (...values) => statement.get(values) as SqlRow | undefined,
      all: (...values) => statement.all(values) as SqlRow[],
    };
  }

  /** Runs `work` in one transaction: all of it is kept, or nothing. */
  transaction<T>(work: () => T): T {
    return this.#transact('BEGIN IMMEDIATE', work);
  }

  /** Runs `work`, which only reads: others write before it or after it. */
  reading<T>(work: () => T): T {
    return this.#transact('BEGIN; SELECT 1 FROM sqlite_master LIMIT 1', work);
  }

  /**
   * `begin` takes the lock, and is no prepared statement: the driver does not reset one that finds the file locked, and
   * from then on this connection would keep every other from writing.
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
        // SQLite rolls back by itself on a full disk and the like; the first error is the one that counts.
      }
      throw error;
    }
  }

  /**
   * Lets go of the file. The driver keeps it open until its statements are garbage, and so would keep an exclusive
   * lock: another run in this process would find the file locked. Only outside of WAL mode can that be given up.
   */
  close(): void {
    try {
      if (this.#exclusive) {
        this.pragma('journal_mode = DELETE');
        this.pragma('locking_mode = NORMAL');
        this.#db.prepare('SELECT 1 FROM sqlite_master LIMIT 1').all([]);
      }
    } catch {
      // A full disk, perhaps: what was committed is safe, and the end of the process lets go as well.
    }
    this.#db.close();
  }
}

/** SQLite's result code, such as `SQLITE_FULL`; undefined for other errors. */
export function sqliteCode(error: unknown): string | undefined {
  const code = (error as {code?: unknown} | undefined)?.code;
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined;
}

/** Whether another connection holds the file for now. */
export function isBusy(error: unknown): boolean {
  return sqliteCode(error)?.startsWith('SQLITE_BUSY') === true;
}

/** Whether the file is no database, or no sound one. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB');
}
