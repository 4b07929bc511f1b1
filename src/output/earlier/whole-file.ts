import {accessSync, existsSync, readdirSync, rmdirSync, rmSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {lockFiles, takeLock} from '../../disk/lock.ts';
import {identifyFile, isSameFile, resolveWritePath} from '../../disk/path.ts';
import {moveAtomically, orThrowUnwritable, unwritableError} from '../../disk/replace.ts';
import {OutputError, UsageError} from '../../errors.ts';
import type {FileRow} from '../../input/row.ts';
import {compressionOf} from '../../job/file-names.ts';
import {createCsvFormatter} from '../encoder.ts';
import {FileSink} from '../sink.ts';
import type {EnrichedFile} from './enriched-file.ts';

/** @throws {UsageError} if `to` can't be the name of a new file. With `force`, an existing file may be replaced. */
export function checkNewFilePath(to: string | undefined, read: readonly string[], force: boolean): void {
  if (to === undefined) return;
  if (to === '-' || to === '') throw new UsageError('no_file', `-o ${to || "''"}: name a file.`);
  const same = read.find(path => isSameFile(identifyFile(path), identifyFile(to)));
  if (same !== undefined)
    throw new UsageError('same_file', `-o ${to} is ${same}, which is read. Name another file.`);
  if (compressionOf(to) !== undefined)
    throw new UsageError(
      'output_compressed',
      `-o ${to}: this file can't be compressed. Name it without that ending.`,
    );
  if (!force && existsSync(to))
    throw new UsageError('output_exists', `${to} exists. Replace it with --force, or name another with -o.`);
}

/**
 * Writes a file of any length, either completely or not at all. Until then its text is in `path.run`, like that of a
 * run: after a kill, the next command that writes to `path` removes it.
 *
 * @throws {OutputError} if the file can't be written; {@link LockedError} if a run or another command writes it.
 * Passes errors of `texts` on. After any error, `path` is unchanged.
 */
export async function writeWholeFile(
  path: string,
  texts: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  const busy = (who: string) => `Another command is writing ${path}: ${who}. Wait for it.`;
  const {directory, lock} = orThrowUnwritable(path, () => {
    const target = resolveWritePath(path);
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

/**
 * Reads an output, and yields its text with other rows, in the same format. `rewrite`: the fields of a CSV record, or the
 * line of an NDJSON row, to write for a row that was read; undefined for none.
 */
export async function* rewriteOutput(
  {source: {format}, batches}: EnrichedFile,
  header: readonly string[],
  rewrite: (row: FileRow) => readonly string[] | string | undefined,
): AsyncGenerator<string> {
  const {bom, eol} = format;
  const [delimiter, sepLine] =
    format.kind === 'csv' ? [format.delimiter, format.sepLine === true] : [',', false];
  const {line, headOf} = createCsvFormatter({delimiter, eol, bom, sepLine});
  yield headOf(format.kind === 'csv' ? [header] : []);
  for await (const batch of batches()) {
    const rows = batch.map(rewrite).filter(row => row !== undefined);
    yield rows.map(row => (typeof row === 'string' ? row : line(row)) + eol).join('');
  }
}
