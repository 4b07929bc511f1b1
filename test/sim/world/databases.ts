import {resolve} from 'node:path';
import {Contents, type RealStatement, type Row} from './contents.ts';
import type {Disk, Inode} from './disk.ts';
import {shown} from './files.ts';
import {Killed, type Process} from './process.ts';
import type {World} from './world.ts';

/** Told of what processes do with databases. */
export interface Onlooker {
  opened(path: string, inode: Inode, process: Process): void;
  /** The values of a row that a statement wrote, once that is committed. */
  written(sql: string, values: readonly unknown[]): void;
}

function sqliteError(code: string): Error {
  return Object.assign(new Error(code), {code});
}

/** All databases of a simulation's disk. What was committed there lasts; SQLite's own durability is not simulated. */
export class Databases {
  readonly disk: Disk;
  readonly world: World;
  readonly onlooker: Onlooker;
  readonly #contents = new Map<Inode, Contents>();

  constructor(disk: Disk, world: World, onlooker: Onlooker) {
    this.disk = disk;
    this.world = world;
    this.onlooker = onlooker;
  }

  contents(inode: Inode): Contents {
    const contents = this.#contents.get(inode) ?? new Contents();
    this.#contents.set(inode, contents);
    return contents;
  }

  close(): void {
    for (const contents of this.#contents.values()) contents.close();
    this.#contents.clear();
  }
}

/** A connection to one of them, as `libsql` has it. */
export class Connection {
  readonly #databases: Databases;
  readonly #path: string;
  readonly #inode: Inode;
  readonly #contents: Contents;
  #busyTimeoutMs = 0;
  #isExclusive = false;
  #transaction: 'none' | 'reading' | 'writing' = 'none';
  /** Commits of its own, which it does not take for another's. */
  #ownCommits = 0;
  /** The statements of the current transaction, for the history of a failure. */
  #done: string[] = [];
  #isClosed = false;

  constructor(databases: Databases, given: string) {
    const path = resolve(given);
    const {disk, world} = databases;
    if (world.current?.alive === false) throw new Killed();
    this.#databases = databases;
    this.#path = path;
    this.#inode = disk.files.get(path) ?? disk.create(path, 0o600);
    this.#contents = databases.contents(this.#inode);
    world.current?.handles.add(this.#abandon);
    if (world.current !== undefined) databases.onlooker.opened(path, this.#inode, world.current);
  }

  exec(sql: string): void {
    this.#demandAlive();
    if (/\bBEGIN EXCLUSIVE$/.test(sql)) {
      this.#isExclusive = true;
      this.#access();
    } else if (sql === 'BEGIN IMMEDIATE') this.#begin('writing');
    else if (sql.startsWith('BEGIN; SELECT')) this.#begin('reading');
    else if (sql === 'COMMIT') this.#commit();
    else if (sql === 'ROLLBACK') this.#rollback();
    else if (this.#transaction === 'writing') this.#contents.real.exec(sql);
    else {
      this.#access();
      this.#demandRoom();
      this.#databases.world.step(`write schema of ${shown(this.#path)}`, () => this.#contents.real.exec(sql));
    }
  }

  pragma(text: string): Row[] {
    this.#demandAlive();
    const [name = '', value] = text.split(' = ');
    if (name === 'busy_timeout') this.#busyTimeoutMs = Number(value);
    else if (name === 'locking_mode') {
      this.#isExclusive = value === 'EXCLUSIVE';
      if (!this.#isExclusive) this.#release();
    } else if (name === 'journal_mode') this.#access();
    else if (value === undefined) {
      this.#access();
      return this.#contents.real.pragma(text);
    }
    return [];
  }

  prepare(sql: string): RealStatement {
    this.#demandAlive();
    if (sql === 'PRAGMA data_version') return this.#versionStatement();
    const {statements, real} = this.#contents;
    let statement = statements.get(sql);
    if (statement === undefined) {
      this.#access();
      statement = real.prepare(sql);
      statements.set(sql, statement);
    }
    return this.#guarded(sql, statement);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#databases.world.current?.handles.delete(this.#abandon);
    this.#abandon();
  }

  /** Uncommitted steps are lost, as at the end of a process. */
  readonly #abandon = (): void => {
    if (this.#transaction !== 'none') this.#rollback();
    this.#release();
    this.#isClosed = true;
  };

  #guarded(sql: string, real: RealStatement): RealStatement {
    const ready = (): RealStatement => {
      this.#demandAlive();
      if (this.#transaction === 'none') this.#access();
      return real;
    };
    return {
      run: values => {
        const write = () => ready().run(values);
        const result = this.#transaction === 'none' ? this.#alone(sql, write) : write();
        this.#done.push(sql);
        this.#databases.onlooker.written(sql, values);
        return result;
      },
      get: values => ready().get(values),
      all: values => ready().all(values),
    };
  }

  #versionStatement(): RealStatement {
    const get = () => ({data_version: 1 + this.#contents.commits - this.#ownCommits});
    return {run: () => ({lastInsertRowid: 0}), get, all: () => [get()]};
  }

  #begin(kind: 'reading' | 'writing'): void {
    this.#access();
    // No other process writes meanwhile: only one process's code is running.
    if (kind === 'writing') this.#contents.real.exec('BEGIN IMMEDIATE');
    this.#transaction = kind;
  }

  #commit(): void {
    if (this.#transaction === 'reading') {
      this.#rollback();
      return;
    }
    const {world} = this.#databases;
    this.#demandRoom();
    const done = this.#done;
    this.#done = [];
    world.step(`commit ${shown(this.#path)}: ${done.map(inShort).join(', ')}`, () => {
      this.#contents.real.exec('COMMIT');
      this.#transaction = 'none';
      this.#contents.commits += 1;
      this.#ownCommits += 1;
    });
  }

  /** A statement that is a transaction of its own. */
  #alone<T>(sql: string, work: () => T): T {
    this.#demandRoom();
    return this.#databases.world.step(`write ${shown(this.#path)}: ${inShort(sql)}`, work);
  }

  /** A disk that takes no writes has SQLite roll the transaction back. */
  #demandRoom(): void {
    const {disk, world} = this.#databases;
    const refusal = disk.refusal(world.current, world.nowMs);
    if (refusal === undefined) return;
    this.#rollback();
    throw sqliteError(refusal === 'EIO' ? 'SQLITE_IOERR_WRITE' : 'SQLITE_FULL');
  }

  #rollback(): void {
    this.#done = [];
    const wrote = this.#transaction === 'writing';
    this.#transaction = 'none';
    if (wrote) this.#contents.real.exec('ROLLBACK');
  }

  /** Takes what locks it needs; throws as SQLite does where it can't have them. */
  #access(): void {
    const {world} = this.#databases;
    const contents = this.#contents;
    if (contents.holder !== undefined && contents.holder !== this) {
      world.stall(this.#busyTimeoutMs);
      throw sqliteError('SQLITE_BUSY');
    }
    if (this.#isExclusive) contents.holder = this;
  }

  #release(): void {
    if (this.#contents.holder === this) this.#contents.holder = undefined;
  }

  #demandAlive(): void {
    if (this.#databases.world.current?.alive === false) throw new Killed();
    if (this.#isClosed) throw new TypeError('The database connection is not open');
  }
}

/** A statement's verb and table. */
function inShort(sql: string): string {
  const [verb = ''] = sql.split(' ');
  const [, table = ''] = /(?:INTO|UPDATE|FROM) (?:OR \w+ )?(\w+)/.exec(sql) ?? [];
  return `${verb.toLowerCase()} ${table}`.trim();
}
