import {accessSync, readdirSync, rmdirSync, rmSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {lockFiles, takeLock} from '../../disk/lock.ts';
import {resolveWritePath} from '../../disk/path.ts';
import {moveAtomically, orThrowUnwritable, unwritableError} from '../../disk/replace.ts';
import {OutputError} from '../../errors.ts';
import type {FileRow} from '../../input/row.ts';
import {createCsvFormatter} from '../encoder.ts';
import {FileSink} from '../sink.ts';
import type {EnrichedFile} from './enriched-file.ts';

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

/** How to write an output with other rows: as CSV fields under `header`, or as NDJSON lines. */
interface Rewriting<One> {
  readonly header: readonly string[];
  /** The rows to write for rows that were read. */
  rowsFor(rows: readonly FileRow[]): readonly One[];
  fieldsOf(one: One): readonly string[];
  lineOf(one: One): string;
}

/** Reads an output, and yields its text with other rows, in the same format. */
export async function* rewriteOutput<One>(
  file: EnrichedFile,
  {header, rowsFor, fieldsOf, lineOf}: Rewriting<One>,
): AsyncGenerator<string> {
  const {format} = file.source;
  const csv =
    format.kind === 'csv' ? createCsvFormatter({...format, sepLine: format.sepLine === true}) : undefined;
  yield csv?.headOf([header]) ?? (format.bom ? '\uFEFF' : '');
  for await (const batch of file.batches()) {
    const rows = rowsFor(batch);
    const textOf = (one: One) => csv?.line(fieldsOf(one)) ?? lineOf(one);
    yield rows.map(one => textOf(one) + format.eol).join('');
  }
}

/** The first `end` fields of a CSV row, or all without `end`; empty for NDJSON. */
export function fieldsOfCsvRow(row: FileRow, end?: number): readonly string[] {
  return row.type === 'csv' ? row.fields.slice(0, end) : [];
}

/** An NDJSON row's line without blanks around it; empty for CSV. */
export function rawJsonOfRow(row: FileRow): string {
  return row.type === 'ndjson' ? row.raw.trim() : '';
}
