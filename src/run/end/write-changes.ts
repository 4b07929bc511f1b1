import {existsSync, rmSync} from 'node:fs';
import {isStream} from '../../disk/path.ts';
import {diffOutputs} from '../../enriched/diff.ts';
import {systemCode} from '../../errors.ts';
import type {Summary} from '../../report/summary.ts';
import {partialPath, writablePath} from '../destination/partial.ts';
import {during} from '../io.ts';
import type {Session} from '../session.ts';

/**
 * Compares the finished rows with the job's last output, and writes the new and changed ones. If this fails,
 * warns, and removes an older file of changes, which would be mistaken for this run's.
 */
export async function writeChanges({job, state, io, input: {layout}}: Session): Promise<Summary['changes']> {
  const {changes} = job.settings;
  if (changes === undefined) return undefined;
  const {kind, delimiter} = layout.format;
  const old = job.outputBefore?.();
  const diff = {
    old,
    new: partialPath(state, 'output', writablePath(job.output.name)),
    known: kind === 'csv' ? {inputFormat: kind, delimiter} : {inputFormat: kind},
    key: changes.key,
    to: changes.file,
  };
  const compare = () => diffOutputs(diff);
  try {
    const found = await during(io.phase, 'comparing with the last output', () => ({}), compare);
    return {compared_with: old ?? null, ...found};
  } catch (error) {
    if (existsSync(changes.file) && !isStream(changes.file)) rmSync(changes.file, {force: true});
    io.warn(
      `The changes since the last output, and ${changes.file}, could not be written: ${error instanceof Error ? error.message : systemCode(error)}`,
    );
    return undefined;
  }
}
