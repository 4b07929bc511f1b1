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

/** A database in memory with its prepared statements: to open one and to make its tables takes half of a run's time. */
interface Memory {
  readonly real: RealDatabase;
  readonly statements: Map<string, RealStatement>;
  /** The tables that may exist, empty, from an earlier life. */
  readonly tables: Set<string>;
}

/** Databases that may be used again, by the name of their file. */
const pools = new Map<string, Memory[]>();

/** One file's contents, in SQLite's own memory; and which connection keeps others out of it. */
export class Contents {
  readonly #pool: Memory[];
  #memory: Memory | undefined;
  holder: object | undefined;
  commits = 0;

  constructor(name: string) {
    this.#pool = pools.get(name) ?? [];
    pools.set(name, this.#pool);
  }

  /** Undefined until it is used: a file that serves as a lock alone has none. */
  get memory(): Memory {
    this.#memory ??= this.#pool.pop() ?? {
      real: new RealDatabase(':memory:'),
      statements: new Map(),
      tables: new Set(),
    };
    return this.#memory;
  }

  get real(): RealDatabase {
    return this.memory.real;
  }

  /** Runs a schema. Tables of an earlier life are kept, empty, for those that make them again. */
  make(sql: string): void {
    const {real, tables} = this.memory;
    for (const [, name = ''] of sql.matchAll(/CREATE TABLE (?!IF NOT)(\w+)/g)) tables.add(name);
    real.exec(sql.replace(/CREATE (TABLE|(?:UNIQUE )?INDEX) (?!IF NOT)/g, 'CREATE $1 IF NOT EXISTS '));
  }

  /** Empties it for another file. */
  close(): void {
    if (this.#memory === undefined) return;
    const {real, tables} = this.#memory;
    const stays = (name: string) => tables.has(name) || name === 'sqlite_sequence';
    const empty = ({name}: Row) => `${stays(String(name)) ? 'DELETE FROM' : 'DROP TABLE'} ${name};`;
    const all = real.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all([]);
    real.exec(`${all.map(empty).join('')} PRAGMA user_version = 0`);
    this.#pool.push(this.#memory);
  }
}
