import {mkdtempSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {isOfDisk, OutputError, systemReason} from '../errors.ts';
import {removeDirectory} from './remove.ts';

export interface TemporaryDirectory {
  readonly path: string;
  /** Removes the directory with its content. A second call does nothing. */
  remove(): void;
}

/**
 * Creates a directory for short-lived files. It is removed when the process exits, if the caller has not
 * done so before.
 *
 * @throws {OutputError} if the directory can't be created.
 */
export function temporaryDirectory(): TemporaryDirectory {
  const path = inTemporary(() => mkdtempSync(join(tmpdir(), 'bulk-enrich-')));
  const remove = () => {
    process.off('exit', remove);
    removeDirectory(path);
  };
  process.once('exit', remove);
  return {path, remove};
}

/**
 * Runs `work`, which writes to a temporary directory.
 *
 * @throws {OutputError} `temporary_unwritable` if `work` fails because of the disk. Other errors pass unchanged.
 */
export function inTemporary<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!isOfDisk(error)) throw error;
    throw new OutputError(
      'temporary_unwritable',
      `The directory for temporary files, ${tmpdir()}, can't be written (${systemReason(error)}). Set TMPDIR to a writable directory with enough space.`,
      {cause: error},
    );
  }
}
