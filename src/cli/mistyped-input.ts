import {existsSync, statSync} from 'node:fs';
import {missingFile} from '../input/missing-file.ts';
import type {Job} from '../job/job.ts';

/**
 * Reports a missing input without beginning a run, if no one but the command's caller needs to know. Other jobs report
 * it in their run.
 *
 * @throws {InputError}
 */
export function refuseMistyped({inputs, output, paths, fromFile, settings, unfinished = []}: Job): void {
  const isTold = settings.metrics !== undefined || settings.pingUrl !== undefined;
  const isBegun = [output.name, paths.state].some(path => path !== undefined && existsSync(path));
  if (fromFile || isTold || isBegun || unfinished.length > 0) return;
  const missing = inputs.find(path => path !== '-' && isMissing(path));
  if (missing !== undefined) throw missingFile(missing);
}

function isMissing(path: string): boolean {
  try {
    return statSync(path, {throwIfNoEntry: false}) === undefined;
  } catch {
    // The run says why it can't be read.
    return false;
  }
}
