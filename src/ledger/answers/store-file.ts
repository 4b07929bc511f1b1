import {createHmac, randomBytes} from 'node:crypto';
import {statfsSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {makeDirectory} from '../../disk/directory.ts';
import {
  IN_LIST_SQL,
  type PreparedQuery,
  Sqlite,
  toListParameter,
  toListParameters,
  type WriteStatement,
} from '../../disk/sqlite.ts';
import {type Operation, operationNames} from '../../operations/table.ts';
import {type Answer, hashKey} from '../lookup-outcome.ts';
import type {KeyedAnswer} from '../run/ledger-entry.ts';
import {CLOCK_SKEW_MS} from './validity.ts';

export const STORE_FILE = 'answers.db';

/** `key_mark`: see {@link StoreFile.marksOther}. `age_in_use`: see `upkeep.ts`. */
const SCHEMA = `
  CREATE TABLE answer (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    scope TEXT NOT NULL,
    operation TEXT NOT NULL,
    bought_at INTEGER NOT NULL,
    data TEXT NOT NULL,
    UNIQUE (key, scope)
  );
  CREATE INDEX by_age ON answer (operation, bought_at, scope);
  CREATE TABLE key_mark (scope TEXT PRIMARY KEY, salt TEXT NOT NULL, mark TEXT NOT NULL);
  CREATE TABLE age_in_use (
    operation TEXT, age INTEGER, seen INTEGER NOT NULL, PRIMARY KEY (operation, age)) WITHOUT ROWID;
`;

/** Writes an answer, unless the store has a newer one. One that is dated after `?6`, by a wrong clock, is not newer. */
const PUT = `INSERT INTO answer (key, scope, operation, bought_at, data) VALUES (?1, ?2, ?3, ?4, ?5)
  ON CONFLICT (key, scope) DO UPDATE SET bought_at = excluded.bought_at, data = excluded.data
  WHERE excluded.bought_at >= bought_at OR bought_at > ?6
`;

/** A row of the store: key, scope, operation, time (ms since the epoch), and text of {@link textOf}. */
export type StoredRow = readonly [
  key: string,
  scope: string,
  operation: Operation | typeof ASKED,
  at: number,
  text: string,
];

const MARK_DIGITS = 2;

/** An account at an endpoint. No other account or endpoint uses its answers or its credits. */
export interface AccountScope {
  readonly endpoint: string;
  readonly label: string;
}

/** The scope as it is stored: a hash, which does not reveal endpoint and account. */
export function scopeKey({endpoint, label}: AccountScope): string {
  return hashKey(`${endpoint}\0${label}`);
}

/**
 * Operation, and suffix of a scope's key, of rows without an answer: the time of the run that last asked for a value. Kept
 * by jobs that take several nights for a list, for so many milliseconds.
 */
export const ASKED = 'asked';
export const ASKED_KEPT_MS = 90 * 86_400_000;

/** Suffix of a scope's key for rejections, so that one job's rejection never replaces an answer of another job. */
const OF_REJECTIONS = ' rejected';
export const REJECTION_SQL = `scope LIKE '%${OF_REJECTIONS}'`;

/** @throws an error if the directory or the file can't be created, read or trusted. */
export function openStoreFile(directory: string, busyTimeoutMs: number): Sqlite {
  makeDirectory(directory);
  if (isNetworkFileSystem(directory))
    throw new Error('it is on a network file system, where its locks do not hold');
  const format = {schema: SCHEMA, version: 1};
  const options = {format, synchronous: 'NORMAL', isPruned: true, busyTimeoutMs} as const;
  return new Sqlite(join(directory, STORE_FILE), options);
}

/** Network file systems whose locks SQLite warns of: NFS, SMB and CIFS, by the kernel's magic numbers. */
const NETWORK_FILE_SYSTEMS = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42]);

function isNetworkFileSystem(directory: string): boolean {
  return NETWORK_FILE_SYSTEMS.has(Number(statfsSync(directory).type));
}

/** The store's file, open for one endpoint and account. @throws SQLite's errors, in all methods. */
export class StoreFile {
  readonly #db: Sqlite;
  readonly #path: string;
  readonly #scope: string;
  readonly #inode: number;
  readonly #rows: PreparedQuery;
  readonly #asked: PreparedQuery;
  readonly #put: WriteStatement;
  readonly #now: () => number;

  constructor(directory: string, scope: string, now: () => number, busyTimeoutMs: number) {
    const db = openStoreFile(directory, busyTimeoutMs);
    this.#db = db;
    this.#now = now;
    this.#path = join(directory, STORE_FILE);
    this.#scope = scope;
    this.#inode = statSync(this.#path).ino;
    this.#rows = db.query(
      ['key', 'data', 'bought_at AS boughtAt'],
      // The `+` makes SQLite search the index by key only, not once for each scope: few keys have several scopes.
      `FROM answer WHERE +scope IN (?, ?) AND key ${IN_LIST_SQL}`,
    );
    this.#asked = db.query(['key', 'bought_at AS at'], `FROM answer WHERE +scope = ? AND key ${IN_LIST_SQL}`);
    this.#put = db.prepare(PUT);
  }

  /** Outcomes by key, of any age: an answer, a rejection, or both. */
  find(keys: readonly string[]): Map<string, Answer[]> {
    const scopes = [this.#scope, this.#scope + OF_REJECTIONS];
    const rows = this.#db.reading(() =>
      toListParameters(keys).flatMap(list => this.#rows.all(...scopes, list)),
    );
    const found = new Map<string, Answer[]>();
    for (const {key, data, boughtAt} of rows) {
      const outcome = outcomeIn(data, Number(boughtAt));
      if (outcome !== undefined && !found.get(String(key))?.push(outcome)) found.set(String(key), [outcome]);
    }
    return found;
  }

  rowOf({key, operation, outcome}: KeyedAnswer): StoredRow {
    const scope = outcome.status === 'failed' ? this.#scope + OF_REJECTIONS : this.#scope;
    return [key, scope, operation, outcome.boughtAt, textOf(outcome)];
  }

  askedRow(key: string, at: number): StoredRow {
    return [key, `${this.#scope} ${ASKED}`, ASKED, at, ''];
  }

  /** By key: the time of the run that last asked for it, in milliseconds since the epoch. */
  askedAt(keys: readonly string[]): ReadonlyMap<string, number> {
    const rows = this.#db.reading(() => this.#asked.all(`${this.#scope} ${ASKED}`, toListParameter(keys)));
    return new Map(rows.map(({key, at}) => [String(key), Number(at)]));
  }

  hasAskedTimes(): boolean {
    const any = `FROM answer WHERE operation = '${ASKED}' AND scope = ? LIMIT 1`;
    return (
      this.#db.reading(() => this.#db.query(['1 AS found'], any).get(`${this.#scope} ${ASKED}`)) !== undefined
    );
  }

  /** Writes rows of any scope; {@link PUT} decides which stored ones they replace. */
  write(rows: readonly StoredRow[]): void {
    // SQLite would keep writing to a file that was removed: so the path must still lead to the opened file.
    if (statSync(this.#path, {throwIfNoEntry: false})?.ino !== this.#inode)
      throw new Error('it was removed while it was in use');
    const latest = this.#now() + CLOCK_SKEW_MS;
    this.#db.transaction(() => {
      for (const row of rows) this.#put.run(...row, latest);
    });
  }

  /**
   * Notes a mark of the account's key. Returns true if the last one was of another key. A mark is {@link MARK_DIGITS} of
   * a digest with a salt of its own: it can't show which key it is of, and one of 256 other keys has the same.
   */
  marksOther(key: string): boolean {
    return this.#db.transaction(() => {
      const known = this.#db.query(['salt', 'mark'], 'FROM key_mark WHERE scope = ?').get(this.#scope);
      const salt = String(known?.salt ?? randomBytes(16).toString('hex'));
      const mark = createHmac('sha256', salt).update(key).digest('hex').slice(0, MARK_DIGITS);
      if (known?.mark !== mark)
        this.#db
          .prepare('INSERT OR REPLACE INTO key_mark (scope, salt, mark) VALUES (?, ?, ?)')
          .run(this.#scope, salt, mark);
      return known !== undefined && known.mark !== mark;
    });
  }

  latest(operation: Operation, most: number, beforeMs: number): unknown[] {
    const from = `FROM answer WHERE operation = ? AND scope = ? AND bought_at < ? ORDER BY bought_at DESC LIMIT ${most}`;
    const rows = this.#db.reading(() => this.#db.query(['data'], from).all(operation, this.#scope, beforeMs));
    return rows.flatMap(({data}) => {
      const answer = outcomeIn(data, 0);
      return answer?.status === 'ok' ? [JSON.parse(answer.data)] : [];
    });
  }

  boughtWithin(fromMs: number, toMs: number): (readonly [Operation, number])[] {
    const from = 'FROM answer WHERE operation = ? AND bought_at >= ? AND bought_at < ? AND scope = ?';
    const count = this.#db.query(['count(*) AS bought'], from);
    return this.#db.reading(() =>
      operationNames.map(name => [name, Number(count.get(name, fromMs, toMs, this.#scope)?.bought)] as const),
    );
  }

  version(): number {
    return this.#db.reading(() => this.#db.dataVersion());
  }

  close(): void {
    try {
      this.#db.close();
    } catch {
      // Ignored: the store is no longer used.
    }
  }
}

/**
 * The text to store: an answer as its JSON object, a believed rejection as a JSON string, one that came once as a list of
 * its code, an uncertain verdict as a list of two.
 */
function textOf(outcome: Answer): string {
  if (outcome.status === 'ok') return outcome.data;
  if (outcome.status === 'unknown') return JSON.stringify([outcome.error, outcome.data]);
  return JSON.stringify(outcome.rejected === 'once' ? [outcome.error] : outcome.error);
}

/** The outcome in a stored text of {@link textOf}; undefined if damaged. */
function outcomeIn(text: unknown, boughtAt: number): Answer | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'string') return {status: 'failed', error: value, rejected: 'twice', boughtAt};
    if (Array.isArray(value)) {
      const [error, data] = value.map(String);
      if (!error) return undefined;
      return data
        ? {status: 'unknown', error, data, boughtAt}
        : {status: 'failed', error, rejected: 'once', boughtAt};
    }
    return typeof value === 'object' && value !== null ? {status: 'ok', data: text, boughtAt} : undefined;
  } catch {
    return undefined;
  }
}
