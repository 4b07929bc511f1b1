import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import type {Sqlite} from '../../disk/sqlite.ts';
import {type Operation, operationNames} from '../../operations/table.ts';
import {openStoreFile, STORE_FILE} from './store-file.ts';

/** Requirements of a run for the store. */
interface StoreNeeds {
  /** Maximum age of a usable answer in milliseconds, by operation. */
  readonly ages: Readonly<Record<Operation, number>>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const DAY_MS = 86_400_000;
/** Time for which an age in use counts after its last run. A monthly job pauses for less than this. */
const LONGEST_AWAY_MS = 35 * DAY_MS;
/** Maximum answers per transaction. Other runs wait some milliseconds for its end. */
const SWEEP_AT_ONCE = 2_000;
/** Pages returned to the file system per step. */
const PAGES_AT_ONCE = 500;
/** Maximum milliseconds for the upkeep at the end of a run. The next run continues. */
const LONGEST_MS = 2_000;

/**
 * Keeps the store from growing forever. Removes answers that are too old for every job. Works in short transactions
 * and for a short time; the next run continues where this one ended.
 *
 * @throws SQLite's errors, such as that another run is writing.
 */
export async function keepUp(directory: string, needs: StoreNeeds): Promise<void> {
  if (!existsSync(join(directory, STORE_FILE))) return;
  const db = openStoreFile(directory, 0);
  try {
    const until = performance.now() + LONGEST_MS;
    const past = db.transaction(() => noteAges(db, needs));
    const from = Number(db.query(['up_to'], 'FROM swept').get()?.up_to);
    let {reached} = await sweep(db, past, {from, until});
    if (reached === undefined) ({reached} = await sweep(db, past, {last: from, until}));
    db.prepare('UPDATE swept SET up_to = ?').run(reached ?? 0);
    // Later answers reuse free pages, so a few stay in the file. A quarter of the file or more is given back.
    if (db.pragma('freelist_count') * 4 >= db.pragma('page_count')) await giveBack(db, until);
  } finally {
    db.close();
  }
}

/** Notes up to which age this run uses answers. Returns an SQL condition for answers that no run can use. */
function noteAges(db: Sqlite, {ages, now}: StoreNeeds): string {
  const has = (rows: string) => db.query(['1 AS found'], `FROM ${rows} LIMIT 1`).get() !== undefined;
  // If no run noted its ages in a store older than a day, other jobs may use answers of any age. So at first
  // no answer counts as too old.
  const isUsed = !has('age_in_use') && has(`answer WHERE bought_at < ${now - DAY_MS}`);
  // A time ahead is of a wrong clock.
  db.prepare('UPDATE age_in_use SET seen = ? WHERE seen > ?').run(now, now);
  const note = db.prepare(
    'INSERT INTO age_in_use VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET seen = max(seen, excluded.seen)',
  );
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

/**
 * Removes the answers with numbers above `from`, up to `last`, that fulfil an SQL condition; stops at `until` (by
 * `performance.now`). Returns how many it removed, and the last number that it has reached; undefined if it is done.
 * Reads each group first: a group without such answers needs no write.
 */
export async function sweep(
  db: Sqlite,
  condition: string,
  {from = 0, last = Number.MAX_SAFE_INTEGER, until = Number.POSITIVE_INFINITY},
): Promise<{readonly removed: number; readonly reached: number | undefined}> {
  const group = db.query(
    ['max(id) AS end', 'total(is_due) AS due'],
    `FROM (SELECT id, (${condition}) AS is_due FROM answer WHERE id > ? AND id <= ? ORDER BY id LIMIT ${SWEEP_AT_ONCE})`,
  );
  const remove = db.prepare(`DELETE FROM answer WHERE id > ? AND id <= ? AND ${condition}`);
  let removed = 0;
  let reached = from;
  for (; performance.now() < until; await sleep(0)) {
    const {end = null, due} = group.get(reached, last) ?? {};
    if (end === null) return {removed, reached: undefined};
    if (Number(due) > 0) removed += remove.run(reached, Number(end));
    reached = Number(end);
  }
  return {removed, reached};
}

/**
 * Returns free pages to the file system, in short steps, so that runs can write in between. A full VACUUM would lock
 * out every run meanwhile.
 */
export async function giveBack(db: Sqlite, until = Number.POSITIVE_INFINITY): Promise<void> {
  const free = () => db.pragma('freelist_count');
  let before = Number.POSITIVE_INFINITY;
  // A file whose pages can't be returned would be tried for ever.
  for (let left = free(); left > 0 && left < before && performance.now() < until; left = free()) {
    before = left;
    db.exec(`PRAGMA incremental_vacuum(${PAGES_AT_ONCE})`);
    await sleep(0);
  }
}
