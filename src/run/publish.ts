import {createHash} from 'node:crypto';
import {
  chmodSync,
  closeSync,
  createReadStream,
  existsSync,
  fchmodSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import {dirname, join} from 'node:path';
import {pipeline} from 'node:stream/promises';
import {OutputError, StateError, systemReason} from '../job/errors.ts';
import {isStream} from '../job/job.ts';

/** Size and SHA-256 (hex). */
export interface FileDigest {
  readonly bytes: number;
  readonly sha256: string;
}

/** One file to be put in place. */
export interface Publication extends FileDigest {
  readonly from: string;
  readonly to: string;
}

/** What is to be done, written before any of it is. */
export interface PublishRecord {
  /** What was read: the same input need not be run again. */
  readonly input: FileDigest;
  /** The output comes last. */
  readonly files: readonly Publication[];
  readonly summary: {readonly to: string; readonly text: string} | undefined;
  /** A file of the run before, which this one has none of. */
  readonly obsolete: string | undefined;
  readonly exitCode: number;
  readonly rowsWritten: number;
}

const RECORD = 'publish.json';

/** Size and SHA-256 of one file, or of several read one after the other. */
export async function digestFile(...paths: readonly string[]): Promise<FileDigest> {
  const hash = createHash('sha256');
  let bytes = 0;
  for (const path of paths) {
    await pipeline(createReadStream(path, {highWaterMark: 1_048_576}), async chunks => {
      for await (const chunk of chunks as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        hash.update(chunk);
      }
    });
  }
  return {bytes, sha256: hash.digest('hex')};
}

/**
 * Puts the files in place, all or, after a crash, the rest by running again: first a record of what is to be done, then
 * the renames in order, the output last.
 *
 * @throws {OutputError} when a file or its directory can't be written.
 */
export function publish(stateDirectory: string, record: PublishRecord): void {
  try {
    for (const {from, to} of record.files) chmodSync(from, modeFor(to));
    for (const {from} of record.files) syncPath(from);
    replaceFile(join(stateDirectory, RECORD), JSON.stringify(record), 0o600);
    putInPlace(record);
  } catch (error) {
    throw new OutputError(
      'publish_failed',
      `The output can't be put in place (${systemReason(error)}). Free the cause, then run the same command again: it completes without any call.`,
      {cause: error},
    );
  }
}

/** The record of a publishing that a crash cut short; undefined where there was none. */
export function unfinishedPublishing(stateDirectory: string): PublishRecord | undefined {
  const path = join(stateDirectory, RECORD);
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as PublishRecord;
  } catch (error) {
    throw new StateError(
      'state_damaged',
      `${path}, which says what the last run was putting in place, is damaged. Start over with --restart; answers already paid for are kept.`,
      {cause: error},
    );
  }
}

/**
 * Completes a publishing that a crash cut short.
 *
 * @throws {StateError} when a file is neither where it was nor where it goes; {@link OutputError} when it can't be put
 * in place.
 */
export async function completePublishing(record: PublishRecord): Promise<void> {
  for (const file of record.files) {
    if (existsSync(file.from) || (await isInPlace(file))) continue;
    throw new StateError(
      'publish_lost',
      `${file.to} was being put in place when the last run ended, and is gone. Start over with --restart; answers already paid for are kept.`,
    );
  }
  try {
    putInPlace(record);
  } catch (error) {
    throw new OutputError(
      'publish_failed',
      `The output can't be put in place (${systemReason(error)}). Free the cause, then run the same command again.`,
      {cause: error},
    );
  }
}

/** Forgets a publishing that was cut short, as what it would put in place is not wanted any more. */
export function forgetPublishing(stateDirectory: string): void {
  rmSync(join(stateDirectory, RECORD), {force: true});
}

async function isInPlace({to, bytes, sha256}: Publication): Promise<boolean> {
  if (statSync(to, {throwIfNoEntry: false})?.size !== bytes) return false;
  return (await digestFile(to)).sha256 === sha256;
}

/** May be done again from its start, wherever it was cut short. */
function putInPlace({files, summary, obsolete}: PublishRecord): void {
  const output = files.at(-1);
  if (obsolete !== undefined) rmSync(obsolete, {force: true});
  if (summary !== undefined) replaceFile(summary.to, summary.text, modeFor(summary.to));
  for (const file of files) {
    // Whoever sees the output must find what belongs to it, after a power cut too.
    if (file === output) for (const other of files) if (other !== output) syncPath(dirname(other.to));
    if (existsSync(file.from)) renameSync(file.from, file.to);
  }
  if (output !== undefined) syncPath(dirname(output.to));
}

/** Writes a file beside its place and renames it, so that readers see the old one or the new one. */
export function writeAtomically(path: string, text: string): void {
  try {
    replaceFile(path, text, modeFor(path));
  } catch (error) {
    throw new OutputError('output_unwritable', `${path} can't be written (${systemReason(error)}).`, {
      cause: error,
    });
  }
}

function replaceFile(path: string, text: string, mode: number): void {
  if (isStream(path)) {
    writeFileSync(path, text);
    return;
  }
  const beside = `${path}.new`;
  try {
    writeSynced(beside, text, mode);
    renameSync(beside, path);
    syncPath(dirname(path));
  } catch (error) {
    rmSync(beside, {force: true});
    throw error;
  }
}

function writeSynced(path: string, text: string, mode: number): void {
  const file = openSync(path, 'w', mode);
  try {
    fchmodSync(file, mode);
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** The mode of the file that is replaced, else what the umask leaves of 0666. */
function modeFor(path: string): number {
  const replaced = statSync(path, {throwIfNoEntry: false});
  return replaced === undefined ? 0o666 & ~process.umask() : replaced.mode & 0o777;
}

function syncPath(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
