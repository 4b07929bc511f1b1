import {rmSync} from 'node:fs';
import {besideOf, moveAtomically, orUnwritable, unwritable} from '../disk/replace.ts';
import {OutputError} from '../errors.ts';
import {FileSink} from './sink.ts';

/**
 * Writes a file of any length, either completely or not at all.
 *
 * @throws {OutputError} if the file can't be written. Passes errors of `texts` on. After any error,
 * `path` is unchanged.
 */
export async function writeWhole(
  path: string,
  texts: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  const beside = orUnwritable(path, () => besideOf(path));
  try {
    const sink = await FileSink.create(beside);
    try {
      for await (const text of texts) await sink.write(text);
      await sink.flush();
    } finally {
      await sink.close();
    }
    moveAtomically(beside, path);
  } catch (error) {
    rmSync(beside, {force: true});
    // The error names the file that callers know, and not the temporary file beside it.
    throw error instanceof OutputError && error.cause !== undefined ? unwritable(path, error.cause) : error;
  }
}
