import {existsSync, rmSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {z} from 'zod';
import {type FileDigest, hasDigest} from '../../disk/digest.ts';
import {fileText, isStream} from '../../disk/path.ts';
import {besideOf, makeReady, moveFile, replaceFile, syncPath} from '../../disk/replace.ts';
import {OutputError, StateError, systemReason} from '../../errors.ts';
import {summaryText} from '../../report/safe-text.ts';
import {type Summary, summarySchema} from '../../report/summary.ts';
import {say, set} from '../../sentence.ts';
import {isOwnFile} from './own-files.ts';
import {type PartialName, partialPath, type RunFiles, tokenOf, type WrittenPaths} from './partial.ts';

/**
 * The plan of a publishing, written before the first rename. Its file can't be trusted, so nothing is written
 * to its paths: they are only compared with the job's paths.
 */
const publishRecord = z.object({
  /** Path of the output. A different path shows that the record is another job's. */
  output_path: z.string(),
  /** Path of the rejects, if they go to a file. */
  rejects_path: z.string().optional(),
  /** True if the last run's rejects are to be removed, since this run has none. */
  obsolete: z.boolean(),
  /** Its digests say what is complete. */
  summary: z.custom<Summary>(found => summarySchema.safeParse(found).success),
});

export type PublishRecord = z.infer<typeof publishRecord>;

export type PublishFacts = Omit<PublishRecord, 'output_path' | 'rejects_path'>;

/** Name of the unpublished file that becomes the output: `packed` if it is compressed, else `output`. */
type OutputPart = Exclude<PartialName, 'rejects'>;

export const RECORD = 'publish.json';

interface UnpublishedFile {
  readonly name: PartialName;
  readonly to: string;
  readonly digest: FileDigest;
}

/** The files to put in place, in order. The output is last: once it is visible, the others must be in place. */
function placed(
  {written: {rejects}}: RunFiles,
  output: string,
  {summary}: PublishFacts,
  written: OutputPart,
): UnpublishedFile[] {
  const all = [
    {name: 'rejects', to: rejects, digest: summary.rejects} as const,
    {name: written, to: output, digest: summary.output} as const,
  ];
  return all.flatMap(({name, to, digest}) => {
    const {bytes = null, sha256 = null} = digest ?? {};
    return bytes === null || sha256 === null || to === undefined ? [] : [{name, to, digest: {bytes, sha256}}];
  });
}

/**
 * Puts the files in place: records the plan, then renames in order, the output last. The next run completes a
 * publishing that a crash interrupts.
 *
 * @throws {OutputError} if a file or its directory can't be written.
 */
export function publish(files: RunFiles, output: string, facts: PublishFacts, written: OutputPart): void {
  const record = {...facts, output_path: output, rejects_path: files.written.rejects};
  orFailed(() => {
    const waiting = placed(files, output, record, written);
    for (const {name, to} of waiting) makeReady(partialPath(files, name), to);
    const path = join(files.directory, RECORD);
    replaceFile(path, JSON.stringify(record), {beside: `${path}.new`});
    putInPlace(files, record, waiting);
  });
}

/**
 * The record of a publishing to `output` that a crash interrupted; undefined if there is none that this command can
 * complete. The run then makes the files again, from its ledger.
 *
 * @throws {StateError} if the record is of another output.
 */
export function unfinishedPublishing(
  {directory, written}: RunFiles,
  output: string,
): PublishRecord | undefined {
  const path = join(directory, RECORD);
  const record = existsSync(path) ? recordIn(path) : undefined;
  if (record === undefined) return undefined;
  const {output_path, rejects_path, summary} = record;
  if (output_path !== output)
    throw new StateError(
      'other_output',
      say`The unfinished run in ${directory} writes ${output_path}. To finish that run, use that name for the output. For this output, add another ${set('state')}.`,
    );
  // The interrupted run may have used another path for rejects: with another --rejects, or through another
  // link to the output. Rejects can be put in place only at the path of this command.
  return summary.rejects !== null && rejects_path !== written.rejects ? undefined : record;
}

function recordIn(path: string): PublishRecord | undefined {
  try {
    return publishRecord.parse(JSON.parse(fileText(path)));
  } catch {
    return undefined;
  }
}

/**
 * Completes a publishing that a crash interrupted; returns undefined if there is none, or if a file is in neither its
 * old nor its new place.
 *
 * @throws {StateError} if the publishing is of another output; {@link OutputError} if a file can't be moved.
 */
export async function completePublishing(
  files: RunFiles,
  output: string,
  written: OutputPart,
): Promise<PublishRecord | undefined> {
  const record = unfinishedPublishing(files, output);
  if (record === undefined) return undefined;
  const waiting: UnpublishedFile[] = [];
  for (const one of placed(files, output, record, written)) {
    // After a power cut an old record may be back, beside the unpublished file of another run. The digest shows if
    // the file belongs to the record.
    if (await hasDigest(partialPath(files, one.name), one.digest)) waiting.push(one);
    else if (!(await hasDigest(one.to, one.digest))) return undefined;
  }
  orFailed(() => putInPlace(files, record, waiting));
  return record;
}

function orFailed(work: () => void): void {
  try {
    work();
  } catch (error) {
    throw new OutputError(
      'publish_failed',
      `The output can't be put in place (${systemReason(error)}). Fix the cause, then run the same command again: it makes no calls.`,
      {cause: error},
    );
  }
}

/** True if a crash interrupted a publishing. */
export function isUnpublished(directory: string): boolean {
  return existsSync(join(directory, RECORD));
}

/** Removes the record of an interrupted publishing, so that no run completes it. */
export function forgetPublishing(directory: string, output: string): void {
  const path = join(directory, RECORD);
  // The output may be in place, but not synced. Once the record is gone, no later run would sync it.
  if (existsSync(output)) syncPath(dirname(output));
  rmSync(path);
  // Without this sync, a power cut may bring the removed record back. The run that begins now would then take
  // that record for its own.
  syncPath(dirname(path));
}

/** Puts the files in place. After an interruption at any point, this can be repeated from the start. */
function putInPlace(files: RunFiles, record: PublishRecord, waiting: readonly UnpublishedFile[]): void {
  const {rejects, summary} = files.written;
  if (record.obsolete) removeObsolete(files.written);
  if (summary !== undefined)
    replaceFile(summary, summaryText(record.summary), {beside: besideOf(summary, tokenOf(files.directory))});
  for (const {name, to} of waiting) {
    // Rejects must be durable before the output is visible.
    if (name !== 'rejects' && rejects !== undefined && !isStream(rejects)) syncPath(dirname(rejects));
    moveFile(partialPath(files, name), to, besideOf(to, tokenOf(files.directory)));
  }
  syncPath(dirname(record.output_path));
}

/** Removes the last run's rejects. A file at that path that does not look like rejects stays. */
export function removeObsolete({rejects}: WrittenPaths): void {
  if (rejects !== undefined && existsSync(rejects) && isOwnFile('rejects', rejects)) rmSync(rejects);
}
