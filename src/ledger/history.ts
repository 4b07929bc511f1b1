import {randomUUID} from 'node:crypto';
import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {makeDirectory} from '../disk/directory.ts';
import {fileText} from '../disk/path.ts';
import {removeFile} from '../disk/remove.ts';
import {replaceFile} from '../disk/replace.ts';
import type {SharedDate} from '../disk/shared-date.ts';
import {Sqlite} from '../disk/sqlite.ts';
import {systemCode} from '../errors.ts';

/** Another run may be adding its own line. A run can leave its line instead of waiting; a reader has to wait. */
const BUSY_TIMEOUT_MS = {adding: 250, reading: 5_000} as const;
const DAY_MS = 86_400_000;
/** Lines are kept for a year, and no more than so many. */
const KEPT_MS = 366 * DAY_MS;
const MOST_LINES = 20_000;
/** So many summaries are kept of each job: of those that wrote all rows, and of others. */
const SUMMARIES = 30;
/** Raised whenever the table changes its shape. */
const VERSION = 2;

/** One end of a run, as it is kept. */
export interface HistoryEntry {
  /** The bill that it tells of: told twice, it is one line. */
  readonly bill: string;
  readonly runId: string;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
  readonly job: string | null;
  /** By which a list is known from one run to the next; null where it can't be. */
  readonly list: string | null;
  /** Whether all rows were written. */
  readonly isComplete: boolean;
  /** JSON, as the summary. */
  readonly line: string;
  /** Null for what is told of a session that could not tell itself. */
  readonly summary: string | null;
}

/** What becomes of a line that is there when its bill is told again. */
type Merge = (known: string, told: string) => string;

/** Lines that were left while the history was locked wait here for the process that opens it next. */
const WAITING = 'runs.waiting';

/**
 * Leaves lines for a history that is locked, which has them from then on: durable on return. Throws what the file system
 * has against it.
 */
export function leaveForHistory(directory: string, entries: readonly HistoryEntry[]): void {
  const waiting = join(directory, WAITING);
  makeDirectory(waiting);
  replaceFile(join(waiting, `${randomUUID()}.json`), JSON.stringify(entries));
}

/**
 * What all runs of this user came to, a line for each end of one. In it are no values, no keys and no directories.
 *
 * Throws what SQLite and the file system have against it, and where it is of another version.
 */
export class RunHistory {
  readonly #db: Sqlite;
  readonly #merge: Merge;

  /** `directory` is the user's state directory. Takes in what was left for it. */
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

  /** Lines go from the directory once they are here for good: until then another process may take them in as well. */
  #takeIn(directory: string): void {
    const files = namesIn(directory).map(name => join(directory, name));
    if (files.length === 0) return;
    this.add(files.flatMap(entriesIn).sort((a, b) => a.endedAt - b.endedAt));
    for (const file of files) removeFile(file);
  }

  /** Adds lines, or merges them with those of their bills; with a date, it forgets what is too old. */
  add(entries: readonly HistoryEntry[], date?: SharedDate): void {
    this.#db.transaction(() => {
      for (const entry of entries) this.#addOne(entry);
      if (date === undefined) return;
      this.#db
        .prepare(`DELETE FROM run WHERE ended < ? OR id <= (SELECT max(id) FROM run) - ${MOST_LINES}`)
        .run(date.note(this.#db).certain - KEPT_MS);
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

  /** The lines since a moment (milliseconds since the epoch), the oldest first. */
  lines(since: number): string[] {
    return texts(this.#db.query(['line AS text'], 'FROM run WHERE ended >= ? ORDER BY id').all(since));
  }

  /** The summaries that are kept of a job's complete runs, the oldest first. */
  summaries(job: string): string[] {
    return texts(
      this.#db
        .query(
          ['summary AS text'],
          'FROM run WHERE job = ? AND complete = 1 AND summary IS NOT NULL ORDER BY id',
        )
        .all(job),
    );
  }

  /** The last summary of a run whose identifier begins so, where it is kept. */
  summaryOf(runId: string): string | undefined {
    const row = this.#db
      .query(
        ['summary'],
        'FROM run WHERE substr(run_id, 1, ?) = ? AND summary IS NOT NULL ORDER BY id DESC LIMIT 1',
      )
      .get(runId.length, runId);
    return row === undefined ? undefined : String(row.summary);
  }

  /** The lines of the last complete run over a list. */
  lastOver(list: string): string[] {
    return texts(
      this.#db
        .query(
          ['line AS text'],
          'FROM run WHERE run_id = (SELECT run_id FROM run WHERE list = ? AND complete = 1 ORDER BY id DESC LIMIT 1) ORDER BY id',
        )
        .all(list),
    );
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

/** None where another process has taken them in meanwhile. */
function entriesIn(file: string): HistoryEntry[] {
  try {
    return JSON.parse(fileText(file)) as HistoryEntry[];
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || error instanceof SyntaxError) return [];
    throw error;
  }
}

function texts(rows: readonly Record<string, unknown>[]): string[] {
  return rows.map(({text}) => String(text));
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
