import {existsSync, readdirSync} from 'node:fs';
import {basename, dirname, join, resolve} from 'node:path';
import {BulkEnrichError, exitCodes, type InputCode, type RemedyOptions} from '../errors.ts';
import {defaultOutput} from '../job/job.ts';
import {utcDate} from '../job/paths.ts';
import {closestName, type Said, say, setting} from '../sentence.ts';

/** The input can't be read, or never stops changing. The run stops with exit code 8 and keeps its saved state. */
export class InputError extends BulkEnrichError {
  declare readonly code: InputCode;

  constructor(code: InputCode, message: Said, options?: RemedyOptions) {
    super(code, exitCodes.input, message, options);
  }
}

/** The remedy for a list that a command makes readable; none for a pipe, which can't be read again. */
export function conversionRemedy(command: string, path: string): RemedyOptions {
  return path === '-' ? {} : {pipe: {command, input: path}, flags: ['-o', defaultOutput([path])]};
}

/**
 * The error for a missing file. Its message suggests a file with a similar name, or else names the folder. A name with
 * other digits is another list, such as last month's, and is not suggested.
 */
export function missingFileError(path: string, cause?: unknown): InputError {
  // Node puts this character in place of bytes that are not UTF-8, and so can't open the file.
  if (path.includes('\ufffd'))
    return new InputError(
      'input_missing',
      say`The file ${path} can't be opened: its name is not UTF-8. Rename it, or pass it on stdin (- < FILE, with ${setting('output', 'OUT')}).`,
      {cause},
    );
  const folder = resolve(dirname(path));
  const [day] = /\d{4}-\d{2}-\d{2}/.exec(basename(path)) ?? [];
  if (day !== undefined) return new InputError('input_missing', missingDay(path, day, folder), {cause});
  const digits = digitsIn(basename(path));
  const others = filesIn(folder).filter(name => digits === '' || digitsIn(name) === digits);
  const near = closestName(basename(path), others);
  const what =
    near === undefined ? ` (looked for in ${folder}).` : `. Did you mean "${join(dirname(path), near)}"?`;
  return new InputError('input_missing', `The file ${path} does not exist${what}`, {cause});
}

/** The error for a directory in place of a file. */
export function folderError(path: string): InputError {
  return new InputError('input_unreadable', `${path} is a directory. Name the files in it.`);
}

/** The sentence for a list of a day, in place of which no other list will do. */
function missingDay(path: string, day: string, folder: string): Said {
  const now = new Date();
  const isToday = day === utcDate(now.getTime());
  const local = utcDate(now.getTime() - now.getTimezoneOffset() * 60_000);
  const other = path.replaceAll(day, local);
  if (!isToday || local === day || !existsSync(other))
    return say`The file ${path} does not exist (looked for in ${folder}${isToday ? '; its name has the day in UTC' : ''}).`;
  return say`The file ${path} does not exist: its name has the day in UTC. The list of the local day is there (${other}): to run that one, add ${setting('date', local)}.`;
}

const digitsIn = (name: string) => name.replace(/\D/g, '');

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, {withFileTypes: true}).flatMap(file => (file.isDirectory() ? [] : file.name));
  } catch {
    return [];
  }
}
