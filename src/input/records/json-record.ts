import {isUtf8} from 'node:buffer';
import type {InputRecord, NdjsonRow, RejectReason} from '../row.ts';
import {type ReaderSettings, rejectRecord} from './reader.ts';

/** Makes a record of the bytes of one JSON value; undefined for blanks. `sound`: the bytes are surely UTF-8. */
export function jsonRecord(
  bytes: Buffer,
  line: number,
  settings: ReaderSettings,
  sound: boolean,
): InputRecord | undefined {
  const rejected = (reason: RejectReason, detail: string) =>
    rejectRecord(settings, line, reason, detail, bytes);
  if (!sound && !isUtf8(bytes)) return rejected('invalid_encoding', String(settings.badBytes.detail));
  const raw = bytes.toString('utf8');
  if (raw.trim() === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch {
    // Leaves out the message of JSON.parse: it quotes the text, which may be personal data.
    return rejected('invalid_json', 'the line is not valid JSON');
  }
  if (!isObject(value)) return rejected('not_an_object', `expected a JSON object, found ${kindOf(value)}`);
  return {type: 'ndjson', record: ++settings.tally.recordsRead, line, raw, value};
}

export function isObject(value: unknown): value is NdjsonRow['value'] {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The kind of a value that is not an object, for a message: `null`, `an array`, `a number`. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}
