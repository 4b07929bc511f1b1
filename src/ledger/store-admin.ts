import {existsSync} from 'node:fs';
import {join} from 'node:path';
import type {Operation} from '../operations/table.ts';
import type {Sqlite} from './sqlite.ts';
import {openStoreFile, STORE_FILE} from './store.ts';

export interface StoreStats {
  readonly operation: string;
  readonly answers: number;
  /** Milliseconds since the epoch. */
  readonly oldest: number;
  readonly newest: number;
}

/** Looks after the answer store: `cache stats`, `prune` and `purge`. */
export class StoreAdmin {
  readonly #db: Sqlite;

  private constructor(db: Sqlite) {
    this.#db = db;
  }

  /** Undefined where there is no store. Throws what the store or its directory have against being opened. */
  static open(directory: string): StoreAdmin | undefined {
    return existsSync(join(directory, STORE_FILE)) ? new StoreAdmin(openStoreFile(directory)) : undefined;
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

  /** Removes answers from before `notAfter`; returns how many. */
  prune(operation: Operation, notAfter: number): number {
    return this.#db
      .prepare('DELETE FROM answer WHERE operation = ? AND at < ? RETURNING 1')
      .all(operation, notAfter).length;
  }

  /** Removes all answers under these keys, whichever endpoint and account they came from; returns how many. */
  purge(keys: readonly string[]): number {
    return keys.reduce(
      (sum, key) => sum + this.#db.prepare('DELETE FROM answer WHERE key = ? RETURNING 1').all(key).length,
      0,
    );
  }

  /**
   * Rewrites the file and empties its log, so that nothing removed stays readable.
   *
   * @throws when another run keeps the log in use: then it still holds what was removed.
   */
  compact(): void {
    this.#db.exec('VACUUM');
    if (Number(this.#db.pragma('wal_checkpoint(TRUNCATE)')?.busy) !== 0)
      throw new Error(
        'another run is using it, and what was removed is still readable: repeat this after it',
      );
  }

  close(): void {
    this.#db.close();
  }
}
