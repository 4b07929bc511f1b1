import {join} from 'node:path';
import {makeDirectory} from '../../disk/directory.ts';
import {adviseRepair, Sqlite} from '../../disk/sqlite.ts';
import {OutputError, systemReason} from '../../errors.ts';
import {utcDate} from '../../job/paths.ts';
import {toCredits} from '../../job/settings/cost.ts';

const BUSY_TIMEOUT_MS = 5_000;

const FILE = 'daily-credits.db';

/** `used`: thousandths of a credit that runs took from a period. */
const SCHEMA =
  'CREATE TABLE used (owner TEXT, period TEXT, thousandths INTEGER NOT NULL, PRIMARY KEY (owner, period)) WITHOUT ROWID';

export type Period = 'day' | 'month';

export interface PeriodLimit {
  readonly period: Period;
  /** The setting with the limit, for messages: `max_credits_per_day in …/production.yaml`. */
  readonly limit: string;
  /** In thousandths of a credit, like all money in this file. */
  readonly maxCredits: number;
}

/** A limit that has no credits left, and when its next period begins, in milliseconds since the epoch. */
export interface ExhaustedLimit extends PeriodLimit {
  readonly renewsAt: number;
}

export interface AccountBudgetOptions {
  /** The user's state directory, so that the file outlives the runs. */
  readonly directory: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The account that the limits belong to: all its runs share them. */
  readonly owner: string;
  /** At least one. */
  readonly limits: readonly PeriodLimit[];
  /** Calls `warn` once a period, when this share (0 to 1) of a limit is used up. */
  readonly warnAt?: {readonly share: number; readonly warn: (sentence: string) => void} | undefined;
}

/**
 * The credits that all runs of an account may spend in a day and a month: one durable count of each. Calls take their
 * credits before they are sent. A free call gives its credits back with the next calls. A kill before that leaves them
 * counted, and never exceeds a limit.
 *
 * @throws {OutputError} when its file can't be read or written: then nothing may be spent.
 */
export class AccountBudget {
  /** The limit that refused the last call; undefined if none did. */
  exhausted: ExhaustedLimit | undefined;
  readonly limits: readonly PeriodLimit[];
  readonly now: () => number;
  readonly #options: AccountBudgetOptions;
  readonly #db: Sqlite;
  readonly #sql: ReturnType<typeof open>['sql'];
  /** Credits of free calls, by period, which the file still counts. */
  readonly #free = new Map<string, number>();
  readonly #warned = new Set<string>();
  /** By limit: credits that its count lacked ({@link raiseCounts}), and its use as it was last read or changed. */
  readonly #lacked = new Map<PeriodLimit, number>();
  readonly #lastUsed = new Map<PeriodLimit, number>();
  #isClosed = false;

  constructor(options: AccountBudgetOptions) {
    this.#options = options;
    this.limits = options.limits;
    this.now = options.now;
    const {db, sql} = this.#guarded(() => open(options));
    this.#db = db;
    this.#sql = sql;
    for (const limit of this.limits) this.useOf(limit);
    this.#warnWhenNear();
  }

  /** Takes credits of calls, in order, from all limits. Returns how many calls they allow. Durable on return. */
  take(costs: readonly number[]): number {
    const {count, uses} = this.#write(() => {
      const left = this.limits.map(limit => {
        const used = this.#used(limit);
        return {limit, used, credits: limit.maxCredits - used};
      });
      this.exhausted = undefined;
      let count = 0;
      let sum = 0;
      for (const cost of costs) {
        const short = left.find(({credits}) => sum + cost > credits)?.limit;
        if (short !== undefined) {
          this.exhausted = {...short, renewsAt: this.#spanOf(short)[1]};
          break;
        }
        sum += cost;
        count += 1;
      }
      for (const {period} of this.limits) this.#add(this.#keyOf(period), sum);
      return {count, uses: left.map(({limit, used}) => [limit, used + sum] as const)};
    });
    // After the commit: a transaction that fails takes nothing.
    for (const [limit, used] of uses) this.#lastUsed.set(limit, used);
    this.#warnWhenNear();
    return count;
  }

  /** Gives credits of a free call back to the periods from which they were taken, at the time `takenAt`. */
  refund(cost: number, takenAt: number): void {
    for (const {period} of this.limits) {
      const key = this.#keyOf(period, takenAt);
      this.#free.set(key, (this.#free.get(key) ?? 0) + cost);
    }
  }

  left(limit: PeriodLimit): number {
    return limit.maxCredits - this.#read(() => this.#used(limit));
  }

  /** The credits that runs took from a limit in its current period, and those that the count lacked. */
  useOf(limit: PeriodLimit): {readonly used: number; readonly lacked: number} {
    if (!this.#isClosed)
      this.#lastUsed.set(
        limit,
        this.#read(() => this.#used(limit)),
      );
    return {used: this.#lastUsed.get(limit) ?? 0, lacked: this.#lacked.get(limit) ?? 0};
  }

  /**
   * Raises counts to credits that certainly were taken: the file may be lost, or older than they are. `takenWithin`
   * returns those from one time to another, in milliseconds since the epoch.
   */
  raiseCounts(takenWithin: (fromMs: number, toMs: number) => number): void {
    const taken = this.limits.map(limit => ({limit, known: takenWithin(...this.#spanOf(limit))}));
    this.#write(() => {
      for (const {limit, known} of taken) {
        const missing = Math.max(0, known - this.#used(limit));
        this.#lacked.set(limit, missing);
        this.#add(this.#keyOf(limit.period), missing);
      }
    });
  }

  /** Writes what free calls gave back, and closes the file. */
  close(): void {
    if (this.#isClosed) return;
    try {
      if (this.#free.size > 0) this.#write(() => {});
      for (const limit of this.limits) this.useOf(limit);
    } finally {
      this.#isClosed = true;
      this.#db.close();
    }
  }

  /** The current period's begin, and the next one's, in milliseconds since the epoch. */
  #spanOf({period}: PeriodLimit): readonly [number, number] {
    const begun = new Date(Date.parse(this.#keyOf(period)));
    const [year, month, day] = [begun.getUTCFullYear(), begun.getUTCMonth(), begun.getUTCDate()];
    return [begun.getTime(), period === 'month' ? Date.UTC(year, month + 1) : Date.UTC(year, month, day + 1)];
  }

  /** Key of a period: `2031-05-06` for a day, `2031-05` for a month. */
  #keyOf(period: Period, at = this.now()): string {
    return utcDate(at).slice(0, period === 'month' ? 7 : 10);
  }

  #warnWhenNear(): void {
    const {share = Number.POSITIVE_INFINITY, warn = () => {}} = this.#options.warnAt ?? {};
    for (const limit of this.limits) {
      const {period, maxCredits, limit: setting} = limit;
      if (this.#warned.has(this.#keyOf(period))) continue;
      const used = this.#lastUsed.get(limit) ?? 0;
      if (used < share * maxCredits) continue;
      this.#warned.add(this.#keyOf(period));
      warn(
        `${toCredits(used)} of the ${period}'s ${toCredits(maxCredits)} credits (${setting}) are used by all runs together.`,
      );
    }
  }

  #used({period}: PeriodLimit): number {
    const key = this.#keyOf(period);
    return (
      Number(this.#sql.used.get(this.#options.owner, key)?.thousandths ?? 0) - (this.#free.get(key) ?? 0)
    );
  }

  #add(key: string, credits: number): void {
    if (credits !== 0) this.#sql.add.run(this.#options.owner, key, credits);
  }

  #read<T>(work: () => T): T {
    return this.#guarded(() => this.#db.reading(work));
  }

  /** Does `work` and writes what free calls gave back, in one transaction. */
  #write<T>(work: () => T): T {
    const result = this.#guarded(() =>
      this.#db.transaction(() => {
        const done = work();
        for (const [key, credits] of this.#free) this.#add(key, -credits);
        return done;
      }),
    );
    this.#free.clear();
    return result;
  }

  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      const {period, limit} = this.limits[0] as PeriodLimit;
      throw new OutputError(
        'daily_budget',
        `The ${period}'s credits (${limit}) are counted in ${join(this.#options.directory, FILE)}, which can't be used (${systemReason(error)}). Nothing is sent without that count. ${adviseRepair(error)} Or remove the limit.`,
        {cause: error},
      );
    }
  }
}

/** Its counts are kept for this time from a period's start: no clock is ahead for longer. */
const KEPT_MS = 400 * 86_400_000;

function open({directory, now}: AccountBudgetOptions) {
  makeDirectory(directory);
  const format = {schema: SCHEMA, version: 1};
  const options = {format, synchronous: 'FULL', busyTimeoutMs: BUSY_TIMEOUT_MS} as const;
  const db = new Sqlite(join(directory, FILE), options);
  try {
    db.prepare('DELETE FROM used WHERE period < ?').run(utcDate(now() - KEPT_MS));
    const sql = {
      used: db.query(['thousandths'], 'FROM used WHERE owner = ? AND period = ?'),
      add: db.prepare(
        'INSERT INTO used VALUES (?, ?, ?) ON CONFLICT (owner, period) DO UPDATE SET thousandths = thousandths + excluded.thousandths',
      ),
    };
    return {db, sql};
  } catch (error) {
    db.close();
    throw error;
  }
}
