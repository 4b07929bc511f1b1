import {createHash} from 'node:crypto';
import {existsSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {digestFiles, type FileDigest} from '../../disk/digest.ts';
import {writePath} from '../../disk/path.ts';
import {orUnwritable} from '../../disk/replace.ts';
import type {Job} from '../../job/job.ts';

/** Places of a run's files until they are published. */
export interface RunFiles {
  /** Directory of the ledger and of the record of the publishing. */
  readonly directory: string;
  /** Directory of the unpublished files: beside the output, so that each can be renamed; else the state's. */
  readonly partials: string;
  readonly written: WrittenPaths;
}

/** The real paths of a run's files, found from the job's paths and never from saved data. */
export interface WrittenPaths {
  readonly rejects: string | undefined;
  readonly summary: string | undefined;
}

/** The unpublished files. `packed` is the compressed output. */
export type PartialName = 'output' | 'packed' | 'rejects';

export const partialFiles = ['output.partial', 'packed.partial', 'rejects.partial'];

/** Path of a file until it is published. */
export function partialPath({partials}: Pick<RunFiles, 'partials'>, name: PartialName): string {
  return join(partials, `${name}.partial`);
}

/** Part of the names of temporary files outside of the state's directory, unique to it: see `besideOf`. */
export function tokenOf(directory: string): string {
  return createHash('sha256').update(resolve(directory)).digest('hex').slice(0, 16);
}

/** The same for the job's state; undefined for a job without one. */
export function stateToken({paths: {state}}: Job): string | undefined {
  return state === undefined ? undefined : tokenOf(state);
}

/** Digest of the rejects; null if there are none. */
export async function digestRejects(files: RunFiles): Promise<FileDigest | null> {
  const path = partialPath(files, 'rejects');
  return files.written.rejects !== undefined && existsSync(path) ? await digestFiles([path]) : null;
}

/** @throws {OutputError | UsageError} like {@link writePath}. */
export function writablePath(path: string): string {
  return orUnwritable(path, () => writePath(path));
}
