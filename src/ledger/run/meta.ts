import type {Query, Sqlite, Statement} from '../../disk/sqlite.ts';
import {guarded} from './ledger-file.ts';
import {saved, toSaved} from './saved-value.ts';

/** The ledger's named values. */
export class Meta {
  readonly #get: Query;
  readonly #set: Statement;

  constructor(db: Sqlite) {
    this.#get = guarded(() => db.query(['value'], 'FROM meta WHERE name = ?'));
    this.#set = guarded(() =>
      db.prepare('INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value'),
    );
  }

  get<T>(name: string): T | undefined {
    const row = guarded(() => this.#get.get(name));
    return row && saved<T>(row.value);
  }

  set(name: string, value: unknown): void {
    this.#set.run(name, toSaved(value));
  }
}
