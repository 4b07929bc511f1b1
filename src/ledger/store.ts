import {hash} from 'node:crypto';
import {chmodSync, statfsSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {systemReason} from '../job/errors.ts';
import type {Operation} from '../operations/table.ts';
import {makeDirectory} from './directory.ts';
import type {Answer} from './entry.ts';
import type {Lookup} from './lookup.ts';
import {Sqlite, type Statement, sqliteCode} from './sqlite.ts';
import {userDirectory} from './user-directory.ts';

const VERSION = 1;
export const STORE_FILE = 'answers.db';

const SCHEMA = `
  CREATE TABLE answer (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    scope TEXT NOT NULL,
    operation TEXT NOT NULL,
    at INTEGER NOT NULL,
    data TEXT NOT NULL,
    UNIQUE (key, scope)
  );
`;

const FIND_AT_ONCE = 64;
const WRITE_AT_ONCE = 500;
/** Answers wait no longer than this until other runs can have them too. */
const WRITE_EVERY_MS = 100;
/** Another run may hold the store for as long as it writes one group of answers. */
const BUSY_TIMEOUT_MS = 5_000;

/** Whose answers these are: never taken for another endpoint's or account's. */
export interface StoreScope {
  readonly endpoint: string;
  readonly account: string;
}

export interface StoreOptions {
  readonly scope: StoreScope;
  /** Answers older than this, in milliseconds since the epoch, are not taken; by operation. */
  readonly notBefore: Readonly<Record<Operation, number>>;
  readonly now: () => number;
  /** Told once, when the store can't be used: the run goes on without it. */
  readonly onTrouble: (sentence: string) => void;
}

/** Answers kept across runs. Its trouble is never the run's: without it, lookups cost. */
export interface AnswerStore {
  /** Fresh answers among these keys, as JSON texts. */
  find(keys: readonly string[], operation: Operation): Map<string, string>;
  /** Keeps an answer; `at` is when it came, in milliseconds since the epoch, where that is not now. */
  put(lookup: Pick<Lookup, 'operation' | 'key'>, data: string, at?: number): void;
  /** Writes out what is waiting; whether all that was ever put is in the file now. */
  flush(): boolean;
  /** A number that is another one once another run has written to the store. */
  version(): number;
  close(): void;
}

/** The store that `--no-cache` asks for. */
export const noStore: AnswerStore = {
  find: () => new Map(),
  put() {},
  flush: () => false,
  version: () => 0,
  close() {},
};

/** Where the store is unless it is named. Throws where the home directory is needed and does not exist. */
export function defaultStoreDirectory(env: Readonly<Record<string, string | undefined>>): string {
  return userDirectory('cache', env);
}

/** Opens the store in the directory that `locate` finds, or tells why it can't be used and goes on without. */
export function openStore(locate: () => string, options: StoreOptions): AnswerStore {
  let directory: string | undefined;
  try {
    directory = locate();
    return new SqliteStore(openStoreFile(directory), directory, options);
  } catch (error) {
    options.onTrouble(trouble(directory, error));
    return noStore;
  }
}

/** @throws when the directory or the file can't be made, read or trusted. */
export function openStoreFile(directory: string): Sqlite {
  makeDirectory(directory);
  if (isNetworkFileSystem(directory))
    throw new Error('it is on a network file system, where its locks do not hold');
  const path = join(directory, STORE_FILE);
  const db = new Sqlite(path, {synchronous: 'NORMAL', secureDelete: true, busyTimeoutMs: BUSY_TIMEOUT_MS});
  try {
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
    prepareSchema(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function prepareSchema(db: Sqlite): void {
  db.transaction(() => {
    const version = Number(db.pragma('user_version')?.user_version);
    if (version === VERSION) return;
    if (version !== 0) throw new Error(`it is of version ${version}, this program's is ${VERSION}`);
    db.exec(`${SCHEMA} PRAGMA user_version = ${VERSION};`);
  });
}

/** File systems whose locks SQLite's documentation warns of: NFS, SMB and CIFS, by the kernel's magic numbers. */
const NETWORK_FILE_SYSTEMS = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42]);

function isNetworkFileSystem(directory: string): boolean {
  return NETWORK_FILE_SYSTEMS.has(Number(statfsSync(directory).type));
}

function trouble(directory: string | undefined, error: unknown): string {
  const cause = sqliteCode(error) ?? systemReason(error);
  const hint = isDamage(cause) ? ' It is damaged: remove the file, and the next run begins a new one.' : '';
  return `The answer store${directory === undefined ? '' : ` in ${directory}`} can't be used (${cause}); lookups that it could have saved will cost.${hint}`;
}

function isDamage(code: string): boolean {
  return code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB';
}

class SqliteStore implements AnswerStore {
  readonly #db: Sqlite;
  readonly #directory: string;
  readonly #options: StoreOptions;
  readonly #scope: string;
  readonly #find: Statement;
  readonly #put: Statement;
  readonly #version: Statement;
  #waiting: Answer[] = [];
  #timer: NodeJS.Timeout | undefined;
  #seen = 0;
  readonly #inode: number;
  #broken = false;

  constructor(db: Sqlite, directory: string, options: StoreOptions) {
    this.#db = db;
    this.#directory = directory;
    this.#options = options;
    this.#scope = scopeKey(options.scope);
    const many = Array(FIND_AT_ONCE).fill('?').join(',');
    this.#find = db.prepare(`SELECT key, data FROM answer WHERE scope = ? AND at >= ? AND key IN (${many})`);
    this.#put = db.prepare(
      'INSERT INTO answer (key, scope, operation, at, data) VALUES (?, ?, ?, ?, ?) ON CONFLICT (key, scope) DO UPDATE SET at = excluded.at, data = excluded.data WHERE excluded.at >= at',
    );
    this.#version = db.prepare('PRAGMA data_version');
    this.#inode = statSync(join(directory, STORE_FILE)).ino;
  }

  find(keys: readonly string[], operation: Operation): Map<string, string> {
    const found = new Map<string, string>();
    this.#attempt(() => {
      for (let from = 0; from < keys.length; from += FIND_AT_ONCE) {
        const some: (string | null)[] = keys.slice(from, from + FIND_AT_ONCE);
        while (some.length < FIND_AT_ONCE) some.push(null);
        const rows = this.#find.all(this.#scope, this.#options.notBefore[operation], ...some);
        for (const row of rows) if (isObjectText(row.data)) found.set(String(row.key), row.data);
      }
    });
    return found;
  }

  put({operation, key}: Pick<Lookup, 'operation' | 'key'>, data: string, at = this.#options.now()): void {
    if (this.#broken) return;
    this.#waiting.push({operation, key, data, at});
    if (this.#waiting.length >= WRITE_AT_ONCE) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), WRITE_EVERY_MS).unref();
  }

  flush(): boolean {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length > 0) {
      this.#attempt(() => this.#write(waiting));
    }
    return !this.#broken;
  }

  #write(answers: readonly Answer[]): void {
    // SQLite would go on writing to a file that nobody can open any more.
    if (statSync(join(this.#directory, STORE_FILE), {throwIfNoEntry: false})?.ino !== this.#inode)
      throw new Error('it was removed while it was in use');
    this.#db.transaction(() => {
      for (const {key, operation, data, at} of answers) this.#put.run(key, this.#scope, operation, at, data);
    });
  }

  version(): number {
    this.#attempt(() => {
      this.#seen = Number(this.#version.get()?.data_version);
    });
    return this.#seen;
  }

  close(): void {
    this.flush();
    this.#broken = true;
    try {
      this.#db.close();
    } catch {
      // Nothing more is asked of it.
    }
  }

  #attempt(work: () => void): void {
    if (this.#broken) return;
    try {
      work();
    } catch (error) {
      this.#broken = true;
      this.#waiting = [];
      this.#options.onTrouble(trouble(this.#directory, error));
    }
  }
}

/** A damaged page can hand out anything; an answer is an object. */
function isObjectText(data: unknown): data is string {
  if (typeof data !== 'string') return false;
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}

function scopeKey({endpoint, account}: StoreScope): string {
  return hash('sha256', `${endpoint}\0${account}`, 'base64url').slice(0, 22);
}
