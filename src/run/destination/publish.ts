import {createHash} from 'node:crypto';
import {existsSync, rmSync} from 'node:fs';
import {dirname, join, resolve} from 'node:path';
import {z} from 'zod';
import {digestFiles, type FileDigest, hasDigest} from '../../disk/digest.ts';
import {fileText, isStream, writePath} from '../../disk/path.ts';
import {
  moveFile,
  orThrowUnwritable,
  prepareReplacement,
  replaceFile,
  syncPath,
  temporaryPathBeside,
} from '../../disk/replace.ts';
import {OutputError, StateError, systemReason} from '../../errors.ts';
import type {Job} from '../../job/job.ts';
import {summaryText} from '../../report/safe-text.ts';
import {type Summary, summarySchema} from '../../report/summary.ts';
import {say, set} from '../../sentence.ts';
import {isOwnFile} from './own-files.ts';

/** Places of a run's files until they are published. */
export interface RunFiles {
  /** Directory of the ledger and of the record of the publishing. */
  readonly directory: string;
  /** Directory of the unpublished files: beside the output, so that each can be renamed; else the state's. */
  readonly partials: string;
  readonly written: WrittenPaths;
}

/** The real paths of a run's files, found from the job's paths and never from saved data. */
export interface WrittenPaths {
  readonly rejects: string | undefined;
  readonly summary: string | undefined;
}

/** The unpublished files. `packed` is the compressed output. */
export type PartialName = 'output' | 'packed' | 'rejects';

export const partialFiles = ['output.partial', 'packed.partial', 'rejects.partial'];

/** Path of a file until it is published. */
export function partialPath({partials}: Pick<RunFiles, 'partials'>, name: PartialName): string {
  return join(partials, `${name}.partial`);
}

/** Part of the names of temporary files outside of the state's directory, unique to it: see `temporaryPathBeside`. */
function tokenOf(directory: string): string {
  return createHash('sha256').update(resolve(directory)).digest('hex').slice(0, 16);
}

/** The same for the job's state; undefined for a job without one. */
export function stateToken({paths: {state}}: Job): string | undefined {
  return state === undefined ? undefined : tokenOf(state);
}

/** Digest of the rejects; null if there are none. */
export async function digestRejects(files: RunFiles): Promise<FileDigest | null> {
  const path = partialPath(files, 'rejects');
  return files.written.rejects !== undefined && existsSync(path) ? await digestFiles([path]) : null;
}

/** @throws {OutputError | UsageError} like {@link writePath}. */
export function writablePath(path: string): string {
  return orThrowUnwritable(path, () => writePath(path));
}

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

/** The files to put in place, in order. The output is last: once it is visible, the others must be in place. */
function placed({written: {rejects}}: RunFiles, output: string, {summary}: PublishFacts, part: OutputPart) {
  const all = [
    {name: 'rejects', to: rejects, digest: summary.rejects} as const,
    {name: part, to: output, digest: summary.output} as const,
  ];
  return all.flatMap(({name, to, digest}) => {
    const {bytes = null, sha256 = null} = digest ?? {};
    return bytes === null || sha256 === null || to === undefined ? [] : [{name, to, digest: {bytes, sha256}}];
  });
}

type UnpublishedFile = ReturnType<typeof placed>[number];

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
    for (const {name, to} of waiting) prepareReplacement(partialPath(files, name), to);
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

/** Removes the record of an interrupted publishing if there is one, so that no run completes it. */
export function forgetPublishing(directory: string, output: string): void {
  const path = join(directory, RECORD);
  if (!existsSync(path)) return;
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
    replaceFile(summary, summaryText(record.summary), {
      beside: temporaryPathBeside(summary, tokenOf(files.directory)),
    });
  for (const {name, to} of waiting) {
    // Rejects must be durable before the output is visible.
    if (name !== 'rejects' && rejects !== undefined && !isStream(rejects)) syncPath(dirname(rejects));
    moveFile(partialPath(files, name), to, temporaryPathBeside(to, tokenOf(files.directory)));
  }
  syncPath(dirname(record.output_path));
}

/** Removes the last run's rejects. A file at that path that does not look like rejects stays. */
export function removeObsolete({rejects}: WrittenPaths): void {
  if (rejects !== undefined && existsSync(rejects) && isOwnFile('rejects', rejects)) rmSync(rejects);
}
