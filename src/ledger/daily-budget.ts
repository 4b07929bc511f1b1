import {join} from 'node:path';
import {makeDirectory} from '../disk/directory.ts';
import {OutputError, systemReason} from '../errors.ts';
import {thousandths} from '../job/money.ts';
import {utcDate} from '../job/paths.ts';
import {Sqlite, type Statement, sqliteCode} from './sqlite.ts';

/** Another run of the same job may be taking its block at this moment. */
const BUSY_TIMEOUT_MS = 5_000;
/** Credits are taken from the day in blocks of this share of its budget, at most so many: one durable write a block. */
const BLOCK_SHARE = 0.01;
const BLOCK_AT_MOST = thousandths(100);
/** Raised whenever the table changes its shape: a program that does not know it must not spend by it. */
const VERSION = 1;

export interface DailyBudgetOptions {
  /** In the user's state directory, so that it outlives the runs. */
  readonly directory: string;
  /** Whose budget it is: all runs of this job share it. */
  readonly job: string;
  /** In thousandths of a credit, as all money in here. */
  readonly maxCredits: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * What a job may spend in one day (UTC), over all its runs. Credits are taken in durable blocks before they are spent:
 * a crash loses the rest of its block for that day, and never passes the limit.
 *
 * @throws {OutputError} when its file can't be read or written: then nothing may be spent.
 */
export class DailyBudget {
  readonly #options: DailyBudgetOptions;
  readonly #path: string;
  readonly #db: Sqlite;
  readonly #sql: Record<'used' | 'add', Statement>;
  /** Taken from `#day`, and not spent yet. */
  #left = 0;
  /** The day that each call in flight was taken from. */
  readonly #inFlight = new Map<string, string>();
  #day: string;

  constructor(options: DailyBudgetOptions) {
    this.#options = options;
    this.#path = join(options.directory, 'daily-credits.db');
    this.#day = utcDate(options.now());
    const opened = this.#guarded(() => open(options.directory, this.#path));
    this.#db = opened.db;
    this.#sql = opened.sql;
  }

  get maxCredits(): number {
    return this.#options.maxCredits;
  }

  /** Takes the credits of a call from the day; false where it has not that many left. */
  take(key: string, cost: number): boolean {
    this.#turnDay();
    if (this.#left < cost && !this.#takeBlock(cost)) return false;
    this.#left -= cost;
    this.#inFlight.set(key, this.#day);
    return true;
  }

  /** Whether the day has this many credits left. */
  affords(cost: number): boolean {
    return cost <= this.maxCredits - this.used;
  }

  /** The call is over; where it was free, the day that it was taken from has its credits back, if that is today. */
  settle(key: string, cost: number, free: boolean): void {
    this.#turnDay();
    if (free && this.#inFlight.get(key) === this.#day) this.#left += cost;
    this.#inFlight.delete(key);
  }

  /** Credits used up in this day so far, by all runs of the job. */
  get used(): number {
    this.#turnDay();
    return this.#guarded(() => this.#db.reading(() => this.#used())) - this.#left;
  }

  /** When the next day begins, in milliseconds since the epoch. */
  get renewsAt(): number {
    return Date.parse(`${utcDate(this.#options.now())}T00:00:00Z`) + DAY_MS;
  }

  /** Returns what was not spent. */
  close(): void {
    this.#return();
    this.#db.close();
  }

  /** What is left of yesterday's block stays yesterday's. */
  #turnDay(): void {
    const today = utcDate(this.#options.now());
    if (today === this.#day) return;
    this.#return();
    this.#day = today;
  }

  #takeBlock(cost: number): boolean {
    const {maxCredits} = this.#options;
    const missing = cost - this.#left;
    const block = Math.max(missing, Math.min(BLOCK_AT_MOST, Math.ceil(maxCredits * BLOCK_SHARE)));
    return this.#guarded(() =>
      this.#db.transaction(() => {
        const free = maxCredits - this.#used();
        if (free < missing) return false;
        this.#add(Math.min(block, free));
        return true;
      }),
    );
  }

  #return(): void {
    if (this.#left > 0) this.#guarded(() => this.#db.transaction(() => this.#add(-this.#left)));
  }

  #used(): number {
    return Number(this.#sql.used.get(this.#options.job, this.#day)?.thousandths ?? 0);
  }

  #add(credits: number): void {
    this.#sql.add.run(this.#options.job, this.#day, credits);
    this.#left += credits;
  }

  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw new OutputError(
        'daily_budget',
        `The day's credits (max_credits_per_day) are counted in ${this.#path}, which can't be used (${sqliteCode(error) ?? systemReason(error)}). Nothing is sent without that count: fix or remove the file, or take the limit out of the job.`,
        {cause: error},
      );
    }
  }
}

const DAY_MS = 86_400_000;

function open(directory: string, path: string) {
  makeDirectory(directory);
  const db = new Sqlite(path, {synchronous: 'FULL', busyTimeoutMs: BUSY_TIMEOUT_MS});
  try {
    prepareTable(db);
    const sql = {
      used: db.prepare('SELECT thousandths FROM used WHERE job = ? AND day = ?'),
      add: db.prepare(
        'INSERT INTO used VALUES (?, ?, ?) ON CONFLICT (job, day) DO UPDATE SET thousandths = thousandths + excluded.thousandths',
      ),
    };
    return {db, sql};
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Version 0 counted in credits, with fractions. Its programs find no such column any more, and stop before they spend. */
function prepareTable(db: Sqlite): void {
  db.transaction(() => {
    const version = Number(db.pragma('user_version')?.user_version);
    if (version === VERSION) return;
    if (version > VERSION) throw new Error(`it is of version ${version}, this program's is ${VERSION}`);
    db.exec(`
      CREATE TABLE IF NOT EXISTS used (job TEXT, day TEXT, credits REAL NOT NULL, PRIMARY KEY (job, day)) WITHOUT ROWID;
      ALTER TABLE used RENAME TO used_0;
      CREATE TABLE used (job TEXT, day TEXT, thousandths INTEGER NOT NULL, PRIMARY KEY (job, day)) WITHOUT ROWID;
      INSERT INTO used SELECT job, day, CAST(round(credits * 1000) AS INTEGER) FROM used_0;
      DROP TABLE used_0;
      PRAGMA user_version = ${VERSION};
    `);
  });
}
