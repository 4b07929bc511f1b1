import {readdirSync} from 'node:fs';
import {basename, dirname, join, resolve} from 'node:path';
import {closest} from '../job/closest.ts';
import {InputError} from './input-error.ts';

/** That a file is not there, with one in the same folder of almost that name; else the folder, as a relative path may mean another one. */
export function missingFile(path: string, cause?: unknown): InputError {
  const folder = resolve(dirname(path));
  const near = closest(basename(path), filesIn(folder));
  if (near === undefined)
    return new InputError('input_missing', `There is no file ${path}. It was looked for in ${folder}.`, {
      cause,
    });
  const meant = join(dirname(path), near);
  const said = `There is no file ${path}. Did you mean "${meant}"?`;
  return new InputError('input_missing', said, {cause, instead: {given: path, meant}});
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
