import {closeSync, constants, openSync, readSync} from 'node:fs';
import {stringify} from 'csv-stringify/sync';
import type {InputFormat, Reject} from '../input/row.ts';

/** A line of the file of rejected rows; the first one has the `header`, so that they can become a list again. */
export function rejectLine(reject: Reject, header?: string): string {
  const {file, line, record: row, reason, detail, raw, raw_base64, raw_truncated} = reject;
  return `${JSON.stringify({file, line, row, reason, detail, raw, raw_base64, raw_truncated, header})}\n`;
}

/** What stands above the rows of an input, as a line; empty where nothing does. */
export function headerLine(format: InputFormat): string {
  if (format.kind !== 'csv' || format.header === undefined) return '';
  return stringify([[...format.header]], {delimiter: format.delimiter});
}

/** Every line begins so. */
const START = '{"file":';

/** Whether a file is one of rejected rows, or empty, as far as it can be read: nothing else is replaced by one. */
export function isRejectsFile(path: string): boolean {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const head = Buffer.alloc(START.length);
    const bytes = readSync(file, head);
    return bytes === 0 || head.toString() === START;
  } catch {
    return false;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
