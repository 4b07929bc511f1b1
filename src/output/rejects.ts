import {closeSync, openSync, readSync} from 'node:fs';
import type {Reject} from '../input/row.ts';

/** A line of the file of rejected rows. */
export function rejectLine({
  file,
  line,
  record,
  reason,
  detail,
  raw,
  raw_base64,
  raw_truncated,
}: Reject): string {
  return `${JSON.stringify({file, line, row: record, reason, detail, raw, raw_base64, raw_truncated})}\n`;
}

/** Every line begins so. */
const START = '{"file":';

/** Whether a file is one of rejected rows, or empty: nothing else is replaced by one. */
export function isRejectsFile(path: string): boolean {
  const head = Buffer.alloc(START.length);
  const file = openSync(path, 'r');
  try {
    const bytes = readSync(file, head);
    return START.startsWith(head.toString('utf8', 0, bytes)) && (bytes === 0 || bytes === head.length);
  } finally {
    closeSync(file);
  }
}
