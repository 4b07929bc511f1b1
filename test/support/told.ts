import {readFileSync} from 'node:fs';
import {UsageError} from '../../src/errors.ts';

/**
 * The cases of a file of lines "case => what is said of it", in parts with an empty line between them. The test compares
 * what it says of them with the file; -u writes that, and for a new case the line needs no more than the case.
 */
export function casesOf(path: string): (readonly string[])[] {
  const parts = readFileSync(path, 'utf8').trim().split('\n\n');
  return parts.map(part => part.split('\n').map(line => line.split(' => ')[0] ?? ''));
}

/** What the usage error says that this ends with. */
export function complaintOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return 'no complaint';
}
