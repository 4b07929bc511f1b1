import {closeSync, openSync, readSync} from 'node:fs';
import {stringify} from 'csv-stringify/sync';
import type {Reject} from '../input/row.ts';

/** A line of the file of rejected rows. */
export function rejectLine(reject: Reject): string {
  const {file, line, record: row, reason, detail, raw, raw_base64, raw_truncated} = reject;
  return `${JSON.stringify({file, line, row, reason, detail, raw, raw_base64, raw_truncated})}\n`;
}

/** The header above rejected rows that become a list again. */
export function headerLine(cells: readonly string[], delimiter: string): string {
  return stringify([[...cells]], {delimiter});
}

/** Every line begins so. */
const START = '{"file":';

/** Whether a file is one of rejected rows, or empty, as far as it can be read: nothing else is replaced by one. */
export function isRejectsFile(path: string): boolean {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const head = Buffer.alloc(START.length);
    const bytes = readSync(file, head);
    return bytes === 0 || head.toString() === START;
  } catch {
    return false;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
