import {readdirSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {isFull, sqliteCode} from '../../disk/sqlite.ts';
import {OutputError} from '../../errors.ts';
import {formatCount} from '../../report/format.ts';
import {say} from '../../sentence.ts';
import {countRows, type Session} from '../session.ts';
import type {RunDirectory} from '../state/run-directory.ts';
import type {Stop} from '../stop.ts';

const MIB = 2 ** 20;
/** Maximum size of the ledger's log. */
const LOG_BYTES = 33 * MIB;

/**
 * A sentence on the space that the rest of a run needs, by the share of rows that are written, if a full disk stopped
 * the run. If the share is not known, or the state is temporary, names only the directory. Empty for other stops.
 */
export function spaceSentence(session: Session, {error}: Stop<unknown>): string {
  const {state, input, output} = session;
  const {bytesTotal, position, recordsRead} = input.source;
  const share = (countRows(output.writer) / recordsRead) * (position.bytes / (bytesTotal ?? 0));
  if (!isFull(error)) return '';
  // Without a file, the full device may be that of the stream.
  if (state.temporary !== undefined) return sqliteCode(error) === undefined ? '' : fullSentence(state);
  if (!(share > 0 && share <= 1)) return fullSentence(state);
  const used = [...new Set([state.directory, state.partials])]
    .flatMap(directory => readdirSync(directory).map(name => sizeOf(join(directory, name))))
    .reduce((sum, size) => sum + size, 0);
  const needed = Math.ceil((used / share - used + LOG_BYTES) / MIB);
  return ` The rest of the run needs up to about ${formatCount(needed)} MiB more in ${state.directory}.`;
}

function fullSentence({directory}: RunDirectory): string {
  return ` The disk with ${directory} is full.`;
}

/** The error of a run that could not begin; if the disk of its state is full, with the directory. */
export function withFullDisk(error: unknown, state: RunDirectory | undefined): unknown {
  if (state === undefined || !(error instanceof OutputError) || !isFull(error)) return error;
  return new OutputError('state_unwritable', say`${error.said}${fullSentence(state)}`, {cause: error.cause});
}

function sizeOf(path: string): number {
  return statSync(path, {throwIfNoEntry: false})?.size ?? 0;
}
