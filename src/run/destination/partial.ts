import {createHash} from 'node:crypto';
import {existsSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {digestFiles, type FileDigest} from '../../disk/digest.ts';
import {isStream, realPath} from '../../disk/path.ts';
import {besideOf, orUnwritable} from '../../disk/replace.ts';

/** Where a run's files are until they are published, and where those beside the output go. */
export interface RunFiles {
  /** Where the ledger and the record of the publishing are. */
  readonly directory: string;
  /** The state's and, where that is another, the output's own. */
  readonly locked: readonly {readonly path: string}[];
  readonly written: WrittenPaths;
}

/** Where a run's files really are, by the paths that the job names: nothing that is read from a disk says it. */
export interface WrittenPaths {
  readonly rejects: string | undefined;
  readonly summary: string | undefined;
}

/** The files that are written until they are published; `packed` is the output once more, compressed. */
export const partialNames = ['output', 'packed', 'rejects'] as const;

export type PartialName = (typeof partialNames)[number];

/**
 * Where a file is until it is published: in the state's directory where it can be renamed from there into its place,
 * else in the output's own, where a run with another state may have left one too. (Two mounts of one file system have
 * the same device, and still nothing can be renamed.)
 */
export function partialPath({directory, locked}: RunFiles, name: PartialName, target: string): string {
  const near = join(directory, `${name}.partial`);
  const [first] = locked;
  if (first === undefined || first.path === directory || existsSync(near)) return near;
  const apart = join(first.path, partialApart(name, directory));
  return !existsSync(apart) && canRename(directory, target) ? near : apart;
}

/** The name of such a file in the output's own directory: of this state's alone. */
export function partialApart(name: PartialName, directory: string): string {
  return `${name}.${createHash('sha256').update(resolve(directory)).digest('hex').slice(0, 16)}.partial`;
}

/** Tried out whether it can be renamed. */
export const PROBE = 'probe';

function canRename(directory: string, target: string): boolean {
  const to = besideOf(target);
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

/** What was rejected; null where nothing was. */
export async function digestRejects(files: RunFiles): Promise<FileDigest | null> {
  const {rejects} = files.written;
  const path = rejects === undefined ? undefined : partialPath(files, 'rejects', rejects);
  return path !== undefined && existsSync(path) ? await digestFiles([path]) : null;
}

/** What a path to be written really is; what a stream's links lead to has no name. Throws OutputError. */
export function writablePath(path: string): string {
  return orUnwritable(path, () => (isStream(path) ? path : realPath(path)));
}
