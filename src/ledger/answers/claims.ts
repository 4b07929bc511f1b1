import {randomBytes} from 'node:crypto';
import {existsSync, readdirSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {crc32} from 'node:zlib';
import {type HeldFile, holdFile} from '../../disk/lock.ts';
import {IN_LIST_SQL, isBusyError, isDamageError, Sqlite, toListParameter} from '../../disk/sqlite.ts';
import {systemReason} from '../../errors.ts';
import type {Operation} from '../../operations/table.ts';
import type {StoredRow} from './store-file.ts';

export const CLAIMS_FILE = 'claims.db';

/**
 * `name`: endpoint, account and value, as a hash. `holder`: names the file `claims.db-of-HOLDER` that the claim's run has
 * locked. `at`: milliseconds since the epoch. `bought`: answers that wait to be written to the store, a text of
 * {@link textOf} for each claim. If their run is killed, the next one that finds them writes them.
 */
const SCHEMA = `
  CREATE TABLE claim (name TEXT PRIMARY KEY, holder TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE bought (holder TEXT NOT NULL, answers TEXT NOT NULL);
`;

/** Milliseconds to wait for another process that writes: longer than any of its statements takes. */
const BUSY_TIMEOUT_MS = 50;
const RETRY_EVERY_MS = 1_000;
/** No call takes longer, so older claims have ended, whatever their holder does. A wrong clock only ends claims early. */
const LONGEST_MS = 2 * 3_600_000;
const MOST_TRIES = 5;
/** Milliseconds for which a holder that lived counts as living. */
const TRUST_MS = 500;

export interface ClaimsOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Called once if values can't be claimed. */
  readonly onTrouble: (sentence: string) => void;
  /** Takes answers that a killed run had bought. Returns false if they can't be stored now. */
  readonly inherit: (answers: readonly StoredRow[]) => boolean;
}

/**
 * The values that runs are buying, in a file beside the answer store: a run that finds a value claimed waits for its answer
 * instead of paying again. A claim is advice: whatever fails, no call waits, and values count as free. A claim
 * ends with {@link release}, with {@link close}, or with its process, whose lock the system releases.
 *
 * A run first claims a value, then searches the store once more: an answer is stored before its claim is released.
 */
export class Claims {
  readonly #directory: string;
  readonly #options: ClaimsOptions;
  #file: OpenClaims | undefined;
  /** This run's name and lock; undefined until it claims a value. */
  #holding: {readonly holder: string; readonly lock: HeldFile} | undefined;
  /** Released values whose claims could not be deleted yet; true if all that was bought is stored. */
  #ended: string[] = [];
  #isStored = false;
  /** Times by `performance.now` until which other holders count as living. */
  readonly #living = new Map<string, number>();
  #retryAt = 0;
  #isLost = false;
  #isTold = false;

  constructor(directory: string, options: ClaimsOptions) {
    this.#directory = directory;
    this.#options = options;
  }

  /**
   * Claims values, in one statement. Returns those that no other run has claimed, in their order. `bought`: answers since
   * the last time, so that a kill before they are stored does not lose them for others.
   */
  claim(names: readonly string[], bought: readonly StoredRow[] = []): readonly string[] {
    if (names.length + bought.length === 0) return names;
    const claimed = this.#attempt(({sql}) => {
      const holder = this.#holding?.holder ?? '';
      const now = this.#options.now();
      const list = toListParameter(names);
      if (bought.length > 0) sql.keep.run(holder, textOf(bought));
      if (sql.claim.run(holder, now, list, now - LONGEST_MS, now) === names.length) return undefined;
      return new Set(sql.held.all(holder, list).map(({name}) => String(name)));
    });
    return claimed === undefined ? names : names.filter(name => claimed.has(name));
  }

  /** Ends claims of this run, in one statement: no answer came; or all that was bought is stored (`isStored`). */
  release(names: readonly string[], isStored = false): void {
    if (this.#holding === undefined) return;
    this.#ended.push(...names);
    this.#isStored ||= isStored;
    this.#attempt(() => {});
  }

  /** Returns those of the values that no living run has claimed any more. A caller asks again after a moment. */
  findFreed(names: readonly string[]): readonly string[] {
    if (names.length === 0) return names;
    const taken = this.#withFile(({sql}) => {
      const now = this.#options.now();
      const claims = sql.others.all(
        this.#holding?.holder ?? '',
        toListParameter(names),
        now - LONGEST_MS,
        now,
      );
      return new Set(claims.flatMap(({name, holder}) => (this.#lives(String(holder)) ? [String(name)] : [])));
    });
    return taken === undefined ? names : names.filter(name => !taken.has(name));
  }

  close(): void {
    const holding = this.#holding;
    if (holding !== undefined) {
      this.#attempt(({sql}) => sql.end.run(holding.holder));
      holding.lock.remove();
    }
    this.#holding = undefined;
    this.#isLost = true;
    this.#closeFile();
  }

  /** Locks a file of this run's own. Takes over what ended runs left, and removes their files. */
  #holdLock({sql}: OpenClaims): {readonly holder: string; readonly lock: HeldFile} {
    for (const {holder} of sql.holders.all()) this.#lives(String(holder));
    const prefix = this.#lockOf('');
    const left = readdirSync(this.#directory).map(name => join(this.#directory, name));
    for (const path of left.filter(name => name.startsWith(prefix) && !name.endsWith('-journal')))
      holdFile(path)?.remove();
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const holder = randomBytes(4).toString('hex');
      const lock = holdFile(this.#lockOf(holder));
      // Another run that begins may have taken it for one that was left, and removed it.
      if (lock !== undefined && existsSync(this.#lockOf(holder))) return {holder, lock};
      lock?.remove();
    }
    throw new Error('its lock was removed');
  }

  #lockOf(holder: string): string {
    return join(this.#directory, `${CLAIMS_FILE}-of-${holder}`);
  }

  /** True if the holder's process lives, or what a dead one bought can't be stored now. Deletes the claims of others. */
  #lives(holder: string): boolean {
    const time = performance.now();
    if ((this.#living.get(holder) ?? 0) > time) return true;
    const lock = holdFile(this.#lockOf(holder));
    if (lock === undefined) {
      this.#living.set(holder, time + TRUST_MS);
      return true;
    }
    lock.remove();
    const {db, sql} = this.#file as OpenClaims;
    const bought = sql.bought.all(holder).flatMap(({answers}) => rowsIn(String(answers)));
    if (bought.length > 0 && !this.#options.inherit(bought)) return true;
    db.transaction(() => {
      sql.end.run(holder);
      sql.stored.run(holder);
    });
    return false;
  }

  /** Deletes what has ended, and does `work`, in one transaction of this run's own; undefined if that is not possible now. */
  #attempt<T>(work: (file: OpenClaims) => T): T | undefined {
    return this.#withFile(file => {
      this.#holding ??= this.#holdLock(file);
      const {holder} = this.#holding;
      const result = file.db.transaction(() => {
        if (this.#ended.length > 0) file.sql.release.run(holder, toListParameter(this.#ended));
        if (this.#isStored) file.sql.stored.run(holder);
        return work(file);
      });
      this.#ended = [];
      this.#isStored = false;
      return result;
    });
  }

  #withFile<T>(work: (file: OpenClaims) => T): T | undefined {
    if (this.#isLost || performance.now() < this.#retryAt) return undefined;
    try {
      this.#file ??= openClaims(this.#directory);
      return work(this.#file);
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  #fail(error: unknown): void {
    this.#retryAt = performance.now() + RETRY_EVERY_MS;
    if (!isBusyError(error)) {
      this.#isLost = true;
      this.#closeFile();
      // It has nothing to lose: the next run begins a new one.
      if (isDamageError(error)) removeClaims(this.#directory);
    }
    if (!this.#isTold)
      this.#options.onTrouble(
        `Values that several runs look up at the same time may be paid for more than once: ${join(this.#directory, CLAIMS_FILE)} can't be used (${systemReason(error)}).`,
      );
    this.#isTold = true;
  }

  #closeFile(): void {
    try {
      this.#file?.db.close();
    } catch {
      // Ignored: the file is no longer used.
    }
    this.#file = undefined;
  }
}

type OpenClaims = ReturnType<typeof openClaims>;

function openClaims(directory: string, busyTimeoutMs = BUSY_TIMEOUT_MS) {
  const db = new Sqlite(join(directory, CLAIMS_FILE), {
    ...{format: {schema: SCHEMA, version: 1}, synchronous: 'OFF', isShared: true, isPruned: true},
    busyTimeoutMs,
  });
  try {
    return {db, sql: statements(db)};
  } catch (error) {
    db.close();
    throw error;
  }
}

function statements(db: Sqlite) {
  // `WHERE true` keeps SQLite from reading `ON CONFLICT` as a join's condition.
  const claim = `INSERT INTO claim SELECT value, ?1, ?2 FROM json_each(?3) WHERE true
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, at = excluded.at
    WHERE holder = excluded.holder OR at NOT BETWEEN ?4 AND ?5`;
  return {
    claim: db.prepare(claim),
    held: db.query(['name'], `FROM claim WHERE holder = ? AND name ${IN_LIST_SQL}`),
    others: db.query(
      ['name', 'holder'],
      `FROM claim WHERE holder <> ? AND name ${IN_LIST_SQL} AND at BETWEEN ? AND ?`,
    ),
    release: db.prepare(`DELETE FROM claim WHERE holder = ? AND name ${IN_LIST_SQL}`),
    end: db.prepare('DELETE FROM claim WHERE holder = ?'),
    holders: db.query(['holder'], 'FROM claim UNION SELECT holder FROM bought'),
    keep: db.prepare('INSERT INTO bought VALUES (?, ?)'),
    bought: db.query(['answers'], 'FROM bought WHERE holder = ?'),
    stored: db.prepare('DELETE FROM bought WHERE holder = ?'),
  };
}

/** Between rows of a text, and between their parts: no JSON has these characters, and JSON within JSON takes twice the time. */
const [ROWS, PARTS] = ['\u001e', '\u001f'];

function textOf(rows: readonly StoredRow[]): string {
  const text = rows.map(row => row.join(PARTS)).join(ROWS);
  return `${crc32(text)}${ROWS}${text}`;
}

/** The answers in a text of {@link textOf}; none if a power cut has damaged it. */
function rowsIn(found: string): readonly StoredRow[] {
  const [checksum, ...rows] = found.split(ROWS);
  if (checksum !== String(crc32(rows.join(ROWS)))) return [];
  return rows.map(row => {
    const [key = '', scope = '', operation, at, text = ''] = row.split(PARTS);
    return [key, scope, operation as Operation, Number(at), text];
  });
}

/**
 * Removes the answers that killed runs have left for the next one. What a run under way keeps for the case of its kill goes,
 * too. Nothing readable of them stays in the file.
 */
export function purgeLeftAnswers(directory: string, busyTimeoutMs: number): void {
  if (!existsSync(join(directory, CLAIMS_FILE))) return;
  try {
    const {db} = openClaims(directory, busyTimeoutMs);
    try {
      db.exec('DELETE FROM bought');
    } finally {
      db.close();
    }
  } catch (error) {
    if (!isDamageError(error)) throw error;
    removeClaims(directory);
  }
}

function removeClaims(directory: string): void {
  try {
    for (const suffix of ['', '-journal']) rmSync(join(directory, CLAIMS_FILE + suffix), {force: true});
  } catch {
    // Ignored, as for a directory in its place: values are not claimed.
  }
}
