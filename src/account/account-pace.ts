import {randomBytes} from 'node:crypto';
import {rmSync, truncateSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {makeDirectory} from '../disk/directory.ts';
import {isBusy, isDamage, type Query, repairOf, Sqlite, type Statement} from '../disk/sqlite.ts';
import {OutputError, systemReason} from '../errors.ts';
import type {Rate} from '../job/values.ts';
import {emptySchedule, GONE_MS, grant, type Schedule, shifted} from './schedule.ts';

/** Maximum milliseconds to wait for the file before trying again. Other processes hold it for less than 1 ms. */
const BUSY_TIMEOUT_MS = 250;
const BUSY_AGAIN_MS = 5;
/** This process reports used permits with its next request, or at the latest after this many milliseconds. */
const TELL_MS = 20;
/** A process that holds all permits renews its claim to them in this interval, in milliseconds. */
const HOLD_AGAIN_MS = GONE_MS / 6;
/** Milliseconds between two checks while {@link AccountPace.holdAll} waits for the calls of other processes. */
const LOOK_AGAIN_MS = 50;
/** A run warns the user if it got no permit for the rate's period plus this many milliseconds. */
const WORTH_SAYING_MS = 10_000;
/** Suffix of a holder's name: the holder is a fleet, which takes all permits and shares them among its workers. */
const FLEET = '.fleet';

export interface AccountPaceOptions {
  /** Directory of the file with the pace. All processes of the machine with this directory share one pace. */
  readonly directory: string;
  readonly account: string;
  readonly rate: Rate;
  /** Called when the pace's file can't be used. Until it can, no permit is granted. */
  readonly onTrouble: (error: OutputError) => void;
  readonly warn: (sentence: string) => void;
}

/**
 * The pace of an account, which all processes of the machine share. It grants permits; each permit allows one call.
 * A request for permits is one transaction over one row of a file. The file is never synced: after a restart of the
 * machine its content is of little use.
 *
 * @throws {OutputError} when its file can't be used.
 */
export class AccountPace {
  readonly #options: AccountPaceOptions;
  readonly #path: string;
  readonly #db: Sqlite;
  readonly #sql: {readonly read: Query; readonly write: Statement};
  #holder = `${process.pid}.${randomBytes(4).toString('hex')}`;
  /** Number of permits that no call has used yet. They expire at the end of this turn of the event loop. */
  #fresh = 0;
  #moment: NodeJS.Immediate | undefined;
  /** Number of calls that have a permit, and still wait for their connection. */
  #onTheWay = 0;
  /** Times of used permits that are not reported yet. */
  #used: number[] = [];
  /** Number of this process's permits that the account's file has as granted but unused. */
  #told = 0;
  #telling: NodeJS.Timeout | undefined;
  #closed = false;
  #holding: NodeJS.Timeout | undefined;
  /**
   * Time, by {@link machineClock}, since which no request got a permit. Infinite once the user is warned, so
   * that there is no second warning.
   */
  #emptySince: number | undefined;

  constructor(options: AccountPaceOptions) {
    this.#options = options;
    this.#path = join(options.directory, 'pace.db');
    this.#db = this.#guarded(() => {
      makeDirectory(options.directory);
      try {
        return open(this.#path);
      } catch (error) {
        if (!isDamage(error)) throw error;
        // The machine stopped during a write. The file is emptied, not removed: another process may have it open.
        rmSync(`${this.#path}-journal`, {force: true});
        truncateSync(this.#path);
        return open(this.#path);
      }
    });
    this.#sql = {
      read: this.#db.query(['clock', 'schedule'], 'FROM pace WHERE account = ?'),
      write: this.#db.prepare('INSERT OR REPLACE INTO pace VALUES (?, ?, ?)'),
    };
  }

  get rate(): Rate {
    return this.#options.rate;
  }

  /**
   * Takes up to `most` permits, each for one call in this turn of the event loop. If it gets none, returns how long
   * to wait, in milliseconds.
   */
  take(most: number): {readonly permits: number; readonly waitMs: number} {
    try {
      const {permits, waitMs} = this.#ask(most);
      this.#fresh += permits;
      if (permits > 0) this.#moment ??= setImmediate(() => this.#momentOver());
      this.#sayIfEmpty(permits);
      return {permits, waitMs};
    } catch (error) {
      if (!isBusy(error)) this.#options.onTrouble(this.#trouble(error));
      return {permits: 0, waitMs: BUSY_AGAIN_MS};
    }
  }

  /** Uses a permit for a call. It counts as unused until the call leaves, which may need a connection first. */
  use(): {left(): void; over(sent: boolean): void} {
    this.#fresh -= 1;
    this.#onTheWay += 1;
    let isOnTheWay = true;
    const end = (sent: boolean) => {
      if (!isOnTheWay) return;
      isOnTheWay = false;
      this.#onTheWay -= 1;
      if (sent) this.#used.push(machineClock());
      this.#tellLater();
    };
    return {left: () => end(true), over: end};
  }

  /**
   * Takes all permits until this pace is closed, for a fleet whose workers keep the rate. Resolves once the last
   * call of every other process is longer ago than the rate's period.
   */
  async holdAll(): Promise<void> {
    this.#holder += FLEET;
    this.#onTheWay = this.#options.rate.count;
    this.#holding = setInterval(() => this.#tell(), HOLD_AGAIN_MS);
    for (;;) {
      const {sent, out} = this.#guarded(() => this.#ask(0)).schedule;
      if (sent.length === 0 && Object.keys(out).every(name => name.endsWith(FLEET))) return;
      await sleep(LOOK_AGAIN_MS);
    }
  }

  /** Reports used permits, and closes the file. */
  close(): void {
    clearInterval(this.#holding);
    // The workers' calls were made at unknown times. So all permits count as used just now.
    if (this.#holding !== undefined)
      this.#used = Array.from({length: this.#options.rate.count}, machineClock);
    clearImmediate(this.#moment);
    this.#fresh = 0;
    this.#onTheWay = 0;
    this.#tell();
    this.#closed = true;
    this.#db.close();
  }

  /** Called when the turn of the event loop ends for which permits were granted: unused ones expire. */
  #momentOver(): void {
    this.#moment = undefined;
    if (this.#fresh > 0) this.#tellLater();
    this.#fresh = 0;
  }

  #tellLater(): void {
    if (!this.#closed) this.#telling ??= setTimeout(() => this.#tell(), TELL_MS);
  }

  #tell(): void {
    clearTimeout(this.#telling);
    this.#telling = undefined;
    if (this.#told === 0) return;
    try {
      this.#ask(0);
    } catch {
      // Ignores the error: the next request reports the used permits. If this process ends before, the other
      // processes notice its end and count its permits as used.
    }
  }

  #sayIfEmpty(permits: number): void {
    if (permits > 0) {
      this.#emptySince = undefined;
      return;
    }
    const now = machineClock();
    this.#emptySince ??= now;
    if (now - this.#emptySince < WORTH_SAYING_MS + this.#options.rate.perMs) return;
    this.#emptySince = Number.POSITIVE_INFINITY;
    this.#options.warn("Other runs use all of the account's rate. This run waits for them.");
  }

  #ask(most: number): ReturnType<typeof grant> {
    const {account, rate} = this.#options;
    const used = this.#used;
    const granted = this.#db.transaction(() => {
      const now = machineClock();
      const before = this.#read(now);
      const ask = {
        holder: this.#holder,
        used,
        undecided: this.#fresh + this.#onTheWay,
        most,
        rate,
        now,
        isAlive,
      };
      const result = grant(before, ask);
      this.#sql.write.run(account, Date.now() - now, JSON.stringify(result.schedule));
      return result;
    });
    this.#used = [];
    this.#told = granted.permits + this.#fresh + this.#onTheWay;
    clearTimeout(this.#telling);
    this.#telling = undefined;
    return granted;
  }

  #read(now: number): Schedule {
    const row = this.#sql.read.get(this.#options.account);
    if (row === undefined) return emptySchedule;
    const schedule = JSON.parse(String(row.schedule)) as Schedule;
    const [latest = 0] = schedule.sent.at(-1) ?? [];
    // If the latest call is in the future, the machine has restarted, and its clock began anew. Then the time of
    // day shows how old the call is.
    return latest > now ? shifted(schedule, now, Date.now() - now - Number(row.clock)) : schedule;
  }

  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw this.#trouble(error);
    }
  }

  #trouble(error: unknown): OutputError {
    return new OutputError(
      'account_pace',
      `The account has a rate, and the times of its calls are kept in ${this.#path}. This file can't be used (${systemReason(error)}), so nothing is sent. ${repairOf(error, 'Remove it')}, or remove the rate from the account's settings.`,
      {cause: error},
    );
  }
}

function open(path: string): Sqlite {
  const db = new Sqlite(path, {synchronous: 'OFF', busyTimeoutMs: BUSY_TIMEOUT_MS});
  try {
    db.exec(
      'CREATE TABLE IF NOT EXISTS pace (account TEXT PRIMARY KEY, clock REAL NOT NULL, schedule TEXT NOT NULL) WITHOUT ROWID',
    );
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Milliseconds by a clock that all processes of the machine share. It ignores changes of the system time. */
function machineClock(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function isAlive(holder: string): boolean {
  try {
    process.kill(Number.parseInt(holder, 10), 0);
    return true;
  } catch (error) {
    // EPERM: the process exists and is another user's.
    return (error as {code?: unknown}).code === 'EPERM';
  }
}
