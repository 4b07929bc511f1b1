import {readdirSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {isDiskFullError, sqliteCode} from '../../disk/sqlite.ts';
import {OutputError} from '../../errors.ts';
import {formatCount} from '../../report/format.ts';
import {say} from '../../sentence.ts';
import type {Stop} from '../exit.ts';
import {countFinishedRows, type Session} from '../session.ts';
import type {RunDirectory} from '../state/run-directory.ts';

const MIB = 2 ** 20;
/** Maximum size of the ledger's log. */
const LOG_BYTES = 33 * MIB;

/** Codes of errors of the ledger and of the unpublished files. Others name their file's place themselves. */
const OF_OWN_FILES: readonly string[] = ['output_unwritable', 'state_unwritable'];

/** The run's own directory whose disk is full, by an error; undefined if it is of something else. */
function fullDirectory(error: unknown, state: RunDirectory): string | undefined {
  if (!(error instanceof OutputError) || !isDiskFullError(error) || !OF_OWN_FILES.includes(error.code))
    return undefined;
  if (sqliteCode(error.cause) !== undefined) return state.directory;
  // Without a file, the full device may be that of the stream.
  return state.destination.file === undefined ? undefined : state.partials;
}

/**
 * A sentence on the space that the rest of a run needs on the disk that stopped it because it is full, by the share of
 * rows that are written. If the share is not known, or the state is temporary, names only the directory. Empty for
 * other stops.
 */
export function spaceSentence({state, input, output}: Session, {error}: Stop<unknown>): string {
  const full = fullDirectory(error, state);
  if (full === undefined) return '';
  const {bytesTotal, position, recordsRead} = input.source;
  const share = (countFinishedRows(output.writer) / recordsRead) * (position.bytes / (bytesTotal ?? 0));
  if (state.temporary !== undefined || !(share > 0 && share <= 1)) return fullSentence(full);
  const isOnDisk = (directory: string) => statSync(directory).dev === statSync(full).dev;
  const there = [...new Set([state.directory, state.partials])].filter(isOnDisk);
  const used = there
    .flatMap(directory => readdirSync(directory).map(name => sizeOf(join(directory, name))))
    .reduce((sum, size) => sum + size, 0);
  const log = there.includes(state.directory) ? LOG_BYTES : 0;
  const needed = Math.max(1, Math.ceil((used / share - used + log) / MIB));
  return ` The rest of the run needs up to about ${formatCount(needed)} MiB more in ${full}.`;
}

function fullSentence(directory: string): string {
  return ` The disk with ${directory} is full.`;
}

/** The error of a run that could not begin. If the disk of its own files is full, the message names their directory. */
export function explainFullDisk(error: unknown, state: RunDirectory | undefined): unknown {
  const full = state && fullDirectory(error, state);
  if (full === undefined) return error;
  const {said, cause} = error as OutputError;
  return new OutputError('state_unwritable', say`${said}${fullSentence(full)}`, {cause});
}

function sizeOf(path: string): number {
  return statSync(path, {throwIfNoEntry: false})?.size ?? 0;
}
