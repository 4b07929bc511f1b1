import {createRequire} from 'node:module';

export type Row = Record<string, unknown>;

export interface RealStatement {
  run(values: readonly unknown[]): {lastInsertRowid: number | bigint};
  get(values: readonly unknown[]): Row | undefined;
  all(values: readonly unknown[]): Row[];
}

export interface RealDatabase {
  exec(sql: string): void;
  prepare(sql: string): RealStatement;
  pragma(text: string): Row[];
  close(): void;
}

export const RealDatabase = createRequire(import.meta.url)('libsql') as new (path: string) => RealDatabase;

/** One file's contents, in SQLite's own memory; and who keeps others out of it. */
export class Contents {
  #memory: Memory | undefined;
  readonly #pool: Memory[] | undefined;
  holder: object | undefined;
  /** Until when another program keeps it locked, by the steady clock. */
  lockedUntil = 0;
  commits = 0;

  constructor(pool: Memory[] | undefined) {
    this.#pool = pool;
  }

  /** A file that serves as a lock alone needs none. */
  get memory(): Memory {
    this.#memory ??= this.#pool?.pop() ?? {
      real: new RealDatabase(':memory:'),
      statements: new Map(),
      tables: new Set(),
    };
    return this.#memory;
  }

  get real(): RealDatabase {
    return this.memory.real;
  }

  /** The file has no user any more: its buffer serves another one. */
  close(): void {
    if (this.#memory === undefined) return;
    const {real, tables} = this.#memory;
    if (this.#pool === undefined) {
      real.close();
      return;
    }
    const stays = (name: string) => tables.has(name) || name === 'sqlite_sequence';
    const empty = ({name}: Row) => `${stays(String(name)) ? 'DELETE FROM' : 'DROP TABLE'} ${name};`;
    const all = real.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all([]);
    real.exec(`${all.map(empty).join('')} PRAGMA user_version = 0`);
    this.#pool.push(this.#memory);
  }
}

/** A database in memory, with its prepared statements; opening one, and its tables, would be half of a run's time. */
interface Memory {
  readonly real: RealDatabase;
  readonly statements: Map<string, RealStatement>;
  /** The tables that may be there, empty, from its life before. */
  readonly tables: Set<string>;
}

/** Databases that may be used again, by the name of their file. */
export const pools: Readonly<Record<string, Memory[]>> = {'ledger.db': [], 'answers.db': [], 'runs.db': []};

/** As new for who makes its tables, though they are there. */
export function asIfNew(sql: string, tables: Set<string>): string {
  for (const [, name = ''] of sql.matchAll(/CREATE TABLE (?!IF NOT)(\w+)/g)) tables.add(name);
  return sql.replace(/CREATE (TABLE|(?:UNIQUE )?INDEX) (?!IF NOT)/g, 'CREATE $1 IF NOT EXISTS ');
}
