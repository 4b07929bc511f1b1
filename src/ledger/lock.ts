import {closeSync, openSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {hostname} from 'node:os';
import {join} from 'node:path';
import Database from 'libsql';
import {LockedError, systemCode} from '../job/errors.ts';
import {makeDirectory} from './directory.ts';
import {isBusy} from './sqlite.ts';

export interface RunLock {
  release(): void;
}

interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly since: string;
}

/** A finished run removes its state, lock file included, which another may be about to lock: then it looks again. */
const TRIES = 20;

/**
 * Takes the lock in `directory`, which is made with mode 0700 where it is missing. The lock is SQLite's own on an empty
 * database, so the operating system lets go of it when its holder dies, however that happens.
 *
 * @throws {LockedError} naming the holder, when another run has it.
 */
export function takeLock(directory: string): RunLock {
  const path = join(directory, 'lock.db');
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const inode = makeFile(directory, path);
    if (inode === undefined) continue;
    const db = new Database(path);
    try {
      db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    } catch (error) {
      db.close();
      if (isBusy(error)) throw new LockedError(heldBy(directory), {cause: error});
      throw error;
    }
    if (inodeOf(path) === inode) {
      writeFileSync(join(directory, 'holder.json'), JSON.stringify(holder()), {mode: 0o600});
      return {release: () => db.close()};
    }
    db.close();
  }
  throw new LockedError(heldBy(directory));
}

/** The inode of the lock's file; undefined where another run has just removed its directory. */
function makeFile(directory: string, path: string): number | undefined {
  makeDirectory(directory);
  try {
    closeSync(openSync(path, 'a', 0o600));
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
  return inodeOf(path);
}

function inodeOf(path: string): number | undefined {
  return statSync(path, {throwIfNoEntry: false})?.ino;
}

function holder(): Holder {
  return {pid: process.pid, host: hostname(), since: new Date().toISOString()};
}

function heldBy(directory: string): string {
  let who = 'another process';
  try {
    const {pid, host, since} = JSON.parse(readFileSync(join(directory, 'holder.json'), 'utf8')) as Holder;
    who = `process ${pid} on ${host}, since ${since}`;
  } catch {
    // The holder is just starting, or just ending.
  }
  return `Another run is writing this output: ${who}. Nothing was sent. Wait for it, or give this run an output of its own.`;
}
