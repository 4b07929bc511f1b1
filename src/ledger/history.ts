import {join} from 'node:path';
import {makeDirectory} from '../disk/directory.ts';
import type {SharedDate} from './shared-date.ts';
import {Sqlite} from './sqlite.ts';

/** Another run may be adding its own line. */
const BUSY_TIMEOUT_MS = 5_000;
const DAY_MS = 86_400_000;
/** Lines are kept for a year, and no more than so many. */
const KEPT_MS = 366 * DAY_MS;
const MOST_LINES = 20_000;
/** So many summaries are kept of each job: of those that wrote all rows, and of others. */
const SUMMARIES = 30;
/** Raised whenever the table changes its shape. */
const VERSION = 1;

/** One end of a run, as it is kept. */
export interface HistoryEntry {
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
  readonly summary: string;
}

/**
 * What all runs of this user came to, a line for each end of one. In it are no values, no keys and no directories.
 *
 * Throws what SQLite and the file system have against it, and where it is of another version.
 */
export class RunHistory {
  readonly #db: Sqlite;

  /** `directory` is the user's state directory. */
  constructor(directory: string) {
    makeDirectory(directory);
    this.#db = new Sqlite(join(directory, 'runs.db'), {
      synchronous: 'NORMAL',
      busyTimeoutMs: BUSY_TIMEOUT_MS,
    });
    try {
      this.#db.transaction(() => prepare(this.#db));
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /** Adds a line, if it is not there yet, and forgets what is too old. */
  add({runId, endedAt, job, list, isComplete, line, summary}: HistoryEntry, date: SharedDate): void {
    this.#db.transaction(() => {
      const {certain} = date.note(this.#db);
      this.#db
        .prepare('INSERT OR IGNORE INTO run VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)')
        .run(runId, endedAt, job, list, Number(isComplete), line, summary);
      this.#db
        .prepare(
          `UPDATE run SET summary = NULL WHERE summary IS NOT NULL AND job IS ? AND complete = ? AND id NOT IN
          (SELECT id FROM run WHERE summary IS NOT NULL AND job IS ? AND complete = ? ORDER BY id DESC LIMIT ${SUMMARIES})`,
        )
        .run(job, Number(isComplete), job, Number(isComplete));
      this.#db
        .prepare(`DELETE FROM run WHERE ended < ? OR id <= (SELECT max(id) FROM run) - ${MOST_LINES}`)
        .run(certain - KEPT_MS);
    });
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

function texts(rows: readonly Record<string, unknown>[]): string[] {
  return rows.map(({text}) => String(text));
}

function prepare(db: Sqlite): void {
  const version = db.pragma('user_version');
  if (version === VERSION) return;
  if (version > VERSION) throw new Error(`runs.db is of version ${version}, this program's is ${VERSION}`);
  db.exec(`
    CREATE TABLE run (
      id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, ended INTEGER NOT NULL, job TEXT, list TEXT,
      complete INTEGER NOT NULL, line TEXT NOT NULL, summary TEXT
    );
    CREATE INDEX run_by_job ON run (job, complete);
    CREATE INDEX run_by_list ON run (list);
    CREATE UNIQUE INDEX run_by_id ON run (run_id, ended);
    PRAGMA user_version = ${VERSION};
  `);
}
