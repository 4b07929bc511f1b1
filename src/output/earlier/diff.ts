import {existsSync} from 'node:fs';
import {identifyFile, isSameFile} from '../../disk/path.ts';
import {UsageError} from '../../errors.ts';
import {InputError} from '../../input/input-error.ts';
import type {TextRow} from '../../input/row.ts';
import {compressionOf} from '../../job/file-names.ts';
import type {Changes} from '../../report/changes.ts';
import {type Comparison, compareFiles} from './compare.ts';
import {type EnrichedFile, openEnrichedFile} from './enriched-file.ts';
import {csvFields, ndjsonLine, rewriteTexts, writeWholeFile} from './whole-file.ts';

/** Two outputs to compare, and the file for new and changed rows. */
export interface Diff {
  readonly old: string;
  readonly new: string;
  readonly key?: readonly string[] | undefined;
  readonly to?: string | undefined;
}

/**
 * Compares two outputs.
 *
 * @throws as {@link openEnrichedFile} and {@link compareFiles}; {@link OutputError}.
 */
export async function diffOutputs({old, new: fresh, key, to}: Diff): Promise<Changes> {
  const before = await openEnrichedFile(old);
  try {
    const after = await openEnrichedFile(fresh);
    try {
      const comparison = await compareFiles(before, after, key);
      if (to !== undefined) await writeNews(to, after, comparison);
      return comparison.changes;
    } finally {
      await after.close();
    }
  } finally {
    await before.close();
  }
}

/** Writes the new and changed rows. Reads the new file again, so that they need no memory and keep their order. */
async function writeNews(to: string, compared: EnrichedFile, {isNews}: Comparison): Promise<void> {
  const file = await openEnrichedFile(compared.path);
  const {format} = file.source;
  async function* texts() {
    yield* rewriteTexts<TextRow>(file, {
      header: format.kind === 'csv' ? (format.header ?? format.columns) : [],
      rowsFor: rows => rows.filter(({record}) => isNews(record)),
      fieldsOf: row => csvFields(row),
      lineOf: ndjsonLine,
    });
    if (file.source.position.sha256 !== compared.source.position.sha256)
      throw new InputError(
        'input_changed',
        `${file.path} was changed while it was compared. Run the same command again.`,
      );
  }
  try {
    await writeWholeFile(to, texts());
  } finally {
    await file.close();
  }
}

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
