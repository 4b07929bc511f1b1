import type {Lookup} from './lookup.ts';
import {Sqlite, type Statement} from './sqlite.ts';

/** Tells new values from repeated ones, with memory that does not grow with their number. */
export class DistinctKeys {
  readonly #db: Sqlite;
  readonly #add: Statement;

  constructor(path: string) {
    this.#db = new Sqlite(path, {synchronous: 'NORMAL', exclusive: true, busyTimeoutMs: 0});
    this.#db.exec('CREATE TABLE seen (key TEXT PRIMARY KEY) WITHOUT ROWID');
    this.#add = this.#db.prepare('INSERT OR IGNORE INTO seen VALUES (?) RETURNING 1 AS added');
  }

  /** Those among these that were never given before. */
  fresh(lookups: readonly Lookup[]): Lookup[] {
    return this.#db.transaction(() => lookups.filter(lookup => this.#add.get(lookup.key) !== undefined));
  }

  close(): void {
    this.#db.close();
  }
}
