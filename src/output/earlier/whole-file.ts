import {accessSync, readdirSync, rmdirSync, rmSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {lockFiles, takeLock} from '../../disk/lock.ts';
import {writePath} from '../../disk/path.ts';
import {moveAtomically, orThrowUnwritable, unwritableError} from '../../disk/replace.ts';
import {OutputError} from '../../errors.ts';
import {FileSink} from '../sink.ts';

/**
 * Writes a file of any length, either completely or not at all. Until then its text is in `path.run`, like that of a
 * run: after a kill, the next command that writes to `path` removes it.
 *
 * @throws {OutputError} if the file can't be written; {@link LockedError} if a run or another command writes it.
 * Passes errors of `texts` on. After any error, `path` is unchanged.
 */
export async function writeWhole(
  path: string,
  texts: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  const busy = (who: string) => `Another command is writing ${path}: ${who}. Wait for it.`;
  const {directory, lock} = orThrowUnwritable(path, () => {
    const target = writePath(path);
    accessSync(dirname(target));
    const directory = `${target}.run`;
    return {directory, lock: takeLock(directory, {ours: true, busy})};
  });
  const partial = join(directory, 'output.partial');
  try {
    const sink = await FileSink.create(partial);
    try {
      for await (const text of texts) await sink.write(text);
      await sink.flush();
    } finally {
      await sink.close();
    }
    moveAtomically(partial, path);
  } catch (error) {
    // The error names the file that callers know, and not the temporary file.
    throw error instanceof OutputError && error.cause !== undefined
      ? unwritableError(path, error.cause)
      : error;
  } finally {
    rmSync(partial, {force: true});
    if (process.platform === 'win32') lock.release();
    removeUnused(directory);
    if (process.platform !== 'win32') lock.release();
  }
}

/** Removes the directory, unless an unfinished run has its state there. */
function removeUnused(directory: string): void {
  try {
    if (readdirSync(directory).some(name => !(lockFiles as readonly string[]).includes(name))) return;
    for (const name of lockFiles) rmSync(join(directory, name), {force: true});
    rmdirSync(directory);
  } catch {
    // The next command that writes to this path removes it.
  }
}
