import {randomBytes} from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import {dirname, join} from 'node:path';
import {BulkEnrichError, OutputError, systemCode, systemReason} from '../errors.ts';
import {isStreamPath, nonFileKind, resolveWritePath} from './path.ts';
import {writeToPipe} from './pipe.ts';

/*
 * These functions replace a file as a whole, and durably. If the path is a link that resolveWritePath trusts, they
 * replace the link's target. They create a temporary file only if its name is free: so they never follow a link that an
 * attacker put there.
 */

/** @throws {OutputError} if the file at `path` can't be replaced by `text`. `token`: see {@link temporaryPathBeside}. */
export function writeAtomically(path: string, text: string, token?: string): void {
  orThrowUnwritable(path, () => replaceFile(path, text, {beside: temporaryPathBeside(path, token)}));
}

/** @throws {OutputError} if the file at `from` can't be moved to `to`. */
export function moveAtomically(from: string, to: string): void {
  orThrowUnwritable(to, () => {
    prepareReplacement(from, to);
    moveFile(from, to, temporaryPathBeside(to));
  });
}

/** @throws {OutputError} that names `path` if `work` can't write there. Passes a `BulkEnrichError` on. */
export function orThrowUnwritable<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof BulkEnrichError ? error : unwritableError(path, error);
  }
}

export function unwritableError(path: string, cause: unknown): OutputError {
  return new OutputError('output_unwritable', `${path} can't be written (${systemReason(cause)}).`, {cause});
}

/**
 * Writes a file under the name `beside`, then renames it to `path`. Readers see the old file or the new one.
 * `isPrivate`: only its owner can read it.
 */
export function replaceFile(
  path: string,
  text: string,
  {
    beside = temporaryPathBeside(path),
    isPrivate = false,
  }: {readonly beside?: string; readonly isPrivate?: boolean} = {},
): void {
  if (isStreamPath(path)) {
    writeToPipe(path, text);
    return;
  }
  replaceBy(beside, replaceable(path), target =>
    withFile(beside, 'wx', file => {
      writeFileSync(file, text);
      if (!isPrivate) dress(file, target);
      fsyncSync(file);
    }),
  );
}

/** Lets `write` create the file `beside`, then renames it to `target`, durably. If that fails, removes the file. */
function replaceBy(beside: string, target: string, write: (target: string) => void): void {
  rmSync(beside, {force: true});
  try {
    write(target);
    renameSync(beside, target);
  } catch (error) {
    rmSync(beside, {force: true});
    throw error;
  }
  syncDirectory(dirname(target));
}

/**
 * A path for a temporary file beside the real file, whose own name may be as long as the system allows. `token`: the same
 * in each run with a lock, which so removes what the last one left; else no other user can guess the name.
 */
export function temporaryPathBeside(path: string, token = randomBytes(8).toString('hex')): string {
  return join(dirname(resolveWritePath(path)), `.bulk-enrich.${token}`);
}

/**
 * Moves a finished file from `from` to `to`, durably. If they are on different disks, copies it to `beside` first, then
 * renames the copy. `isNew`: true replaces no file. Without hard links, one that appears in the last moment is replaced.
 *
 * @throws an error with the code EEXIST if another file has the name `to` of a new file.
 */
export function moveFile(from: string, to: string, beside: string, isNew = false): void {
  if (isStreamPath(to)) writeToPipe(to, readFileSync(from));
  else {
    const target = replaceable(to);
    if (isNew && linkAs(from, target)) return;
    try {
      renameSync(from, target);
      syncDirectory(dirname(target));
      return;
    } catch (error) {
      if (systemCode(error) !== 'EXDEV') throw error;
    }
    replaceBy(beside, target, () => {
      copyFileSync(from, beside, constants.COPYFILE_EXCL);
      prepareReplacement(beside, target);
    });
  }
  rmSync(from);
}

/** Error codes of a file system that has no hard links, or not between these names. */
const UNLINKABLE = ['EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK', 'EXDEV'];

/** Gives the file a name that no other has, durably, in place of its own. Returns false if it can't have two names. */
function linkAs(from: string, target: string): boolean {
  try {
    linkSync(from, target);
  } catch (error) {
    const isLinkable = !UNLINKABLE.includes(systemCode(error));
    const found = lstatSync(target, {throwIfNoEntry: false});
    // An earlier attempt may have succeeded without an answer, as on NFS.
    const isOwn = found !== undefined && found.ino === lstatSync(from).ino;
    if (!isOwn && (isLinkable || found !== undefined))
      throw isLinkable ? error : Object.assign(new Error(`${target} exists`), {code: 'EEXIST'});
    if (!isOwn) return false;
  }
  syncDirectory(dirname(target));
  rmSync(from);
  return true;
}

/** The real path to replace. Throws if a directory or the like is there, perhaps only since the first check. */
function replaceable(path: string): string {
  const kind = nonFileKind(path);
  if (kind !== undefined) throw new Error(`${path} is ${kind}`);
  return resolveWritePath(path);
}

/** Prepares a file to replace `target`: sets its mode and owner, and makes its content durable. */
export function prepareReplacement(path: string, target: string): void {
  // Opens the file for writing: Windows can't flush a file that is opened for reading only.
  withFile(path, 'r+', file => {
    dress(file, target);
    fsyncSync(file);
  });
}

/**
 * Gives `file` the mode and, if possible, the group of this user's own file at `target`. Another user's file decides
 * nothing: it may have been put there to make the new file readable. Without a file of this user, the umask decides.
 */
function dress(file: number, target: string): void {
  const replaced = lstatSync(target, {throwIfNoEntry: false});
  if (replaced?.isFile() !== true || replaced.uid !== (process.geteuid?.() ?? replaced.uid)) {
    fchmodSync(file, 0o666 & ~process.umask());
    return;
  }
  try {
    fchownSync(file, replaced.uid, replaced.gid);
  } catch {
    // Ignores the error: the user may have left the group.
  }
  fchmodSync(file, replaced.mode & 0o777);
}

/** Error codes of a directory that can't be synced: its file system lacks the call, or it can't be read. */
const UNSYNCABLE = ['EINVAL', 'ENOTSUP', 'EACCES'];

/** Makes the names in a directory durable. Windows has no such call: NTFS keeps renames in its journal. */
export function syncDirectory(path: string, platform = process.platform): void {
  if (platform === 'win32') return;
  try {
    withFile(path, 'r', fsyncSync);
  } catch (error) {
    if (!UNSYNCABLE.includes(systemCode(error))) throw error;
  }
}

function withFile(path: string, flags: string, work: (file: number) => void): void {
  const file = openSync(path, flags, 0o600);
  try {
    work(file);
  } finally {
    closeSync(file);
  }
}
