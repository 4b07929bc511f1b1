import type {InputFormat, Reject} from '../input/row.ts';
import {createCsvLine} from './csv-line.ts';

/**
 * A line of the file of rejected rows. The first line also has the input's `header`, so that the rejected
 * rows can be made into a list again.
 */
export function rejectLine(reject: Reject, header?: string): string {
  const {file, line, record: row, reason, detail, raw, raw_base64, raw_truncated} = reject;
  return `${JSON.stringify({file, line, row, reason, detail, raw, raw_base64, raw_truncated, header})}\n`;
}

/** The header of a CSV input, as a line; empty without a header. */
export function inputHeaderLine(format: InputFormat): string {
  if (format.kind !== 'csv' || format.header === undefined) return '';
  return `${createCsvLine(format.delimiter)(format.header)}\n`;
}
