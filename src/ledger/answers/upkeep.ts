import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {isBusyError, type Sqlite} from '../../disk/sqlite.ts';
import {type Operation, operationNames} from '../../operations/table.ts';
import {purgeLeftAnswers} from './claims.ts';
import {ASKED, ASKED_KEPT_MS, openStoreFile, REJECTION_SQL, STORE_FILE} from './store-file.ts';

interface StoreNeeds {
  /** Maximum age of a usable answer in milliseconds, by operation. */
  readonly ages: Readonly<Record<Operation, number>>;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly warn: (sentence: string) => void;
}

const DAY_MS = 86_400_000;
/** Time for which an age in use counts after its last run. A monthly job pauses for less than this. */
const LONGEST_AWAY_MS = 35 * DAY_MS;
/** Maximum answers per transaction. Other runs wait some milliseconds for its end. */
const REMOVED_AT_ONCE = 2_000;
const PAGES_AT_ONCE = 500;
/** Maximum milliseconds for the upkeep at the end of a run. The next run continues. */
const LONGEST_MS = 2_000;
/** Maximum milliseconds to wait for a run, which locks the store only while it writes one group of answers. */
const BUSY_TIMEOUT_MS = 5_000;

/** Rows of the time at which a value was last asked for are no answers. */
const IS_ANSWER_SQL = `operation <> '${ASKED}'`;

/** Maintains the answer store: `store stats`, `prune` and `purge`. Works in short steps, so that runs can write in between. */
export class StoreAdmin {
  readonly #db: Sqlite;
  readonly #directory: string;

  private constructor(db: Sqlite, directory: string) {
    this.#db = db;
    this.#directory = directory;
  }

  /** Undefined if the directory has no store. Throws if the store can't be opened. */
  static open(directory: string): StoreAdmin | undefined {
    return existsSync(join(directory, STORE_FILE))
      ? new StoreAdmin(openStoreFile(directory, BUSY_TIMEOUT_MS), directory)
      : undefined;
  }

  /** `oldest`, `newest`: milliseconds since the epoch. */
  stats() {
    const times = ['min(bought_at) AS oldest', 'max(bought_at) AS newest'];
    const rows = this.#db.query(
      ['operation', 'count(*) AS answers', ...times],
      `FROM answer WHERE ${IS_ANSWER_SQL} GROUP BY operation`,
    );
    return rows.all().map(({operation, answers, oldest, newest}) => ({
      ...{operation: String(operation), answers: Number(answers)},
      ...{oldest: Number(oldest), newest: Number(newest)},
    }));
  }

  /** Removes an operation's answers and rejections past these ages at `today`, all in ms. Returns their number. */
  async prune(
    operation: Operation,
    {answers, rejections}: {readonly answers: number; readonly rejections: number},
    today: number,
  ): Promise<number> {
    const [answered, rejected] = [answers, rejections].map(age => Math.max(0, Math.floor(today - age)));
    const past = `operation = '${operation}' AND bought_at < CASE WHEN ${REJECTION_SQL} THEN ${rejected} ELSE ${answered} END`;
    return removeAnswers(this.#db, past);
  }

  /** Removes what was bought from `since` to before `until` (ms since the epoch). Returns its number. */
  async purgeBought(since = 0, until = Number.MAX_SAFE_INTEGER, operation?: Operation): Promise<number> {
    purgeLeftAnswers(this.#directory, BUSY_TIMEOUT_MS);
    const of = operation === undefined ? IS_ANSWER_SQL : `operation = '${operation}'`;
    return removeAnswers(this.#db, `${of} AND bought_at >= ${since} AND bought_at < ${until}`);
  }

  /** Removes all about these keys, of any endpoint and account. Returns the number of answers. */
  purge(keys: readonly string[]): number {
    purgeLeftAnswers(this.#directory, BUSY_TIMEOUT_MS);
    const answers = this.#db.prepare(`DELETE FROM answer WHERE key = ? AND ${IS_ANSWER_SQL}`);
    const rest = this.#db.prepare('DELETE FROM answer WHERE key = ?');
    const removed = keys.reduce((sum, key) => sum + answers.run(key), 0);
    for (const key of keys) rest.run(key);
    return removed;
  }

  /** Returns freed space to the file system. Stops early if a run locks the file: then the file only stays larger. */
  async giveBack(): Promise<void> {
    try {
      await returnFreePages(this.#db);
    } catch (error) {
      if (!isBusyError(error)) throw error;
    }
  }

  close(): void {
    this.#db.close();
  }
}

/** Removes answers that are too old for every job, for a short time; the next run continues. @throws SQLite's errors. */
export async function pruneStoreFile(directory: string, needs: StoreNeeds): Promise<void> {
  if (!existsSync(join(directory, STORE_FILE))) return;
  const db = openStoreFile(directory, 0);
  try {
    const until = performance.now() + LONGEST_MS;
    for (const past of db.transaction(() => noteAges(db, needs))) await removeAnswers(db, past, until);
    // Later answers reuse free pages, so a few stay in the file. A quarter of the file or more is given back.
    if (db.pragma('freelist_count') * 4 >= db.pragma('page_count')) await returnFreePages(db, until);
  } finally {
    db.close();
  }
}

/** Notes up to which age this run uses answers. Returns SQL conditions for answers that no run can use. */
function noteAges(db: Sqlite, {ages, now, warn}: StoreNeeds): string[] {
  const newest = db.query(['max(seen) AS seen'], 'FROM age_in_use').get()?.seen ?? null;
  // If no run noted its ages in a store older than a day, other jobs may use answers of any age. So at first
  // no answer counts as too old.
  const isUsed =
    newest === null &&
    db.query(['1 AS found'], `FROM answer WHERE bought_at < ${now - DAY_MS} LIMIT 1`).get() !== undefined;
  if (Number(newest) - now > DAY_MS) warn(behindSentence(now, Number(newest)));
  // A time ahead is of a wrong clock. So the next run does not warn again.
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
  return [...longest, {operation: ASKED, age: ASKED_KEPT_MS}].map(
    ({operation, age}) => `operation = '${operation}' AND bought_at < ${Math.floor(now - Number(age))}`,
  );
}

function behindSentence(now: number, newest: number): string {
  const [says, ended] = [now, newest].map(time =>
    new Date(time).toISOString().slice(0, 16).replace('T', ' '),
  );
  return `The clock of this machine says ${says} UTC; a run before this one ended at ${ended} UTC. If the clock is wrong, set it.`;
}

/** Removes answers that fulfil an SQL condition, oldest first, until `until` (`performance.now`). Returns their number. */
async function removeAnswers(
  db: Sqlite,
  condition: string,
  until = Number.POSITIVE_INFINITY,
): Promise<number> {
  const remove = db.prepare(
    `DELETE FROM answer WHERE id IN (SELECT id FROM answer WHERE ${condition} ORDER BY bought_at LIMIT ${REMOVED_AT_ONCE})`,
  );
  let removed = 0;
  for (let last = REMOVED_AT_ONCE; last === REMOVED_AT_ONCE && performance.now() < until; await sleep(0)) {
    last = remove.run();
    removed += last;
  }
  return removed;
}

/** Returns free pages to the file system, in short steps: a full VACUUM would lock out every run meanwhile. */
async function returnFreePages(db: Sqlite, until = Number.POSITIVE_INFINITY): Promise<void> {
  while (db.pragma('freelist_count') > 0 && performance.now() < until) {
    const before = db.pragma('page_count');
    db.exec(`PRAGMA incremental_vacuum(${PAGES_AT_ONCE})`);
    // Only a file that was made without this program returns none. It would be tried for ever.
    if (db.pragma('page_count') === before) return;
    await sleep(0);
  }
}
