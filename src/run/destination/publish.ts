import {randomBytes} from 'node:crypto';
import {existsSync, rmSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {z} from 'zod';
import {type FileDigest, hasDigest} from '../../disk/digest.ts';
import {fileText, isStream} from '../../disk/path.ts';
import {besideOf, makeReady, moveFile, replaceFile, syncPath} from '../../disk/replace.ts';
import {OutputError, StateError, systemReason} from '../../errors.ts';
import {isRejectsFile} from '../../output/rejects.ts';
import {type PartialName, partialPath, type RunFiles, type WrittenPaths} from './partial.ts';

const digest = z.object({bytes: z.number(), sha256: z.string()});

/**
 * What is to be done, written before any of it is. Where files are and where they
 * go is the job's to say: the paths in it are compared, and never written to.
 */
const publishRecord = z.object({
  /** Where the output goes, by which it is seen that the record is another job's. */
  output_path: z.string(),
  /** Where rejects go, if they go to a file. */
  rejects_path: z.string().optional(),
  /** What it was made of: settings and the input as far as it was read, as in the summary. */
  settings_sha256: z.string(),
  input: digest,
  output: digest.nullable(),
  rejects: digest.nullable(),
  /** Whether rejects of the run before are to go, as this one has none. */
  obsolete: z.boolean(),
  summary: z.string().nullable(),
  /** In the names of files on their way. */
  token: z.string().regex(/^[0-9a-f]+$/),
  exitCode: z.number(),
  rowsWritten: z.number(),
});

export type PublishRecord = z.infer<typeof publishRecord>;

export type PublishFacts = Omit<PublishRecord, 'output_path' | 'rejects_path' | 'token'>;

/** Which of the written files goes to the output's place. */
type OutputPart = Exclude<PartialName, 'rejects'>;

export const RECORD = 'publish.json';

/** A file that waits to be put in its place. */
interface UnpublishedFile {
  readonly name: PartialName;
  readonly to: string;
  readonly digest: FileDigest;
}

/** Where the files go that it puts in place, in order: whoever sees the output must find what belongs to it. */
function placed(
  {written: {rejects}}: RunFiles,
  output: string,
  record: PublishFacts,
  written: OutputPart = 'output',
): UnpublishedFile[] {
  const all = [
    {name: 'rejects', to: rejects, digest: record.rejects} as const,
    {name: written, to: output, digest: record.output} as const,
  ];
  return all.flatMap(({name, to, digest}) =>
    digest === null || to === undefined ? [] : [{name, to, digest}],
  );
}

/**
 * Puts the files in place, all or, after a crash, the rest by running again: first a record of what is to be done, then
 * the renames in order, the output last.
 *
 * @throws {OutputError} when a file or its directory can't be written.
 */
export function publish(
  files: RunFiles,
  output: string,
  facts: PublishFacts,
  written: OutputPart = 'output',
): void {
  const token = randomBytes(8).toString('hex');
  const record = {...facts, output_path: output, rejects_path: files.written.rejects, token};
  orFailed(() => {
    const waiting = placed(files, output, record, written);
    for (const {name, to} of waiting) makeReady(partialPath(files, name, to), to);
    const path = join(files.directory, RECORD);
    replaceFile(path, JSON.stringify(record), `${path}.new`);
    putInPlace(files, record, waiting);
  });
}

/** The record of a publishing to `output` that a crash cut short; undefined where there was none. Throws StateError. */
export function unfinishedPublishing(
  {directory, written}: RunFiles,
  output: string,
): PublishRecord | undefined {
  const path = join(directory, RECORD);
  if (!existsSync(path)) return undefined;
  let record: PublishRecord;
  try {
    record = publishRecord.parse(JSON.parse(fileText(path)));
  } catch (error) {
    throw new StateError(
      'state_damaged',
      `${path}, which says what the last run was putting in place, is damaged. Start over with --restart; answers already paid for are kept.`,
      {cause: error},
    );
  }
  const {output_path, rejects_path} = record;
  if (output_path !== output)
    throw new StateError(
      'settings_changed',
      `The unfinished run in ${directory} was putting ${output_path} in place. Run the command for that, or give this one another --state.`,
    );
  // By a link to the output, or with another --rejects, they would be looked for where they never were.
  if (record.rejects !== null && rejects_path !== written.rejects)
    throw new StateError(
      'settings_changed',
      `The unfinished run in ${directory} was putting rejected rows in place as ${rejects_path}. Run the command for those, or start over with --restart; answers already paid for are kept.`,
    );
  return record;
}

/**
 * Completes a publishing that a crash cut short.
 *
 * @throws {StateError} when a file is neither where it was nor where it goes; {@link OutputError} when it can't be put
 * in place.
 */
export async function completePublishing(
  files: RunFiles,
  output: string,
  written: OutputPart = 'output',
): Promise<PublishRecord | undefined> {
  const record = unfinishedPublishing(files, output);
  if (record === undefined) return undefined;
  const waiting: UnpublishedFile[] = [];
  for (const one of placed(files, output, record, written)) {
    // A record that was removed may be back after a power cut, and what waits may be another run's by now.
    if (await hasDigest(partialPath(files, one.name, one.to), one.digest)) waiting.push(one);
    else if (!(await hasDigest(one.to, one.digest)))
      throw new StateError(
        'publish_lost',
        `${one.to} was being put in place when the last run ended, and is missing. Start over with --restart; answers already paid for are kept.`,
      );
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

/** Forgets a publishing that was cut short, as what it would put in place is not wanted any more. */
export function forgetPublishing(directory: string, output: string): void {
  const path = join(directory, RECORD);
  if (!existsSync(path)) return;
  // What is in place by now stays there, after a power cut too: the record would have seen to that.
  if (existsSync(output)) syncPath(dirname(output));
  rmSync(path);
  // Back after a power cut, it would pass for the end of the run that begins now.
  syncPath(dirname(path));
}

/** May be done again from its start, wherever it was cut short. */
function putInPlace(files: RunFiles, record: PublishRecord, waiting: readonly UnpublishedFile[]): void {
  const {rejects, summary} = files.written;
  if (record.obsolete) removeObsolete(files.written);
  if (summary !== undefined && record.summary !== null)
    replaceFile(summary, record.summary, besideOf(summary, record.token));
  for (const {name, to} of waiting) {
    // Whoever sees the output must find what belongs to it, after a power cut too.
    if (name !== 'rejects' && rejects !== undefined && !isStream(rejects)) syncPath(dirname(rejects));
    moveFile(partialPath(files, name, to), to, besideOf(to, record.token));
  }
  syncPath(dirname(record.output_path));
}

/** Removes the rejects of the run before. */
export function removeObsolete({rejects}: WrittenPaths): void {
  if (rejects !== undefined && existsSync(rejects) && isRejectsFile(rejects)) rmSync(rejects);
}
