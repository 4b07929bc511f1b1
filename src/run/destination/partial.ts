import {createHash} from 'node:crypto';
import {existsSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {digestFiles, type FileDigest} from '../../disk/digest.ts';
import {writePath} from '../../disk/path.ts';
import {besideOf, orUnwritable} from '../../disk/replace.ts';
import type {Job} from '../../job/job.ts';

/** Places of a run's files until they are published. */
export interface RunFiles {
  /** Directory of the ledger and of the record of the publishing. */
  readonly directory: string;
  /**
   * The directories that the run has locked: the output's own (if the state is elsewhere), then the state's. Empty
   * for a temporary state.
   */
  readonly locked: readonly {readonly path: string}[];
  readonly written: WrittenPaths;
}

/** The real paths of a run's files, found from the job's paths and never from saved data. */
export interface WrittenPaths {
  readonly rejects: string | undefined;
  readonly summary: string | undefined;
}

/** Names of the files until they are published. `packed` is the compressed output. */
export const partialNames = ['output', 'packed', 'rejects'] as const;

export type PartialName = (typeof partialNames)[number];

/**
 * Path of a file until it is published. The file is in the state's directory if it can be renamed from there to
 * `target`, else in the output's own directory under a name unique to this state. Only a trial shows if a rename
 * works: two mounts of one file system have the same device, but no rename works between them.
 */
export function partialPath({directory, locked}: RunFiles, name: PartialName, target: string): string {
  const near = join(directory, `${name}.partial`);
  const [first] = locked;
  if (first === undefined || first.path === directory || existsSync(near)) return near;
  const apart = join(first.path, partialApart(name, directory));
  return !existsSync(apart) && canRename(directory, target) ? near : apart;
}

/** Name of an unpublished file in the output's own directory, unique to the state in `directory`. */
export function partialApart(name: PartialName, directory: string): string {
  return `${name}.${tokenOf(directory)}.partial`;
}

/** Part of the names of temporary files outside of the state's directory, unique to it: see {@link besideOf}. */
export function tokenOf(directory: string): string {
  return createHash('sha256').update(resolve(directory)).digest('hex').slice(0, 16);
}

/** The same for the job's state; undefined for a job without one. */
export function stateToken({paths: {state}}: Job): string | undefined {
  return state === undefined ? undefined : tokenOf(state);
}

/** Name of an empty file. The run renames it, to find out if a rename works. */
export const PROBE = 'probe';

function canRename(directory: string, target: string): boolean {
  const to = besideOf(target, tokenOf(directory));
  const from = join(directory, PROBE);
  rmSync(from, {force: true});
  try {
    writeFileSync(from, '', {flag: 'wx', mode: 0o600});
    renameSync(from, to);
    return true;
  } catch {
    return false;
  } finally {
    for (const path of [from, to]) rmSync(path, {force: true});
  }
}

/** Digest of the rejects; null if there are none. */
export async function digestRejects(files: RunFiles): Promise<FileDigest | null> {
  const {rejects} = files.written;
  const path = rejects === undefined ? undefined : partialPath(files, 'rejects', rejects);
  return path !== undefined && existsSync(path) ? await digestFiles([path]) : null;
}

/** @throws {OutputError | UsageError} like {@link writePath}. */
export function writablePath(path: string): string {
  return orUnwritable(path, () => writePath(path));
}
