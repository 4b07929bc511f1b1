import {createRequire} from 'node:module';

export type Row = Record<string, unknown>;

export interface RealStatement {
  run(values: readonly unknown[]): {lastInsertRowid: number | bigint};
  get(values: readonly unknown[]): Row | undefined;
  all(values: readonly unknown[]): Row[];
}

interface RealDatabase {
  exec(sql: string): void;
  prepare(sql: string): RealStatement;
  pragma(text: string): Row[];
  close(): void;
}

export const RealDatabase = createRequire(import.meta.url)('libsql') as new (path: string) => RealDatabase;

/** One file's contents, in SQLite's own memory; and which connection keeps others out of it. */
export class Contents {
  readonly statements = new Map<string, RealStatement>();
  holder: object | undefined;
  commits = 0;
  #real: RealDatabase | undefined;

  /** Opened when it is used: a file that serves as a lock alone has none. */
  get real(): RealDatabase {
    this.#real ??= new RealDatabase(':memory:');
    return this.#real;
  }

  close(): void {
    this.#real?.close();
  }
}
