import {readdirSync, rmSync, truncateSync} from 'node:fs';
import {join} from 'node:path';

/**
 * Removes a file that this program has closed. On Windows, an open file can't be removed, and SQLite's driver
 * keeps a closed file open until the garbage collector frees its statements. Such a file is emptied, and the
 * next run removes it.
 */
export function removeFile(path: string): void {
  remove(path, () => truncateSync(path));
}

/** Removes a directory with its content. On Windows, empties the files that can't be removed. */
export function removeDirectory(path: string): void {
  remove(path, () => {
    for (const entry of readdirSync(path, {recursive: true, withFileTypes: true}))
      if (entry.isFile()) removeFile(join(entry.parentPath, entry.name));
  });
}

function remove(path: string, orOnWindows: () => void): void {
  try {
    rmSync(path, {recursive: true, force: true});
  } catch (error) {
    if (process.platform !== 'win32') throw error;
    orOnWindows();
  }
}
