import type {Sqlite} from './sqlite.ts';

const HOUR_MS = 3_600_000;
/** Minimum time after which a later run can confirm a run's date. A clock is seldom wrong for so long. */
const APART_MS = 20 * HOUR_MS;
/** A date this much later than the last run's counts as a leap. A monthly job pauses for less than this. */
export const LONGEST_AWAY_MS = 35 * 24 * HOUR_MS;
/** A date earlier than the last run's by more than this counts as a leap; by less, as a corrected clock. */
const BEHIND_MS = HOUR_MS;

/** The dates in a file that runs share, in milliseconds since the epoch; 0 if unknown. */
export interface KnownDate {
  /** The newest date that one run noted and a run after it confirmed: the two are no leap apart. */
  readonly agreed: number;
  /** The date of the last run that confirmed an earlier date. Before the first such run: the first date. */
  readonly said: number;
  /**
   * A run's date that is a leap from `said`; otherwise 0. A later run confirms it, or drops it if its own date
   * is no leap from `said`.
   */
  readonly claimed: number;
}

type Leap = 'ahead' | 'behind';

/**
 * The dates to store in a file when a run's clock says `now`. `leap` is set if `now` is implausible: much
 * later than the last run's date (by {@link LONGEST_AWAY_MS}), or earlier.
 */
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
  /** The earlier of `agreed` and this run's clock: surely a past date. Only entries too old by it are deleted. */
  readonly certain: number;
  /** As in {@link KnownDate}. Later than `certain` if this run's own clock is behind. */
  readonly agreed: number;
  /** `said` as it was before this run. If this run's clock is behind that date, `certain`. */
  readonly earlier: number;
  /**
   * True if this run's date is a leap: over 35 days after `said`, or over an hour before it. False if this
   * run confirms the date of an earlier leap (`claimed`).
   */
  readonly leaps: boolean;
}

/**
 * Stores the date in files that runs share, since the clock of a machine may be wrong. A run's date is trusted
 * only once a later run confirms it. Warns the user once if this run's date is too far from the stored one.
 */
export class SharedDate {
  readonly now: () => number;
  readonly #warn: (sentence: string) => void;
  #hasWarned = false;

  /** `now` is in milliseconds since the epoch. */
  constructor(now: () => number, warn: (sentence: string) => void) {
    this.now = now;
    this.#warn = warn;
  }

  /**
   * Stores this run's date in the file `db`. Returns dates that the run can rely on, even if its own clock is
   * wrong. The caller must have begun a transaction.
   */
  note(db: Sqlite): NotedDate {
    db.exec(
      'CREATE TABLE IF NOT EXISTS date (only INTEGER PRIMARY KEY, agreed INTEGER NOT NULL, said INTEGER NOT NULL, claimed INTEGER NOT NULL)',
    );
    const now = Math.floor(this.now());
    const before = storedIn(db);
    const put = db.prepare('INSERT OR REPLACE INTO date VALUES (1, ?, ?, ?)');
    if (before === undefined) {
      put.run(0, now, 0);
      return {certain: 0, agreed: 0, earlier: 0, leaps: false};
    }
    const {date, leap} = dateAfter(before, now);
    put.run(date.agreed, date.said, date.claimed);
    if (leap !== undefined) this.#warnOnce(leap, now);
    const {agreed} = date;
    const certain = Math.min(agreed, now);
    return {certain, agreed, earlier: before.said <= now ? before.said : certain, leaps: leap !== undefined};
  }

  /** The dates that earlier runs stored in a file. Only reads: this run's date is not stored. */
  knownIn(db: Sqlite): KnownDate {
    const stored = db.hasTable('date') ? storedIn(db) : undefined;
    return stored ?? {agreed: 0, said: 0, claimed: 0};
  }

  #warnOnce(leap: Leap, now: number): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const says = `The clock of this machine says ${new Date(now).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
    this.#warn(
      leap === 'ahead'
        ? `${says}, more than 35 days after the last run. If that is wrong, set it and run again: by this date answers are too old, and this run pays for them again. Nothing is deleted by this date until a run on another day agrees.`
        : `${says}, earlier than the last run. If that is wrong, set it and run again. Nothing is deleted by this date until a run on another day agrees.`,
    );
  }
}

function storedIn(db: Sqlite): KnownDate | undefined {
  const row = db.query(['agreed', 'said', 'claimed'], 'FROM date').get();
  return row && {agreed: Number(row.agreed), said: Number(row.said), claimed: Number(row.claimed)};
}
