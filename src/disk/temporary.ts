import {mkdtempSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {OutputError, systemReason} from '../errors.ts';

/**
 * Makes a directory for what a command needs only while it runs; removing it is the caller's.
 *
 * @throws {OutputError}
 */
export function temporaryDirectory(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'bulk-enrich-'));
  } catch (error) {
    throw new OutputError(
      'temporary_unwritable',
      `The directory for temporary files, ${tmpdir()}, can't be written (${systemReason(error)}). Set TMPDIR to one that can.`,
      {cause: error},
    );
  }
}
