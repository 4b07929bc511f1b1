import {existsSync} from 'node:fs';
import {join} from 'node:path';
import type {Operation} from '../../operations/table.ts';
import type {NotBefore} from '../given-up.ts';
import {isBusy, type Sqlite} from '../sqlite.ts';
import {CLOCK_SKEW_MS, IS_ANSWER, openStoreFile, STORE_FILE} from './store-file.ts';

/** Runs hold the store for as long as they write one group of answers. */
const BUSY_TIMEOUT_MS = 5_000;

export interface StoreStats {
  readonly operation: string;
  readonly answers: number;
  /** Milliseconds since the epoch. */
  readonly oldest: number;
  readonly newest: number;
}

/** Looks after the answer store: `store stats`, `prune` and `purge`. */
export class StoreAdmin {
  readonly #db: Sqlite;

  private constructor(db: Sqlite) {
    this.#db = db;
  }

  /** Undefined where there is no store. Throws what the store or its directory have against being opened. */
  static open(directory: string): StoreAdmin | undefined {
    return existsSync(join(directory, STORE_FILE))
      ? new StoreAdmin(openStoreFile(directory, BUSY_TIMEOUT_MS))
      : undefined;
  }

  stats(): StoreStats[] {
    const rows = this.#db
      .prepare(
        'SELECT operation, count(*) AS answers, min(at) AS oldest, max(at) AS newest FROM answer GROUP BY operation',
      )
      .all();
    return rows.map(row => ({
      operation: String(row.operation),
      answers: Number(row.answers),
      oldest: Number(row.oldest),
      newest: Number(row.newest),
    }));
  }

  /** Removes what came before `notBefore`, and what came after `now`, which no run takes; returns how many. */
  prune(operation: Operation, notBefore: NotBefore, now: number): number {
    return this.#db
      .prepare(
        `DELETE FROM answer WHERE operation = ? AND (at < iif(${IS_ANSWER}, ?, ?) OR at > ?) RETURNING 1`,
      )
      .all(operation, notBefore.ok, notBefore.failed, now + CLOCK_SKEW_MS).length;
  }

  /** Removes all answers under these keys, whichever endpoint and account they came from; returns how many. */
  purge(keys: readonly string[]): number {
    return keys.reduce(
      (sum, key) => sum + this.#db.prepare('DELETE FROM answer WHERE key = ? RETURNING 1').all(key).length,
      0,
    );
  }

  /**
   * Rewrites the file, so that nothing removed stays readable.
   *
   * @throws when another program keeps it in use.
   */
  compact(): void {
    try {
      this.#db.exec('PRAGMA auto_vacuum = INCREMENTAL; VACUUM');
    } catch (error) {
      if (!isBusy(error)) throw error;
      throw new Error(
        'another program is using it, and what was removed may be readable: repeat this after it',
      );
    }
  }

  close(): void {
    this.#db.close();
  }
}
