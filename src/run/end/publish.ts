import {randomBytes} from 'node:crypto';
import {existsSync, readFileSync, rmSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {z} from 'zod';
import {hasDigest} from '../../disk/digest.ts';
import {isStream} from '../../disk/path.ts';
import {besideOf, makeReady, moveFile, replaceFile, syncPath} from '../../disk/replace.ts';
import {OutputError, StateError, systemReason} from '../../errors.ts';
import {isRejectsFile} from '../../output/rejects.ts';
import {type PartialName, partialPath, type RunState} from '../open/run-state.ts';

const digest = z.object({bytes: z.number(), sha256: z.string()});

/**
 * What is to be done, written before any of it is. It names no files: where they are and where they go is the job's to
 * say.
 */
const publishRecord = z.object({
  /** Where the output goes, by which it is seen that the record is another job's. */
  output_path: z.string(),
  /** What was read: the same input need not be run again. */
  input: digest,
  output: digest,
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

const RECORD = 'publish.json';

/** The files that it puts in place, in order: whoever sees the output must find what belongs to it. */
const order = ['rejects', 'output'] as const satisfies readonly PartialName[];

/**
 * Puts the files in place, all or, after a crash, the rest by running again: first a record of what is to be done, then
 * the renames in order, the output last.
 *
 * @throws {OutputError} when a file or its directory can't be written.
 */
export function publish(state: RunState, facts: Omit<PublishRecord, 'output_path' | 'token'>): void {
  const {places, directory} = state;
  const record = {...facts, output_path: places.output ?? '', token: randomBytes(8).toString('hex')};
  try {
    for (const name of order) {
      const to = places[name];
      if (record[name] !== null && to !== undefined) makeReady(partialPath(state, name), to);
    }
    const path = join(directory, RECORD);
    replaceFile(path, JSON.stringify(record), `${path}.new`);
    putInPlace(state, record);
  } catch (error) {
    throw failed(error);
  }
}

/** The record of a publishing that a crash cut short; undefined where there was none. */
export function unfinishedPublishing({directory, places}: RunState): PublishRecord | undefined {
  const path = join(directory, RECORD);
  if (!existsSync(path)) return undefined;
  let record: PublishRecord;
  try {
    record = publishRecord.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    throw new StateError(
      'state_damaged',
      `${path}, which says what the last run was putting in place, is damaged. Start over with --restart; answers already paid for are kept.`,
      {cause: error},
    );
  }
  if (record.output_path === places.output) return record;
  throw new StateError(
    'settings_changed',
    `The unfinished run in ${directory} was putting ${record.output_path} in place. Run the command for that, or give this one another --state.`,
  );
}

/**
 * Completes a publishing that a crash cut short.
 *
 * @throws {StateError} when a file is neither where it was nor where it goes; {@link OutputError} when it can't be put
 * in place.
 */
export async function completePublishing(state: RunState, record: PublishRecord): Promise<void> {
  for (const name of order) {
    const wanted = record[name];
    const to = state.places[name];
    if (wanted === null || to === undefined || existsSync(partialPath(state, name))) continue;
    if (await hasDigest(to, wanted)) continue;
    throw new StateError(
      'publish_lost',
      `${to} was being put in place when the last run ended, and is gone. Start over with --restart; answers already paid for are kept.`,
    );
  }
  try {
    putInPlace(state, record);
  } catch (error) {
    throw failed(error);
  }
}

function failed(error: unknown): OutputError {
  return new OutputError(
    'publish_failed',
    `The output can't be put in place (${systemReason(error)}). Free the cause, then run the same command again: it completes without any call.`,
    {cause: error},
  );
}

/** Forgets a publishing that was cut short, as what it would put in place is not wanted any more. */
export function forgetPublishing({directory}: RunState): void {
  rmSync(join(directory, RECORD), {force: true});
}

/** May be done again from its start, wherever it was cut short. */
function putInPlace(state: RunState, record: PublishRecord): void {
  const {places} = state;
  const {output, rejects, summary} = places;
  if (record.obsolete && rejects !== undefined && existsSync(rejects) && isRejectsFile(rejects))
    rmSync(rejects);
  if (summary !== undefined && record.summary !== null)
    replaceFile(summary, record.summary, besideOf(summary, record.token));
  for (const name of order) {
    const to = places[name];
    if (to === undefined || record[name] === null) continue;
    // Whoever sees the output must find what belongs to it, after a power cut too.
    if (name === 'output' && rejects !== undefined && !isStream(rejects)) syncPath(dirname(rejects));
    const from = partialPath(state, name);
    if (existsSync(from)) moveFile(from, to, besideOf(to, record.token));
  }
  if (output !== undefined) syncPath(dirname(output));
}
