import {mkdtempSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {OutputError, systemReason} from '../errors.ts';
import {removeDirectory} from './remove.ts';

export interface TemporaryDirectory {
  readonly path: string;
  /** Removes it with all that is in it; may be called again. */
  remove(): void;
}

/**
 * Makes a directory for what is needed only for a while; removing it is the caller's. Where the process ends before
 * that, it goes too.
 *
 * @throws {OutputError}
 */
export function temporaryDirectory(): TemporaryDirectory {
  const path = made();
  const remove = () => {
    process.off('exit', remove);
    removeDirectory(path);
  };
  process.once('exit', remove);
  return {path, remove};
}

function made(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'bulk-enrich-'));
  } catch (error) {
    throw new OutputError(
      'temporary_unwritable',
      `The directory for temporary files, ${tmpdir()}, can't be written (${systemReason(error)}). Set TMPDIR to a writable directory.`,
      {cause: error},
    );
  }
}
