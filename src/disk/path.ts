import {
  closeSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import {basename, dirname, isAbsolute, join, resolve} from 'node:path';
import {UsageError} from '../errors.ts';

/** Undefined if the entry is missing or can't be read. */
function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path, {throwIfNoEntry: false});
  } catch {
    return undefined;
  }
}

/**
 * True for a device such as `/dev/null`, or a pipe or socket that this process was started with, such as
 * `/dev/stdout` and `/dev/fd/3`. Bytes written there can't be read back, and nothing may replace the path.
 */
export function isStreamPath(path: string): boolean {
  const status = statusOf(path);
  if (status?.isCharacterDevice() === true) return true;
  return (status?.isFIFO() === true || status?.isSocket() === true) && isOwnStream(resolve(path));
}

/** True for a pipe, which can be read only once. */
export function isPipe(path: string): boolean {
  return statusOf(path)?.isFIFO() === true;
}

/** The kind of an entry that must not be replaced. Undefined for a file, a missing entry or an `isStreamPath` path. */
export function nonFileKind(
  path: string,
): 'a directory' | 'a named pipe' | 'a socket' | 'a disk' | undefined {
  const status = isStreamPath(path) ? undefined : statusOf(path);
  if (status?.isDirectory()) return 'a directory';
  if (status?.isFIFO()) return 'a named pipe';
  if (status?.isSocket()) return 'a socket';
  return status?.isBlockDevice() ? 'a disk' : undefined;
}

/** The system's names for pipes and sockets that a process was started with. */
const OWN_STREAM = /^\/(dev\/(stdin|stdout|stderr|fd\/\d+)|proc\/(self|\d+)\/fd\/\d+)$/;

function isOwnStream(path: string, links = MOST_LINKS): boolean {
  if (OWN_STREAM.test(path)) return true;
  const target = linkTarget(path);
  return target !== undefined && links > 0 && isOwnStream(resolve(dirname(path), target), links - 1);
}

export function isLink(path: string): boolean {
  return linkTarget(path) !== undefined;
}

/** Text of a file; undefined if it is missing, or a pipe or device: to read these might never end. */
export function readIfFile(path: string): string | undefined {
  return statSync(path, {throwIfNoEntry: false})?.isFile() ? readFileSync(path, 'utf8') : undefined;
}

/**
 * The first bytes of a file, at most `most`: a device such as /dev/zero has no end.
 *
 * @throws the system's error.
 */
export function readFirstBytes(path: string, most: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(most);
    return bytes.subarray(0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}

/** Throws for a directory, a pipe, a socket or a disk. Opening a pipe would wait for the pipe's other end. */
export function refuseNotFile(path: string): void {
  const kind = isPipe(path) ? 'a named pipe' : nonFileKind(path);
  if (kind !== undefined) throw new Error(`it is ${kind}, not a file`);
}

/** Maximum size of a file that is read as a whole, such as a list of a rule. */
const LARGEST_TEXT = 2 ** 28;

/**
 * Text of a file. `isOnce`: a pipe will do, since the text is not read again.
 *
 * @throws the system's error, an error that names the kind of another entry, or one for more than 256 MiB.
 */
export function readFileText(path: string, isOnce = false): string {
  if (isOnce && isPipe(path)) return readFileSync(path, 'utf8');
  refuseNotFile(path);
  const status = statSync(path);
  if (!status.isFile()) throw new Error('it is a device, not a file');
  if (status.size > LARGEST_TEXT) throw new Error('it is larger than 256 MiB');
  return readFileSync(path, 'utf8');
}

/** Maximum number of links in a row, as in Linux. */
const MOST_LINKS = 40;

/**
 * The real path behind `path`, in the system's spelling. Follows every link, even to a file that does not exist yet;
 * `link/..` is the parent of the link's target.
 *
 * @throws the system's error if the system can't follow a part of the path.
 */
export function realPath(path: string, links = MOST_LINKS): string {
  // A short run asks for many files that do not exist yet, and exceptions take time.
  if (lstatSync(path, {throwIfNoEntry: false}) !== undefined) {
    try {
      return realpathSync.native(path);
    } catch (error) {
      if (links === 0 || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    const target = linkTarget(path);
    if (target !== undefined)
      return realPath(isAbsolute(target) ? target : `${dirname(path)}/${target}`, links - 1);
  }
  const parent = dirname(path);
  return parent === path ? resolve(path) : join(realPath(parent, links), basename(path));
}

/**
 * The real path of a file to write. A stream's path is returned unchanged: its links may lead to a nameless pipe.
 *
 * @throws {UsageError} for a link that other users could have made or replaced, so that it may be a trap; the
 * system's error if the system can't follow a part of the path.
 */
export function resolveWritePath(path: string): string {
  if (isStreamPath(path)) return path;
  let at = path;
  for (let links = MOST_LINKS; links > 0; links--) {
    const target = linkTarget(at);
    if (target === undefined) break;
    if (!isTrusted(at))
      throw new UsageError(
        'foreign_link',
        `${at} is a symbolic link that another user made or could replace. Give the path of the file that it points to.`,
      );
    at = isAbsolute(target) ? target : `${dirname(at)}/${target}`;
  }
  return realPath(path);
}

/** True for a link of this user or root, in a directory to which no other user may write. */
function isTrusted(link: string): boolean {
  const user = process.geteuid?.();
  if (user === undefined) return true;
  const directory = statSync(dirname(link));
  return (
    [lstatSync(link), directory].every(({uid}) => uid === user || uid === 0) && !isSharedDirectory(directory)
  );
}

/** True if other users may write to a directory. */
export function isSharedDirectory({mode}: Stats): boolean {
  return (mode & 0o022) !== 0;
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path, {throwIfNoEntry: false})?.isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}

/** A file that may not exist yet, for {@link isSameFile}. */
export interface FileId {
  readonly path: string;
  /** Device and inode; undefined if nothing exists there. */
  readonly node: string | undefined;
}

export function identifyFile(path: string): FileId {
  try {
    const found = statSync(path, {throwIfNoEntry: false, bigint: true});
    return {path: realPath(path), node: found && `${found.dev}:${found.ino}`};
  } catch {
    // Ignores the error: the attempt to open the file reports it.
    return {path: resolve(path), node: undefined};
  }
}

/**
 * True if two paths lead to the same file, through any links, mounts or spellings. Of files to come, ignores case and
 * Unicode form: some file systems would make one file of both.
 */
export function isSameFile(a: FileId, b: FileId): boolean {
  if (a.node !== undefined || b.node !== undefined) return a.node === b.node;
  return folded(a.path) === folded(b.path);
}

function folded(path: string): string {
  return path.normalize('NFC').toLowerCase();
}
