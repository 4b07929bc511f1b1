import {spawnSync} from 'node:child_process';
import {accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

/** Linux keeps what is here in memory. */
const MEMORY = '/dev/shm';
/** Bytes that have to be free there; the tests use a tenth of it. */
const NEEDED = 4 * 2 ** 30;

/**
 * Puts the tests' temporary files in memory, where there is room: they wait for the disk at each fsync otherwise. What
 * a real disk does is held by the soaks, which stay there, and by tests that mount file systems of their own.
 */
export function setup(): () => void {
  const directory = inMemory();
  if (directory === undefined) return () => {};
  process.env.TMPDIR = directory;
  return () => rmSync(directory, {recursive: true, force: true});
}

/** A directory that all users may enter, as /tmp; undefined where there is no room or programs can't be run there. */
function inMemory(): string | undefined {
  if (process.env.TMPDIR !== undefined || !isRoomy()) return undefined;
  const directory = mkdtempSync(join(MEMORY, 'bulk-enrich-'));
  chmodSync(directory, 0o1777);
  const program = join(directory, 'program');
  writeFileSync(program, '#!/bin/sh\n', {mode: 0o755});
  if (spawnSync(program).status === 0) return directory;
  rmSync(directory, {recursive: true});
  return undefined;
}

function isRoomy(): boolean {
  try {
    accessSync(MEMORY, constants.W_OK);
    const {bavail, bsize} = statfsSync(MEMORY);
    return bavail * bsize >= NEEDED;
  } catch {
    return false;
  }
}
