import {chmodSync, lstatSync, statfsSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {makeDirectory} from '../disk/directory.ts';
import type {KnownDate, NotedDate, SharedDate} from '../disk/shared-date.ts';
import {IN_LIST, listOf, type Query, Sqlite, type Statement} from '../disk/sqlite.ts';
import type {KeptAnswer} from '../ledger/entry.ts';
import {type Answer, hashKey} from '../ledger/lookup.ts';
import type {Operation} from '../operations/table.ts';

const VERSION = 2;
export const STORE_FILE = 'answers.db';

/** `after`: the answer was bought after this date, whatever the clock said then; 0 if unknown. */
const SCHEMA = `
  CREATE TABLE answer (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    scope TEXT NOT NULL,
    operation TEXT NOT NULL,
    bought_at INTEGER NOT NULL,
    after INTEGER NOT NULL DEFAULT 0,
    data TEXT NOT NULL,
    UNIQUE (key, scope)
  );
`;

/**
 * Writes an answer, unless the store has a newer one. `?8` is the latest time that is plausible by this run's
 * clock. `?7` is the date that several runs confirmed.
 *
 * A newer stored answer that is dated after `?8` shows that one of two clocks is wrong. If its date is at most
 * `?7`, this run's clock is behind. Then the stored answer stays, and its `after` becomes the new answer's date: so
 * later runs with this clock can use it. If its date exceeds `?7`, the new answer replaces it.
 */
const PUT = `INSERT INTO answer (key, scope, operation, bought_at, after, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
  ON CONFLICT (key, scope) DO UPDATE SET
    after = iif(bought_at > excluded.bought_at AND bought_at <= ?7, excluded.bought_at, excluded.after),
    data = iif(bought_at > excluded.bought_at AND bought_at <= ?7, data, excluded.data),
    bought_at = iif(bought_at > excluded.bought_at AND bought_at <= ?7, bought_at, excluded.bought_at)
  WHERE excluded.bought_at >= bought_at OR bought_at > ?8
`;

/** SQL condition for answers, as opposed to codes of rejections. */
export const IS_ANSWER = "data LIKE '{%'";

const FIND_AT_ONCE = 64;

/** Maximum difference between two clocks that count as correct, in milliseconds. */
export const CLOCK_SKEW_MS = 5 * 60_000;

/** An account at an endpoint. No other account or endpoint uses its answers or its credits. */
export interface Scope {
  readonly endpoint: string;
  readonly label: string;
}

/** The scope as it is stored: a hash, which does not reveal endpoint and account. */
export function scopeKey({endpoint, label}: Scope): string {
  return hashKey(`${endpoint}\0${label}`);
}

/** Suffix of a scope's key for rejections, so that one job's rejection never replaces an answer of another job. */
const OF_REJECTIONS = ' rejected';

/** @throws an error if the directory or the file can't be created, read or trusted. */
export function openStoreFile(directory: string, busyTimeoutMs: number): Sqlite {
  makeDirectory(directory);
  if (isNetworkFileSystem(directory))
    throw new Error('it is on a network file system, where its locks do not hold');
  const path = join(directory, STORE_FILE);
  refuseOthers(path);
  const db = new Sqlite(path, {synchronous: 'NORMAL', secureDelete: true, busyTimeoutMs, checkVersion});
  try {
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
    if (db.pragma('user_version') !== VERSION) prepareSchema(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Throws if another user owns the store, who could give it any answers. Root could read such a store, too. */
function refuseOthers(path: string): void {
  const user = process.geteuid?.();
  const found = lstatSync(path, {throwIfNoEntry: false});
  if (user !== undefined && found !== undefined && found.uid !== user)
    throw new Error(`it belongs to another user (uid ${found.uid})`);
}

function checkVersion(version: number): void {
  if (version !== 0 && version !== VERSION)
    throw new Error(`it has version ${version}; this program needs ${VERSION}`);
}

function prepareSchema(db: Sqlite): void {
  // Lets SQLite return freed pages to the file system in small steps. This comes before the tables, because
  // it has no effect on a file that already has tables.
  db.pragma('auto_vacuum = INCREMENTAL');
  db.transaction(() => {
    const version = db.pragma('user_version');
    if (version === VERSION) return;
    checkVersion(version);
    db.exec(`${SCHEMA} PRAGMA user_version = ${VERSION};`);
  });
}

/** Network file systems whose locks SQLite warns of: NFS, SMB and CIFS, by the kernel's magic numbers. */
const NETWORK_FILE_SYSTEMS = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42]);

function isNetworkFileSystem(directory: string): boolean {
  return NETWORK_FILE_SYSTEMS.has(Number(statfsSync(directory).type));
}

/**
 * The store's file, open for one endpoint and account.
 *
 * @throws SQLite's errors, in all methods.
 */
export class StoreFile {
  readonly #db: Sqlite;
  readonly #path: string;
  readonly #scope: string;
  readonly #inode: number;
  readonly #rows: Query;
  readonly #put: Statement;
  readonly #any: Query;
  readonly #date: SharedDate;
  readonly #openedAt: number;
  /** The date that runs share through this file; undefined before this run's first write. */
  #noted: NotedDate | undefined;

  constructor(directory: string, scope: string, date: SharedDate, busyTimeoutMs: number) {
    const db = openStoreFile(directory, busyTimeoutMs);
    this.#db = db;
    this.#date = date;
    this.#openedAt = date.now();
    this.#path = join(directory, STORE_FILE);
    this.#scope = scope;
    this.#inode = statSync(this.#path).ino;
    this.#rows = db.query(
      ['key', 'data', 'bought_at AS boughtAt', 'after'],
      // The `+` makes SQLite search the index by key only, not once for each scope: few keys have several scopes.
      `FROM answer WHERE +scope IN (?, ?) AND key ${IN_LIST}`,
    );
    this.#put = db.prepare(PUT);
    // Searches from the end: the latest answers are most likely of this scope.
    this.#any = db.query(
      ['id'],
      `FROM answer WHERE scope = ? AND operation = ? AND ${IS_ANSWER} ORDER BY id DESC LIMIT 1`,
    );
  }

  /** Outcomes by key, of any age: an answer, a rejection, or both. `now` is in milliseconds since the epoch. */
  find(keys: readonly string[], now: number): Map<string, Answer[]> {
    return this.#db.reading(() => this.#find(keys, now));
  }

  #find(keys: readonly string[], now: number): Map<string, Answer[]> {
    const found = new Map<string, Answer[]>();
    const scopes = [this.#scope, this.#scope + OF_REJECTIONS];
    let known: KnownDate | undefined;
    // Reads the date at most once: only an answer that is dated ahead of this clock needs it.
    const date = () => {
      known ??= this.#date.knownIn(this.#db);
      return known;
    };
    for (let from = 0; from < keys.length; from += FIND_AT_ONCE) {
      const some = listOf(keys.slice(from, from + FIND_AT_ONCE));
      for (const {key, data, boughtAt, after} of this.#rows.all(...scopes, some)) {
        const outcome = outcomeIn(data, countedFrom(Number(boughtAt), Number(after), now, date));
        if (outcome === undefined) continue;
        const others = found.get(String(key));
        if (others === undefined) found.set(String(key), [outcome]);
        else others.push(outcome);
      }
    }
    return found;
  }

  /** Writes answers; {@link PUT} decides which stored answers they replace. `owner`: the scope of the answers. */
  write(answers: readonly KeptAnswer[], owner = this.#scope): void {
    // SQLite would keep writing to a file that was removed: so the path must still lead to the opened file.
    if (statSync(this.#path, {throwIfNoEntry: false})?.ino !== this.#inode)
      throw new Error('it was removed while it was in use');
    const latest = this.#date.now() + CLOCK_SKEW_MS;
    this.#db.transaction(() => {
      this.#noted ??= this.#date.note(this.#db);
      const {earlier, agreed} = this.#noted;
      for (const {key, operation, outcome} of answers) {
        const {boughtAt} = outcome;
        const scope = outcome.status === 'ok' ? owner : owner + OF_REJECTIONS;
        // An answer is surely newer than `earlier` only if this session bought it. Such an answer is dated
        // between the opening of the file and now.
        const isOwn = boughtAt >= this.#openedAt && boughtAt <= latest;
        const after = isOwn ? earlier : 0;
        this.#put.run(key, scope, operation, boughtAt, after, textOf(outcome), agreed, latest);
      }
    });
  }

  /** True if the file has an answer of this operation for its scope, of any age. */
  knows(operation: Operation): boolean {
    return this.#db.reading(() => this.#any.get(this.#scope, operation)) !== undefined;
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
 * The time from which an answer's age counts. Mostly `boughtAt`, the time of the purchase. But if that time
 * is ahead of this run's clock (`now`), one of two clocks is wrong:
 *
 * - This run's clock, if runs agreed on a date ahead of it. Then the latest date of other runs (`said`)
 *   counts as today.
 * - Otherwise the clock at the purchase. Then the age counts from `after`, a date before the purchase. If
 *   `after` is ahead of this run's clock too, the age counts from the date that runs agreed on.
 */
function countedFrom(boughtAt: number, after: number, now: number, date: () => KnownDate): number {
  const latest = now + CLOCK_SKEW_MS;
  if (boughtAt <= latest) return boughtAt;
  const {agreed, said} = date();
  if (agreed > latest) return now - Math.max(0, said - boughtAt);
  return after <= latest ? after : agreed;
}

/** The text to store: an answer as its JSON object, a rejection as its code in a JSON string. */
function textOf(outcome: Answer): string {
  return outcome.status === 'ok' ? outcome.data : JSON.stringify(outcome.error);
}

/** The outcome in a stored text: an answer (JSON object) or a rejection (string); undefined if damaged. */
function outcomeIn(text: unknown, boughtAt: number): Answer | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'string') return {status: 'failed', error: value, rejected: true, boughtAt};
    return typeof value === 'object' && value !== null ? {status: 'ok', data: text, boughtAt} : undefined;
  } catch {
    return undefined;
  }
}
