import {closeSync, constants, existsSync, openSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {hostname} from 'node:os';
import {join} from 'node:path';
import {LockedError, OutputError, systemCode} from '../errors.ts';
import {type Said, say, setting} from '../sentence.ts';
import {makePrivateDirectory, removeDirectory} from './directory.ts';
import {readFileText} from './path.ts';
import {hasLocks, isBusyError, lockDatabase, openDatabase} from './sqlite.ts';

export interface Lock {
  /** The topmost directory that {@link takeLock} created; undefined if the lock's directory existed. */
  readonly made: string | undefined;
  release(): void;
}

export interface LockOptions {
  /** True if the program chose the directory's name. */
  readonly ours: boolean;
  /** Makes the error's message. `who`: the process that has the lock, such as `process 7 on web1, since …`. */
  readonly busy: (who: string) => Said;
}

export const lockFiles = ['holder.json', 'lock.db', 'lock.db-journal'] as const;
const [HOLDER, LOCK] = lockFiles;

/** Attempts to take the lock. A run that ends removes the lock file, which another process may be about to lock. */
const TRIES = 20;

/**
 * Takes the lock in `directory`, which it creates if missing. The lock is SQLite's lock of an empty database: the system
 * releases it if the process is killed.
 *
 * @throws {LockedError} that names the process that has the lock; {@link OutputError} if other users can write to the
 * directory, or its file system has no locks.
 */
export function takeLock(directory: string, {ours, busy}: LockOptions): Lock {
  const path = join(directory, LOCK);
  const inode = () => statSync(path, {throwIfNoEntry: false})?.ino;
  let made: string | undefined;
  for (let attempt = 0; attempt < TRIES; attempt++) {
    made = makePrivateDirectory(directory, ours) ?? made;
    createLockFile(path);
    const before = inode();
    if (before === undefined) continue;
    const db = lockDatabase(path);
    if (db === undefined) {
      if (hasLocks(directory)) break;
      if (made !== undefined) removeDirectory(directory);
      throw new OutputError('no_locks', noLocks(directory));
    }
    try {
      if (inode() === before) {
        writeHolder(directory);
        return {made, release: () => db.close()};
      }
    } catch (error) {
      // The disk is full. It keeps no directory that was made for this lock.
      if (made !== undefined) removeDirectory(directory);
      db.close();
      throw error;
    }
    db.close();
  }
  throw new LockedError(busy(holderOf(directory)));
}

/** Creates the file if it is missing, unless a process removes the directory meanwhile. */
function createLockFile(path: string): void {
  try {
    closeSync(openSync(path, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o600));
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}

/** The sentence on a directory where two runs could write at once. */
export function noLocks(directory: string): Said {
  return say`The file system of ${directory} has no locks (ENOLCK), so a run there can't keep others out. Use a local disk. For a run, it is enough that its state is on one, at the same path for all runs of this output: ${setting('state', 'DIR')}.`;
}

/** A locked file. `remove` removes it and ends the lock. */
export interface HeldFile {
  remove(): void;
}

/**
 * Creates the file if missing, and locks it until this process ends. Undefined if it is locked, also by this process:
 * unlike {@link takeLock}, this never opens the file itself, as to close it would end a lock of this process.
 */
export function holdFile(path: string): HeldFile | undefined {
  const db = lockDatabase(path);
  return (
    db && {
      remove() {
        rmSync(path, {force: true});
        db.close();
      },
    }
  );
}

/** The process that holds the lock in `directory`; undefined if none does, or no lock can be there. Changes nothing. */
export function findLockHolder(directory: string): string | undefined {
  const path = join(directory, LOCK);
  if (!existsSync(path)) return undefined;
  const db = openDatabase(path, {readonly: true});
  try {
    db.pragma('user_version');
    return undefined;
  } catch (error) {
    if (isBusyError(error)) return hasLocks(directory) ? holderOf(directory) : undefined;
    throw error;
  } finally {
    db.close();
  }
}

function writeHolder(directory: string): void {
  const holder = {pid: process.pid, host: hostname(), since: new Date().toISOString()};
  const path = join(directory, HOLDER);
  rmSync(path, {force: true});
  writeFileSync(path, JSON.stringify(holder), {flag: 'wx', mode: 0o600});
}

function holderOf(directory: string): string {
  try {
    const {pid, host, since} = JSON.parse(readFileText(join(directory, HOLDER))) as Record<string, unknown>;
    return `process ${pid} on ${host}, since ${since}`;
  } catch {
    // While the holder starts or ends, the file with its process and host may be missing or incomplete.
    return 'another process';
  }
}
