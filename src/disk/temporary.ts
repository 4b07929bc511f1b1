import {mkdtempSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {isDiskError, OutputError, systemReason} from '../errors.ts';
import {removeDirectory} from './directory.ts';
import {Sqlite} from './sqlite.ts';

export interface TemporaryDirectory {
  readonly path: string;
  /** Removes the directory with its content. A second call does nothing. */
  remove(): void;
}

/**
 * Creates a directory for short-lived files, in `instead` if that for temporary files can't be written. It is removed
 * when the process exits at the latest.
 *
 * @throws {OutputError} if the directory can't be created.
 */
export function temporaryDirectory(instead?: string): TemporaryDirectory {
  const newIn = (directory: string) => mkdtempSync(join(directory, 'bulk-enrich-'));
  let path: string;
  try {
    path = newIn(tmpdir());
  } catch {
    path = orThrowTemporaryUnwritable(() => newIn(instead ?? tmpdir()));
  }
  if (left.size === 0) process.once('exit', removeAll);
  left.add(path);
  const remove = () => {
    left.delete(path);
    if (left.size === 0) process.off('exit', removeAll);
    removeDirectory(path);
  };
  return {path, remove};
}

/** Directories that are not removed yet, of all runs. They share one listener: Node.js warns of a leak above ten. */
const left = new Set<string>();

function removeAll(): void {
  for (const path of left) removeDirectory(path);
}

/** @throws {OutputError} `temporary_unwritable` if `work` fails because of the disk. Other errors pass unchanged. */
export function orThrowTemporaryUnwritable<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!isDiskError(error)) throw error;
    throw new OutputError(
      'temporary_unwritable',
      `The directory for temporary files, ${tmpdir()}, can't be written (${systemReason(error)}). Set TMPDIR to a writable directory with enough space.`,
      {cause: error},
    );
  }
}

/**
 * Opens a new database of this process alone, in a temporary directory (see {@link temporaryDirectory}). A kill leaves
 * nothing of it, except on Windows.
 *
 * @throws {OutputError} if the directory can't be written.
 */
export function openTemporaryDatabase(schema: string, instead?: string): Sqlite {
  return orThrowTemporaryUnwritable(() => {
    const {path, remove} = temporaryDirectory(instead);
    const options = {
      format: {schema, version: 1},
      synchronous: 'OFF',
      exclusive: true,
      busyTimeoutMs: 0,
    } as const;
    const db = new Sqlite(join(path, 'rows.db'), options, remove);
    // For large sorts: memory stays flat.
    db.pragma('temp_store = FILE');
    // An open file needs no name, except on Windows.
    if (process.platform !== 'win32') remove();
    return db;
  });
}
