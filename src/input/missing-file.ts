import {readdirSync} from 'node:fs';
import {basename, dirname, join, resolve} from 'node:path';
import {closest} from '../job/closest.ts';
import {InputError} from './input-error.ts';

/** The error for a missing file. Its message suggests a file with a similar name, or else names the folder. */
export function missingFile(path: string, cause?: unknown): InputError {
  const folder = resolve(dirname(path));
  const near = closest(basename(path), filesIn(folder));
  if (near === undefined)
    return new InputError('input_missing', `The file ${path} does not exist (looked for in ${folder}).`, {
      cause,
    });
  const meant = join(dirname(path), near);
  const said = `The file ${path} does not exist. Did you mean "${meant}"?`;
  return new InputError('input_missing', said, {cause, instead: {given: path, meant}});
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
