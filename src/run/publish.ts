import {createHash} from 'node:crypto';
import {
  chmodSync,
  closeSync,
  createReadStream,
  existsSync,
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
import {OutputError, StateError, systemCode} from '../job/errors.ts';

/** One file to be put in place. */
export interface Publication {
  readonly from: string;
  readonly to: string;
}

interface PublishRecord {
  readonly files: readonly Publication[];
  readonly exitCode: number;
  readonly rowsWritten: number;
}

const RECORD = 'publish.json';

export interface FileDigest {
  readonly bytes: number;
  readonly sha256: string;
}

/** Size and SHA-256 (hex) of a file, read once from start to end. */
export async function digestFile(path: string): Promise<FileDigest> {
  const hash = createHash('sha256');
  let bytes = 0;
  await pipeline(createReadStream(path, {highWaterMark: 1_048_576}), async chunks => {
    for await (const chunk of chunks as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      hash.update(chunk);
    }
  });
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
    const output = record.files.at(-1);
    for (const {from, to} of record.files) chmodSync(from, modeFor(to));
    for (const {from} of record.files) syncPath(from);
    writeSynced(join(stateDirectory, RECORD), JSON.stringify(record));
    syncPath(stateDirectory);
    finish(record);
    if (output !== undefined) syncPath(dirname(output.to));
  } catch (error) {
    throw new OutputError(
      'publish_failed',
      `The output can't be put in place (${systemCode(error)}). Free the cause, then run the same command again: it completes without any call.`,
      {cause: error},
    );
  }
}

/** Completes a publishing that a crash cut short. Returns what it was, or undefined where there was none. */
export function completePublishing(stateDirectory: string): PublishRecord | undefined {
  const path = join(stateDirectory, RECORD);
  if (!existsSync(path)) return undefined;
  let record: PublishRecord;
  try {
    record = JSON.parse(readFileSync(path, 'utf8')) as PublishRecord;
  } catch {
    // The record is written before anything is renamed: a torn one means that nothing was.
    return undefined;
  }
  for (const {from, to} of record.files) {
    if (!existsSync(from) && !existsSync(to))
      throw new StateError(
        'publish_lost',
        `${to} was being put in place when the last run ended, and is gone. Start over with --restart; answers already paid for are kept.`,
      );
  }
  finish(record);
  for (const directory of new Set(record.files.map(file => dirname(file.to)))) syncPath(directory);
  return record;
}

function finish(record: PublishRecord): void {
  for (const {from, to} of record.files) if (existsSync(from)) renameSync(from, to);
}

/** Writes a file beside its place and renames it, so that readers see the old one or the new one. */
export function writeAtomically(path: string, text: string): void {
  const beside = `${path}.${process.pid}.tmp`;
  try {
    writeSynced(beside, text, modeFor(path));
    renameSync(beside, path);
    syncPath(dirname(path));
  } catch (error) {
    rmSync(beside, {force: true});
    throw new OutputError('output_unwritable', `${path} can't be written (${systemCode(error)}).`, {
      cause: error,
    });
  }
}

function writeSynced(path: string, text: string, mode = 0o600): void {
  const file = openSync(path, 'w', mode);
  try {
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
