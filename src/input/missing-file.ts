import {readdirSync} from 'node:fs';
import {basename, dirname, join, resolve} from 'node:path';
import {closestName} from '../job/did-you-mean.ts';
import {say, set} from '../sentence.ts';
import {InputError} from './input-error.ts';

/**
 * The error for a missing file. Its message suggests a file with a similar name, or else names the folder. A name with
 * other digits is another list, such as last month's, and is not suggested.
 */
export function missingFileError(path: string, cause?: unknown): InputError {
  // Node puts this character in place of bytes that are not UTF-8, and so can't open the file.
  if (path.includes('\ufffd'))
    return new InputError(
      'input_missing',
      say`The file ${path} can't be opened: its name is not UTF-8. Rename it, or pass it on stdin (- < FILE, with ${set('output', 'OUT')}).`,
      {cause},
    );
  const folder = resolve(dirname(path));
  const digits = digitsIn(basename(path));
  const others = filesIn(folder).filter(name => digits === '' || digitsIn(name) === digits);
  const near = closestName(basename(path), others);
  const what =
    near === undefined ? ` (looked for in ${folder}).` : `. Did you mean "${join(dirname(path), near)}"?`;
  return new InputError('input_missing', `The file ${path} does not exist${what}`, {cause});
}

const digitsIn = (name: string) => name.replace(/\D/g, '');

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
