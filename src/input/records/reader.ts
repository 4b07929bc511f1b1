import {isUtf8} from 'node:buffer';
import type {EncodingFault} from '../bytes/detect-encoding.ts';
import type {InputCounts, Reject, RejectReason} from '../row.ts';

/** Maximum bytes of a record of a list. */
export const RECORD_BYTES = 1_048_576;

export interface ReaderSettings {
  /** The file's name, for rejects and errors. */
  readonly file: string;
  /** Maximum bytes of a record as UTF-8. A longer record is rejected, and never completely in memory. */
  readonly maxRecordSize: number;
  readonly tally: InputCounts;
  readonly badBytes: EncodingFault;
}

/** Maximum bytes kept of a rejected record's text. */
const RAW_LIMIT = 64 * 1024;

/** Bytes that are kept of a record that will be rejected: more than {@link rejectRecord}, which notices the cut. */
const HEAD_BYTES = RAW_LIMIT + 4;

/** Collects the bytes of a record; only the beginning of one that exceeds the limit. */
export class RecordBuffer {
  readonly #limit: number;
  #parts: Buffer[] = [];
  /** Length of the whole record so far. */
  length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(part: Buffer): void {
    this.#parts.push(part);
    this.length += part.length;
    if (this.length <= this.#limit) return;
    const heads = this.#parts.map(part => part.subarray(0, HEAD_BYTES));
    this.#parts = [Buffer.concat(heads).subarray(0, HEAD_BYTES)];
  }

  /** Returns the bytes, and begins another record. */
  take(): Buffer {
    const bytes = Buffer.concat(this.#parts);
    this.#parts = [];
    this.length = 0;
    return bytes;
  }
}

/** Counts a record that can't be read, and makes its reject. Its text is `bytes` without the line end. */
export function rejectRecord(
  {file, tally}: ReaderSettings,
  line: number,
  reason: RejectReason,
  detail: string,
  bytes: Buffer,
): Reject {
  const ends = [bytes.at(-1) === 0x0a, bytes.at(bytes.at(-1) === 0x0a ? -2 : -1) === 0x0d];
  const text = bytes.subarray(0, bytes.length - ends.filter(Boolean).length);
  const cut = text.length > RAW_LIMIT;
  return {
    type: 'reject',
    record: ++tally.recordsRead,
    line,
    file,
    reason,
    detail,
    raw: (cut ? text.subarray(0, characterStart(text, RAW_LIMIT)) : text).toString('utf8'),
    ...(reason !== 'too_large' && !isUtf8(text) ? {raw_base64: text.toString('base64')} : {}),
    ...(cut ? {raw_truncated: true as const} : {}),
  };
}

/** The start of the character that contains byte `at`. */
function characterStart(text: Buffer, at: number): number {
  let start = at;
  while (start > at - 4 && ((text[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}

export const LF = 0x0a;
export const CR = 0x0d;
export const QUOTE = 0x22;

/** Whole lines, and above them perhaps a line that exceeds the limit: its beginning, and its length. */
export interface LineBatch {
  readonly long?: {readonly head: Buffer; readonly length: number};
  readonly bytes: Buffer;
}

/**
 * Cuts a stream of bytes into whole lines of at most `limit` bytes before the line end. Only the last line of the stream
 * may lack its end. Chunks change only how the lines are grouped.
 */
export async function* cutLines(
  chunks: AsyncIterable<Buffer>,
  eol: number,
  limit: number,
): AsyncGenerator<LineBatch> {
  /** A line whose end has not come yet. */
  const open = new RecordBuffer(limit);
  const take = (last: Buffer): LineBatch => {
    const eolAt = Math.max(0, last.indexOf(eol));
    if (open.length === 0) return {bytes: last};
    if (open.length + eolAt <= limit) return {bytes: Buffer.concat([open.take(), last])};
    open.add(last.subarray(0, eolAt));
    const {length} = open;
    return {long: {head: open.take(), length}, bytes: last.subarray(eolAt + 1)};
  };
  // Takes pieces of `limit` bytes, in which only a line that began in an earlier piece can be too long.
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += limit) {
      const piece = chunk.subarray(at, at + limit);
      const end = piece.lastIndexOf(eol) + 1;
      if (end > 0) yield take(piece.subarray(0, end));
      open.add(piece.subarray(end));
    }
  if (open.length > 0) yield take(Buffer.alloc(0));
}
