import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {makeDirectory} from '../../disk/directory.ts';
import {adviseRepair, Sqlite} from '../../disk/sqlite.ts';
import {OutputError, systemReason} from '../../errors.ts';
import {utcDate} from '../../job/paths.ts';
import {toCredits, toThousandths} from '../../job/settings/cost.ts';

/** Maximum milliseconds to wait for the file, while another run takes its block of credits. */
const BUSY_TIMEOUT_MS = 5_000;
/** A run takes credits in blocks of this share of the budget, so that not each call needs a durable write. */
const BLOCK_SHARE = 0.01;
const BLOCK_AT_MOST = toThousandths(100);

const FILE = 'daily-credits.db';

/**
 * `used`: thousandths of a credit taken from a period, including blocks that are not spent yet. `taken`: thousandths
 * that a session took, until the session closes. A killed session leaves its rows.
 */
const SCHEMA = `
  CREATE TABLE used (owner TEXT, period TEXT, thousandths INTEGER NOT NULL, PRIMARY KEY (owner, period)) WITHOUT ROWID;
  CREATE TABLE taken (holder TEXT, owner TEXT, period TEXT, thousandths INTEGER NOT NULL, PRIMARY KEY (holder, owner, period)) WITHOUT ROWID;
`;

/** A day or a month in UTC. */
export type Period = 'day' | 'month';

/** The file with all budgets, and the clock by which their days and months begin. */
interface BudgetFile {
  /** The user's state directory, so that the file outlives the runs. */
  readonly directory: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface PeriodBudgetOptions extends BudgetFile {
  /** The account that the budget belongs to: all its runs share it. */
  readonly owner: string;
  /** Session that takes credits in blocks: see {@link refundUnspentCredits}. Undefined outside of runs. */
  readonly holder?: string | undefined;
  readonly period: Period;
  /** The setting with the limit, for messages: `max_credits_per_day in …/production.yaml`. */
  readonly limit: string;
  /** In thousandths of a credit, like all money in this file. */
  readonly maxCredits: number;
  /** Calls `warn` once a period, when this share (0 to 1) of the budget is used up. */
  readonly warnAt?: {readonly share: number; readonly warn: (sentence: string) => void} | undefined;
}

/**
 * Credits that all runs of an account may spend in one day or month. A session takes credits in durable blocks
 * before it spends them, so even after a kill the limit is not exceeded. The run's next session then gives
 * back the unspent part of these blocks.
 *
 * @throws {OutputError} when its file can't be read or written: then nothing may be spent.
 */
export class PeriodBudget {
  readonly holder: string | undefined;
  readonly period: Period;
  readonly limit: string;
  readonly maxCredits: number;
  readonly #options: PeriodBudgetOptions;
  readonly #db: Sqlite;
  readonly #sql: ReturnType<typeof open>['sql'];
  /** Thousandths of a credit that this session took from the period `#current`, and did not spend yet. */
  #left = 0;
  /** {@link used} as it was last read. */
  #lastUsed = 0;
  #isClosed = false;
  #current: string;
  #warned = false;
  /** Thousandths of a credit that the count lacked: see {@link raiseTo}. */
  lacked = 0;

  constructor(options: PeriodBudgetOptions) {
    this.#options = options;
    this.holder = options.holder;
    this.period = options.period;
    this.limit = options.limit;
    this.maxCredits = options.maxCredits;
    this.#current = this.#period();
    const {db, sql} = this.#guarded(() => open(options));
    this.#db = db;
    this.#sql = sql;
    this.#warnWhenNear();
  }

  /** Names the account and the period of the credits that are taken now. */
  get name(): string {
    this.#turn();
    return `${this.#options.owner} ${this.#current}`;
  }

  /** Takes the credits of a call from the period. Returns false if too few are left. */
  take(cost: number): boolean {
    this.#turn();
    if (this.#left < cost && !this.#takeBlock(cost)) return false;
    this.#left -= cost;
    return true;
  }

  /** Credits that all runs of the owner together may still take from the period. */
  left(): number {
    this.#turn();
    return this.maxCredits + this.#left - this.#guarded(() => this.#db.reading(() => this.#used()));
  }

  /**
   * Returns the credits of a free call to the period with this {@link name}. If the file can't be written, those of a
   * period that has ended count as used.
   */
  refund(name: string, cost: number): void {
    const {owner} = this.#options;
    const period = name.slice(owner.length + 1);
    if (name === this.name) this.#left += cost;
    else if (period.length === this.#current.length) {
      try {
        this.#db.transaction(() => this.#add(period, -cost));
      } catch {
        // Ignored.
      }
    }
  }

  /**
   * Credits that all runs of the owner spent from the period. Other sessions hold some unspent: of a month, those beyond
   * what the session took from its days, since it takes the credits of each call from both.
   */
  get used(): number {
    if (this.#isClosed) return this.#lastUsed;
    this.#turn();
    const {owner, holder = ''} = this.#options;
    this.#lastUsed = this.#guarded(() =>
      this.#db.reading(() => {
        const {unspent} = this.#sql.heldByOthers.get(owner, this.#current, holder) ?? {};
        return this.#used() - this.#left - Number(unspent);
      }),
    );
    return this.#lastUsed;
  }

  /** When the period began, in milliseconds since the epoch. */
  get begunAt(): number {
    return Date.parse(this.#period());
  }

  /** When the next period begins, in milliseconds since the epoch. */
  get renewsAt(): number {
    const now = new Date(this.#options.now());
    const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
    return this.period === 'month' ? Date.UTC(year, month + 1) : Date.UTC(year, month, now.getUTCDate() + 1);
  }

  /** Raises the count to credits that certainly were taken: its file may be lost, or older than they are. */
  raiseTo(known: number): void {
    this.#turn();
    this.lacked = this.#guarded(() =>
      this.#db.transaction(() => {
        const missing = Math.max(0, known - this.#used());
        if (missing > 0) this.#sql.add.run(this.#options.owner, this.#current, missing);
        return missing;
      }),
    );
  }

  /** Gives unspent credits back to the period. If the write fails, the next session of the run gives them back. */
  close(): void {
    if (this.#isClosed) return;
    const {holder, owner} = this.#options;
    try {
      this.#lastUsed = this.used;
      if (this.#left > 0) this.#change(() => -this.#left);
      if (holder !== undefined) this.#guarded(() => this.#sql.letGo.run(holder, owner, this.#current.length));
    } finally {
      this.#isClosed = true;
      this.#db.close();
    }
  }

  /** Turns to a new period if one has begun. Unspent credits go back to the period that they were taken from. */
  #turn(): void {
    const current = this.#period();
    if (current === this.#current) return;
    if (this.#left > 0) this.#change(() => -this.#left);
    this.#current = current;
    this.#warned = false;
  }

  #period(): string {
    return keyOf(this.period, this.#options.now());
  }

  #takeBlock(cost: number): boolean {
    const {maxCredits, holder} = this.#options;
    const missing = cost - this.#left;
    const most = holder === undefined ? 0 : Math.min(BLOCK_AT_MOST, Math.ceil(maxCredits * BLOCK_SHARE));
    const taken = this.#change(() => {
      const free = maxCredits - this.#used();
      return free < missing ? 0 : Math.min(Math.max(missing, most), free);
    });
    this.#warnWhenNear();
    return taken > 0;
  }

  #warnWhenNear(): void {
    const {warnAt, maxCredits, limit, period} = this.#options;
    if (warnAt === undefined || this.#warned) return;
    const {used} = this;
    if (used < warnAt.share * maxCredits) return;
    this.#warned = true;
    warnAt.warn(
      `${toCredits(used)} of the ${period}'s ${toCredits(maxCredits)} credits (${limit}) are used by all runs together.`,
    );
  }

  #used(): number {
    return Number(this.#sql.used.get(this.#options.owner, this.#current)?.thousandths ?? 0);
  }

  /** Takes the credits that `work` returns; a negative number gives back. Changes `#left` after the write. */
  #change(work: () => number): number {
    const credits = this.#guarded(() =>
      this.#db.transaction(() => {
        const taken = work();
        if (taken !== 0) this.#add(this.#current, taken);
        return taken;
      }),
    );
    this.#left += credits;
    return credits;
  }

  #add(period: string, credits: number): void {
    const {owner, holder} = this.#options;
    this.#sql.add.run(owner, period, credits);
    if (holder !== undefined) this.#sql.take.run(holder, owner, period, credits);
  }

  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw new OutputError(
        'daily_budget',
        `The ${this.period}'s credits (${this.limit}) are counted in ${join(this.#options.directory, FILE)}, which can't be used (${systemReason(error)}). Nothing is sent without that count. ${adviseRepair(error)} Or remove the limit.`,
        {cause: error},
      );
    }
  }
}

/**
 * Gives a killed session's unspent credits back to all budgets. `spent`: the credits that the session spent, of each
 * budget. What it took of a period that ended before the kill, it spent; the rest is of its last one.
 *
 * @throws the errors of SQLite and the file system.
 */
export function refundUnspentCredits(file: BudgetFile, holder: string, spent: number): void {
  if (!existsSync(join(file.directory, FILE))) return;
  const {db, sql} = open(file);
  try {
    db.transaction(() => {
      for (const {owner, period, taken} of sql.taken.all(holder)) {
        const unspent = Number(taken) - spent;
        if (unspent > 0) sql.add.run(String(owner), String(period), -unspent);
        sql.letGo.run(holder, String(owner), String(period).length);
      }
    });
  } finally {
    db.close();
  }
}

/** Its counts are kept for this time from a period's start: no clock is ahead for longer. */
const KEPT_MS = 400 * 86_400_000;

/** Key of the period at `now`: `2031-05-06` for a day, `2031-05` for a month. */
function keyOf(period: Period, now: number): string {
  return utcDate(now).slice(0, period === 'month' ? 7 : 10);
}

function open({directory, now}: BudgetFile) {
  makeDirectory(directory);
  const format = {schema: SCHEMA, version: 1};
  const options = {format, synchronous: 'FULL', busyTimeoutMs: BUSY_TIMEOUT_MS} as const;
  const db = new Sqlite(join(directory, FILE), options);
  try {
    db.prepare('DELETE FROM used WHERE period < ?').run(keyOf('day', now() - KEPT_MS));
    db.exec(
      'DELETE FROM taken WHERE NOT EXISTS (SELECT 1 FROM used WHERE used.owner = taken.owner AND used.period = taken.period)',
    );
    const plus = 'DO UPDATE SET thousandths = thousandths + excluded.thousandths';
    const sql = {
      used: db.query(['thousandths'], 'FROM used WHERE owner = ? AND period = ?'),
      add: db.prepare(`INSERT INTO used VALUES (?, ?, ?) ON CONFLICT (owner, period) ${plus}`),
      take: db.prepare(`INSERT INTO taken VALUES (?, ?, ?, ?) ON CONFLICT (holder, owner, period) ${plus}`),
      // Days (`2031-05-06`) and months (`2031-05`) have keys of different lengths.
      taken: db.query(
        ['owner', 'max(period) AS period', 'sum(thousandths) AS taken'],
        'FROM taken WHERE holder = ? GROUP BY owner, length(period)',
      ),
      heldByOthers: db.query(
        ['sum(max(0, month.thousandths - days.taken)) AS unspent'],
        `FROM taken AS month JOIN (
          SELECT holder, owner, substr(period, 1, 7) AS month, sum(thousandths) AS taken FROM taken
          WHERE length(period) > 7 GROUP BY 1, 2, 3
        ) AS days ON days.holder = month.holder AND days.owner = month.owner AND days.month = month.period
        WHERE month.owner = ? AND month.period = ? AND month.holder <> ?`,
      ),
      letGo: db.prepare('DELETE FROM taken WHERE holder = ? AND owner = ? AND length(period) = ?'),
    };
    return {db, sql};
  } catch (error) {
    db.close();
    throw error;
  }
}
