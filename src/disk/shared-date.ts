import type {Sqlite, SqlRow} from './sqlite.ts';

const HOUR_MS = 3_600_000;
/** Two runs agree on a date if the dates are at least this far apart: a clock is seldom wrong for longer. */
const APART_MS = 20 * HOUR_MS;
/** A larger step of the clock between two runs is a leap. A monthly job pauses for less than this. */
export const LONGEST_AWAY_MS = 35 * 24 * HOUR_MS;
/** A clock may be behind the last run's by at most this. It then counts as corrected, not as leaping. */
const BEHIND_MS = HOUR_MS;

/** A shared file's knowledge of the date: milliseconds since the epoch, 0 for none. */
export interface KnownDate {
  /** The newest date on which two runs agreed. */
  readonly agreed: number;
  /** The newest date that a run's clock said and that fits the dates before it. */
  readonly said: number;
  /** A run's date that does not fit `said`. The next run on another day agrees either with this date or with `said`. */
  readonly claimed: number;
}

type Leap = 'ahead' | 'behind';

/** Returns a file's dates after a run has noted `now`. `leap` is set if `now` does not fit the dates before it. */
export function dateAfter(known: KnownDate, now: number): {readonly date: KnownDate; readonly leap?: Leap} {
  const {agreed, said, claimed} = known;
  const fits = (before: number) => before > 0 && now >= before && now - before <= LONGEST_AWAY_MS;
  const agrees = (before: number) => fits(before) && now - before >= APART_MS;
  if (agrees(said)) return {date: {agreed: said, said: now, claimed: 0}};
  if (fits(said)) return {date: {agreed, said, claimed: 0}};
  if (agrees(claimed)) return {date: {agreed: claimed, said: now, claimed: 0}};
  if (now < said && said - now <= BEHIND_MS) return {date: known};
  const date = {agreed, said, claimed: fits(claimed) ? claimed : now};
  return {date, leap: now > said ? 'ahead' : 'behind'};
}

/** The date that a run may rely on, whatever the run's own clock says. */
export interface NotedDate {
  /** The earlier of `agreed` and this run's clock: a date that has passed. Only entries old by it are deleted. */
  readonly certain: number;
  /** The date that two runs agreed on. It may be later than `certain`, if this run's own clock is behind. */
  readonly agreed: number;
  /** The newest fitting date of an earlier run; `certain` if this run's clock is before that date. */
  readonly earlier: number;
  readonly leaps: boolean;
}

/**
 * The date in files that runs share. A file believes a clock only if another run agrees with it. Warns the run once if
 * its clock leaps.
 */
export class SharedDate {
  readonly now: () => number;
  readonly #warn: (sentence: string) => void;
  #isTold = false;

  /** `now` is in milliseconds since the epoch. */
  constructor(now: () => number, warn: (sentence: string) => void) {
    this.now = now;
    this.#warn = warn;
  }

  /** Notes the clock's date in a file, and returns the date to rely on. The caller holds a transaction. */
  note(db: Sqlite): NotedDate {
    db.exec(
      'CREATE TABLE IF NOT EXISTS date (only INTEGER PRIMARY KEY, agreed INTEGER NOT NULL, said INTEGER NOT NULL, claimed INTEGER NOT NULL)',
    );
    const now = Math.floor(this.now());
    const row = db.query(['agreed', 'said', 'claimed'], 'FROM date').get();
    const put = db.prepare('INSERT OR REPLACE INTO date VALUES (1, ?, ?, ?)');
    if (row === undefined) {
      put.run(0, now, 0);
      return {certain: 0, agreed: 0, earlier: 0, leaps: false};
    }
    const before = dateIn(row);
    const {date, leap} = dateAfter(before, now);
    put.run(date.agreed, date.said, date.claimed);
    if (leap !== undefined) this.#tell(leap, now);
    const {agreed} = date;
    const certain = Math.min(agreed, now);
    return {certain, agreed, earlier: before.said <= now ? before.said : certain, leaps: leap !== undefined};
  }

  /** The date that earlier runs left in a file. This run's clock is not noted in it. */
  knownIn(db: Sqlite): KnownDate {
    const row = db.hasTable('date') ? db.query(['agreed', 'said', 'claimed'], 'FROM date').get() : undefined;
    return dateIn(row);
  }

  #tell(leap: Leap, now: number): void {
    if (this.#isTold) return;
    this.#isTold = true;
    const says = `The clock of this machine says ${new Date(now).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
    this.#warn(
      leap === 'ahead'
        ? `${says}, more than 35 days after the last run. If that is wrong, set it and run again: by this date answers are too old, and this run pays for them again. Nothing is deleted by this date until a run on another day agrees.`
        : `${says}, earlier than the last run. If that is wrong, set it and run again. Nothing is deleted by this date until a run on another day agrees.`,
    );
  }
}

function dateIn(row: SqlRow | undefined): KnownDate {
  return {agreed: Number(row?.agreed ?? 0), said: Number(row?.said ?? 0), claimed: Number(row?.claimed ?? 0)};
}
