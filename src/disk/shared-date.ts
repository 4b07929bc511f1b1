import type {Sqlite, SqlRow} from './sqlite.ts';

const HOUR_MS = 3_600_000;
/** A run confirms the date of an earlier run if it begins this much later: a clock is seldom wrong for longer. */
const APART_MS = 20 * HOUR_MS;
/** A clock that is ahead of the last run's by more than this leaps. A monthly job pauses for less. */
export const LONGEST_AWAY_MS = 35 * 24 * HOUR_MS;
/** A clock that is behind the last run's by at most this was corrected. If it is further behind, it leaps. */
const BEHIND_MS = HOUR_MS;

/** The dates that a shared file holds, in milliseconds since the epoch; 0 for none. */
export interface KnownDate {
  /** The newest date on which two runs agreed. */
  readonly agreed: number;
  /** The newest date of a run's clock that was no leap from the earlier dates. */
  readonly said: number;
  /** A run's date that leaps from `said`. The next run on another day confirms either this date or `said`. */
  readonly claimed: number;
}

type Leap = 'ahead' | 'behind';

/** Returns a file's dates after a run has noted `now`. `leap` is set if `now` leaps from the `known` dates. */
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
  /** The earlier of `agreed` and this run's clock, so it has passed. Entries are deleted only if old by this date. */
  readonly certain: number;
  /** The date that two runs agreed on. It may be later than `certain`, if this run's own clock is behind. */
  readonly agreed: number;
  /** The newest fitting date of an earlier run; `certain` if this run's clock is before that date. */
  readonly earlier: number;
  readonly leaps: boolean;
}

/**
 * Keeps the date in files that runs share. A clock's date is trusted only once a later run confirms it. Warns the user
 * once if this run's clock leaps.
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
