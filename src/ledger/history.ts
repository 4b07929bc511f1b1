import {randomUUID} from 'node:crypto';
import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {makeDirectory} from '../disk/directory.ts';
import {fileText} from '../disk/path.ts';
import {removeFile} from '../disk/remove.ts';
import {replaceFile} from '../disk/replace.ts';
import {Sqlite, type SqlValue} from '../disk/sqlite.ts';
import {systemCode} from '../errors.ts';

/**
 * Maximum milliseconds to wait while another run adds its line. A line that can't be added in time goes to a file.
 */
const BUSY_TIMEOUT_MS = {adding: 250, reading: 5_000} as const;
const DAY_MS = 86_400_000;
/** Lines are kept for a year. */
const KEPT_MS = 366 * DAY_MS;
/**
 * Maximum number of lines. If there are more, the oldest are deleted, even if they are less than a year old.
 */
const MOST_LINES = 20_000;
/** Number of summaries kept of each job's complete runs, and of its incomplete runs. */
const SUMMARIES = 30;
/** Version of the history's table: raise it whenever the table's shape changes. */
const VERSION = 2;

/** One session of a run, as the history keeps it. */
export interface HistoryEntry {
  /** Identifies the session's bill (its spending). An entry of a known bill is merged into that bill's line. */
  readonly bill: string;
  readonly runId: string;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
  readonly job: string | null;
  /** Identifies the input list across runs; null for stdin in a job without a name. */
  readonly list: string | null;
  /** True if all rows were written. */
  readonly isComplete: boolean;
  readonly line: string;
  /** The run's summary as JSON; null for a killed session, whose line the next session adds. */
  readonly summary: string | null;
}

/** Merges two lines of one bill: `known` is in the history, `told` is to be added. */
type Merge = (known: string, told: string) => string;

/** Directory of lines that could not be added to a locked history. The next process to open it adds them. */
const WAITING = 'runs.waiting';

/**
 * Saves lines for a history that is locked, in a file of their own. The next process that opens the history
 * adds them. The file is durable on return.
 */
export function leaveForHistory(directory: string, entries: readonly HistoryEntry[]): void {
  const waiting = join(directory, WAITING);
  makeDirectory(waiting);
  replaceFile(join(waiting, `${randomUUID()}.json`), JSON.stringify(entries));
}

/**
 * The history of all runs of this user: one line per session. It holds no values, keys or directories.
 *
 * @throws the errors of SQLite and the file system; an error if the file has another version.
 */
export class RunHistory {
  readonly #db: Sqlite;
  readonly #merge: Merge;

  /** Opens the history in the user's state directory, and adds the lines that were left for it. */
  constructor(
    directory: string,
    merge: Merge = (_, told) => told,
    purpose: keyof typeof BUSY_TIMEOUT_MS = 'reading',
  ) {
    makeDirectory(directory);
    this.#merge = merge;
    this.#db = new Sqlite(join(directory, 'runs.db'), {
      synchronous: 'FULL',
      busyTimeoutMs: BUSY_TIMEOUT_MS[purpose],
    });
    try {
      this.#db.transaction(() => prepare(this.#db));
      this.#takeIn(join(directory, WAITING));
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /**
   * Adds the lines in a directory's files, then removes the files. If another process adds the same lines
   * meanwhile, a bill still has one line.
   */
  #takeIn(directory: string): void {
    const files = namesIn(directory).map(name => join(directory, name));
    if (files.length === 0) return;
    this.add(files.flatMap(entriesIn).sort((a, b) => a.endedAt - b.endedAt));
    for (const file of files) removeFile(file);
  }

  /** Adds lines, or merges them with known lines of their bills. With `now`, also deletes old or excess lines. */
  add(entries: readonly HistoryEntry[], now?: number): void {
    this.#db.transaction(() => {
      for (const entry of entries) this.#addOne(entry);
      if (now === undefined) return;
      this.#db
        .prepare(`DELETE FROM run WHERE ended < ? OR id <= (SELECT max(id) FROM run) - ${MOST_LINES}`)
        .run(now - KEPT_MS);
    });
  }

  #addOne({bill, runId, endedAt, job, list, isComplete, line, summary}: HistoryEntry): void {
    const known = this.#db.query(['line'], 'FROM run WHERE bill = ?').get(bill);
    const merged = known === undefined ? line : this.#merge(String(known.line), line);
    this.#db
      .prepare(
        `INSERT INTO run VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (bill) DO UPDATE SET line = excluded.line, complete = max(complete, excluded.complete), summary = coalesce(excluded.summary, summary)`,
      )
      .run(bill, runId, endedAt, job, list, Number(isComplete), merged, summary);
    this.#db
      .prepare(
        `UPDATE run SET summary = NULL WHERE summary IS NOT NULL AND job IS ? AND complete = ? AND id NOT IN
          (SELECT id FROM run WHERE summary IS NOT NULL AND job IS ? AND complete = ? ORDER BY id DESC LIMIT ${SUMMARIES})`,
      )
      .run(job, Number(isComplete), job, Number(isComplete));
  }

  /** Lines of sessions that ended at `since` (milliseconds since the epoch) or later, in the order of adding. */
  lines(since: number): string[] {
    return this.#texts('line', 'FROM run WHERE ended >= ? ORDER BY id', since);
  }

  /** Kept summaries of a job's complete runs, oldest first. */
  summaries(job: string): string[] {
    const from = 'FROM run WHERE job = ? AND complete = 1 AND summary IS NOT NULL ORDER BY id';
    return this.#texts('summary', from, job);
  }

  /** Last kept summary of the run whose identifier begins with `runId`. */
  summaryOf(runId: string): string | undefined {
    const from = 'FROM run WHERE substr(run_id, 1, ?) = ? AND summary IS NOT NULL ORDER BY id DESC LIMIT 1';
    return this.#texts('summary', from, runId.length, runId)[0];
  }

  /** Lines of the last complete run of a list. */
  lastOver(list: string): string[] {
    const last = 'SELECT run_id FROM run WHERE list = ? AND complete = 1 ORDER BY id DESC LIMIT 1';
    return this.#texts('line', `FROM run WHERE run_id = (${last}) ORDER BY id`, list);
  }

  #texts(column: 'line' | 'summary', from: string, ...values: SqlValue[]): string[] {
    const rows = this.#db.query([column], from).all(...values);
    return rows.map(row => String(row[column]));
  }

  close(): void {
    this.#db.close();
  }
}

function namesIn(directory: string): string[] {
  try {
    const entries = readdirSync(directory, {withFileTypes: true});
    return entries.filter(each => each.isFile() && /^[^.].*\.json$/.test(each.name)).map(({name}) => name);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Returns a file's entries; none if another process has removed the file meanwhile, or if the file is damaged. */
function entriesIn(file: string): HistoryEntry[] {
  try {
    return JSON.parse(fileText(file)) as HistoryEntry[];
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || error instanceof SyntaxError) return [];
    throw error;
  }
}

function prepare(db: Sqlite): void {
  const version = db.pragma('user_version');
  if (version === VERSION) return;
  if (version !== 0) throw new Error(`runs.db has version ${version}; this program needs ${VERSION}`);
  db.exec(`
    CREATE TABLE run (
      id INTEGER PRIMARY KEY AUTOINCREMENT, bill TEXT NOT NULL UNIQUE, run_id TEXT NOT NULL, ended INTEGER NOT NULL, job TEXT, list TEXT,
      complete INTEGER NOT NULL, line TEXT NOT NULL, summary TEXT
    );
    CREATE INDEX run_by_job ON run (job, complete);
    CREATE INDEX run_by_list ON run (list);
    CREATE INDEX run_by_id ON run (run_id);
    PRAGMA user_version = ${VERSION};
  `);
}
