import {existsSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {digestFiles, type FileDigest} from '../../disk/digest.ts';
import {isStream, realPath} from '../../disk/path.ts';
import {besideOf, orUnwritable} from '../../disk/replace.ts';

/** Where a run's files are until they are published, and where those beside the output go. */
export interface RunFiles {
  /** Where the ledger and the record of the publishing are. */
  readonly directory: string;
  /** The state's and, where that is another, the output's own. */
  readonly held: readonly {readonly path: string}[];
  readonly places: Places;
}

/** Where a run's files really are, by the paths that the job names: nothing that is read from a disk says it. */
export interface Places {
  readonly rejects: string | undefined;
  readonly summary: string | undefined;
}

/** The files that are written until they are published; `packed` is the output once more, compressed. */
export type PartialName = 'output' | 'packed' | 'rejects';

/**
 * Where a file is until it is published: in the state's directory where it can be renamed from there into its place,
 * else in the output's own. (Two mounts of one file system have the same device, and still nothing can be renamed.)
 */
export function partialPath({directory, held}: RunFiles, name: PartialName, target: string): string {
  const file = `${name}.partial`;
  const found = held.map(({path}) => join(path, file)).find(path => existsSync(path));
  if (found !== undefined) return found;
  const [first] = held;
  const near = first === undefined || first.path === directory || canRename(directory, target);
  return join(near ? directory : first.path, file);
}

function canRename(directory: string, target: string): boolean {
  const to = besideOf(target);
  const from = join(directory, 'probe');
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
  const {rejects} = files.places;
  const path = rejects === undefined ? undefined : partialPath(files, 'rejects', rejects);
  return path !== undefined && existsSync(path) ? await digestFiles([path]) : null;
}

/** What a path to be written really is; what a stream's links lead to has no name. Throws OutputError. */
export function writablePath(path: string): string {
  return orUnwritable(path, () => (isStream(path) ? path : realPath(path)));
}
