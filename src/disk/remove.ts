import {readdirSync, rmSync, truncateSync} from 'node:fs';
import {join} from 'node:path';

/**
 * Removes a file that this program has closed. Windows removes no file that is open, and the database's driver keeps a
 * closed one open until its statements are garbage: there, nothing is left in it, and whoever comes next removes it.
 */
export function removeFile(path: string): void {
  try {
    rmSync(path, {force: true});
  } catch (error) {
    if (process.platform !== 'win32') throw error;
    truncateSync(path);
  }
}

/** Removes a directory with all that is in it, likewise. */
export function removeDirectory(path: string): void {
  try {
    rmSync(path, {recursive: true, force: true});
  } catch (error) {
    if (process.platform !== 'win32') throw error;
    for (const entry of readdirSync(path, {recursive: true, withFileTypes: true}))
      if (entry.isFile()) removeFile(join(entry.parentPath, entry.name));
  }
}
