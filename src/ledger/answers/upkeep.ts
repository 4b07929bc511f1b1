import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import type {Sqlite} from '../../disk/sqlite.ts';
import {type Operation, operationNames} from '../../operations/table.ts';
import {openStoreFile, STORE_FILE} from './store-file.ts';

/** Requirements of a run for the store. */
export interface StoreNeeds {
  /** Maximum age of a usable answer in milliseconds, by operation. */
  readonly ages: Readonly<Record<Operation, number>>;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Warns the user once of a clock that is behind. */
  readonly warn: (sentence: string) => void;
}

const DAY_MS = 86_400_000;
/** Time for which an age in use counts after its last run. A monthly job pauses for less than this. */
const LONGEST_AWAY_MS = 35 * DAY_MS;
/** Maximum answers per transaction. Other runs wait some milliseconds for its end. */
export const SWEEP_AT_ONCE = 2_000;
/** Pages returned to the file system per step. */
const PAGES_AT_ONCE = 500;
/** Maximum milliseconds for the upkeep at the end of a run. The next run continues. */
const LONGEST_MS = 2_000;

/**
 * Keeps the store from growing forever. Removes answers that are too old for every job. Works in short transactions
 * and for a short time; the next run continues.
 *
 * @throws SQLite's errors, such as that another run is writing.
 */
export async function keepUp(directory: string, use: StoreNeeds): Promise<void> {
  if (!existsSync(join(directory, STORE_FILE))) return;
  const db = openStoreFile(directory, 0);
  try {
    const until = performance.now() + LONGEST_MS;
    const past = db.transaction(() => noteUse(db, use));
    await sweep(db, past, until);
    // Later answers reuse free pages, so a few stay in the file. A quarter of the file or more is given back.
    if (db.pragma('freelist_count') * 4 >= db.pragma('page_count')) await giveBack(db, until);
  } finally {
    db.close();
  }
}

/** Notes up to which age this run uses answers. Returns an SQL condition for answers that no run can use. */
function noteUse(db: Sqlite, {ages, now, warn}: StoreNeeds): string {
  const {newest: last = null} = db.query(['max(seen) AS newest'], 'FROM age_in_use').get() ?? {};
  const isNew = last === null;
  const newest = Number(last);
  if (newest - now > DAY_MS) {
    warn(behind(now, newest));
    db.prepare('UPDATE age_in_use SET seen = min(seen, ?)').run(now);
  }
  const note = db.prepare(
    'INSERT INTO age_in_use VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET seen = max(seen, excluded.seen)',
  );
  // If no run noted its ages in a store older than a day, other jobs may use answers of any age. So at first
  // no answer counts as too old.
  const isUsed =
    isNew && db.query(['id'], 'FROM answer WHERE bought_at < ? LIMIT 1').get(now - DAY_MS) !== undefined;
  for (const operation of operationNames) {
    note.run(operation, Math.min(ages[operation], now), now);
    if (isUsed) note.run(operation, now, now);
  }
  db.prepare('DELETE FROM age_in_use WHERE seen < ?').run(now - LONGEST_AWAY_MS);
  const longest = db.query(['operation', 'max(age) AS age'], 'FROM age_in_use GROUP BY operation').all();
  const cases = longest.map(
    ({operation, age}) => `WHEN '${operation}' THEN ${Math.floor(now - Number(age))}`,
  );
  return `bought_at < CASE operation ${cases.join(' ')} ELSE 0 END`;
}

function behind(now: number, newest: number): string {
  const [says, last] = [now, newest].map(time => new Date(time).toISOString().slice(0, 16).replace('T', ' '));
  return `The clock of this machine says ${says} UTC; a run before this one ended at ${last} UTC. If the clock is wrong, set it.`;
}

/**
 * Visits each answer at most once, starting where the last sweep ended. Stops at `until` (by
 * `performance.now`). Removes answers that fulfil the SQL condition `past`. Reads each group first: a group without
 * such answers needs no write.
 */
async function sweep(db: Sqlite, past: string, until: number): Promise<void> {
  const from = Number(db.query(['up_to'], 'FROM swept').get()?.up_to);
  const range = db.query(
    ['max(id) AS end', 'total(is_due) AS due'],
    `FROM (SELECT id, (${past}) AS is_due FROM answer WHERE id > ? AND id <= ? ORDER BY id LIMIT ${SWEEP_AT_ONCE})`,
  );
  const remove = db.prepare(`DELETE FROM answer WHERE id > ? AND id <= ? AND ${past}`);
  const mark = db.prepare('UPDATE swept SET up_to = ?');
  let reached = from;
  const step = (start: number, last: number): number | undefined => {
    const {end = null, due} = range.get(start, last) ?? {};
    reached = Number(end ?? 0);
    if (end === null) return undefined;
    if (Number(due) > 0)
      db.transaction(() => {
        remove.run(start, reached);
        mark.run(reached);
      });
    return reached;
  };
  for (const [start, last] of [
    [from, Number.MAX_SAFE_INTEGER],
    [0, from],
  ] as const)
    for (let at: number | undefined = start; at !== undefined && performance.now() < until; await sleep(0))
      at = step(at, last);
  mark.run(reached);
}

/**
 * Returns free pages to the file system, in short steps, so that runs can write in between. A file without
 * incremental vacuum keeps its free pages for later answers: a full VACUUM would lock out every run meanwhile.
 */
export async function giveBack(db: Sqlite, until = Number.POSITIVE_INFINITY): Promise<void> {
  if (db.pragma('auto_vacuum') !== INCREMENTAL) return;
  while (db.pragma('freelist_count') > 0 && performance.now() < until) {
    db.exec(`PRAGMA incremental_vacuum(${PAGES_AT_ONCE})`);
    await sleep(0);
  }
}

/** Value of `PRAGMA auto_vacuum` for incremental. */
const INCREMENTAL = 2;
