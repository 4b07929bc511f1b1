import {accessSync, constants, existsSync, mkdirSync, statSync} from 'node:fs';
import {dirname, resolve} from 'node:path';

/**
 * Makes a directory that only its owner can read, and those above it; returns the topmost that was not there before.
 *
 * @throws what is really in the way: Node says ENOENT of a directory to be made on a file system that can only be read.
 */
export function makeDirectory(path: string): string | undefined {
  try {
    return mkdirSync(path, {recursive: true, mode: 0o700});
  } catch (error) {
    checkWritable(path);
    throw error;
  }
}

/** Nothing is made. Throws the system's error where the path, or the nearest above it that is there, can't be written. */
export function checkWritable(path: string): void {
  const place = existingPart(path);
  if (!statSync(place).isDirectory()) {
    if (place !== resolve(path))
      throw Object.assign(new Error(`${place} is no directory`), {code: 'ENOTDIR'});
    accessSync(place, constants.W_OK);
  } else accessSync(place, constants.W_OK | constants.X_OK);
}

/** The path itself, or the nearest directory above it that is there. */
export function existingPart(path: string): string {
  const full = resolve(path);
  return existsSync(full) || full === dirname(full) ? full : existingPart(dirname(full));
}
