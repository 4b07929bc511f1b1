import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {isBusy, type Sqlite} from '../../disk/sqlite.ts';
import type {Operation} from '../../operations/table.ts';
import {IS_REJECTION, openStoreFile, STORE_FILE} from './store-file.ts';
import {removeAnswers, returnFreePages} from './upkeep.ts';

/** Maximum milliseconds to wait for a run, which locks the store only while it writes one group of answers. */
const BUSY_TIMEOUT_MS = 5_000;

/** Maintains the answer store: `store stats`, `prune` and `purge`. */
export class StoreAdmin {
  readonly #db: Sqlite;

  private constructor(db: Sqlite) {
    this.#db = db;
  }

  /** Undefined if the directory has no store. Throws if the store can't be opened. */
  static open(directory: string): StoreAdmin | undefined {
    return existsSync(join(directory, STORE_FILE))
      ? new StoreAdmin(openStoreFile(directory, BUSY_TIMEOUT_MS))
      : undefined;
  }

  /** `oldest`, `newest`: milliseconds since the epoch. */
  stats() {
    const columns = [
      'operation',
      'count(*) AS answers',
      'min(bought_at) AS oldest',
      'max(bought_at) AS newest',
    ];
    return this.#db
      .query(columns, 'FROM answer GROUP BY operation')
      .all()
      .map(({operation, answers, oldest, newest}) => ({
        operation: String(operation),
        answers: Number(answers),
        oldest: Number(oldest),
        newest: Number(newest),
      }));
  }

  /**
   * Removes an operation's answers and rejections that are older than these ages (milliseconds) on the date `today`
   * (milliseconds since the epoch). Returns their number. Works in short steps, so that runs can write in between.
   */
  async prune(
    operation: Operation,
    {answers, rejections}: {readonly answers: number; readonly rejections: number},
    today: number,
  ): Promise<number> {
    const [answered, rejected] = [answers, rejections].map(age => Math.max(0, Math.floor(today - age)));
    const past = `operation = '${operation}' AND bought_at < CASE WHEN ${IS_REJECTION} THEN ${rejected} ELSE ${answered} END`;
    return removeAnswers(this.#db, past);
  }

  /** Removes all answers under these keys, of any endpoint and account. Returns their number. */
  purge(keys: readonly string[]): number {
    const remove = this.#db.prepare('DELETE FROM answer WHERE key = ?');
    return keys.reduce((sum, key) => sum + remove.run(key), 0);
  }

  /**
   * Returns freed space to the file system. Stops early if a run locks the file. Then the file only stays
   * larger: removed answers are already overwritten.
   */
  async giveBack(): Promise<void> {
    try {
      await returnFreePages(this.#db);
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
  }

  close(): void {
    this.#db.close();
  }
}
