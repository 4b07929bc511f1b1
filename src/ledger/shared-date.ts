import type {Sqlite} from './sqlite.ts';

const HOUR_MS = 3_600_000;
/** Two runs agree on a date where so much time lies between them: seldom is a clock wrong for longer. */
const APART_MS = 20 * HOUR_MS;
/** No job is away for longer, a monthly one either: a clock that says so leaps. */
export const LONGEST_AWAY_MS = 35 * 24 * HOUR_MS;
/** A clock that is behind by less was set, or is another machine's. */
const BEHIND_MS = HOUR_MS;

/** What a file that runs share knows of the date; all in milliseconds since the epoch, 0 for nothing. */
export interface KnownDate {
  /** The newest date on which two runs agreed. */
  readonly agreed: number;
  /** The newest that a run has said, as far as it fits the ones before. */
  readonly said: number;
  /** One that does not fit: the next run on another day agrees with it, or with the ones before. */
  readonly claimed: number;
}

type Leap = 'ahead' | 'behind';

/** What a file knows once a run has said that it is `now`, and whether that leaps: it fits nothing that the file knows. */
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

/** What a run may take for sure, whatever its clock says. */
export interface NotedDate {
  /** It is no earlier than this: two runs agreed on it. Only what is old by this date is deleted. */
  readonly certain: number;
  /** An earlier run has said so, and nothing speaks against it. */
  readonly earlier: number;
  readonly leaps: boolean;
}

/**
 * The date as one run has it, in the files that it shares with others: none of them believes a clock that no other run
 * agrees with. A clock that leaps is told of, once.
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

  /** Notes in a file what the clock says, and returns what is known there. Within a transaction of the caller's. */
  note(db: Sqlite): NotedDate {
    db.exec(
      'CREATE TABLE IF NOT EXISTS date (only INTEGER PRIMARY KEY, agreed INTEGER NOT NULL, said INTEGER NOT NULL, claimed INTEGER NOT NULL)',
    );
    const now = Math.floor(this.now());
    const row = db.query(['agreed', 'said', 'claimed'], 'FROM date').get();
    const put = db.prepare('INSERT OR REPLACE INTO date VALUES (1, ?, ?, ?)');
    if (row === undefined) {
      put.run(0, now, 0);
      return {certain: 0, earlier: 0, leaps: false};
    }
    const before = {agreed: Number(row.agreed), said: Number(row.said), claimed: Number(row.claimed)};
    const {date, leap} = dateAfter(before, now);
    put.run(date.agreed, date.said, date.claimed);
    if (leap !== undefined) this.#tell(leap, now);
    const certain = Math.min(date.agreed, now);
    return {certain, earlier: before.said <= now ? before.said : certain, leaps: leap !== undefined};
  }

  #tell(leap: Leap, now: number): void {
    if (this.#isTold) return;
    this.#isTold = true;
    const says = `The clock of this machine says ${new Date(now).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
    this.#warn(
      leap === 'ahead'
        ? `${says}, more than 35 days after the last run. If that is wrong, set it and run again: by this date answers are too old, and are paid for again. Nothing is deleted by it until a run on another day agrees.`
        : `${says}, earlier than the last run. If that is wrong, set it and run again. Nothing is deleted by it until a run on another day agrees.`,
    );
  }
}
