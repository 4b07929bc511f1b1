import {isUtf8} from 'node:buffer';
import {type Said, say, set} from '../../sentence.ts';
import {InputError} from '../input-error.ts';
import type {FilePlace, Reject, RejectReason} from '../row.ts';
import type {ReaderSettings} from './record-reader.ts';

/** Maximum bytes kept of a rejected record's text. */
const RAW_LIMIT = 64 * 1024;

/**
 * Bytes that a reader keeps of a record that it will reject. They exceed the limit of {@link reject}, so that
 * it notices the cut.
 */
export const HEAD_BYTES = RAW_LIMIT + 4;

/** Makes the reject of a record that can't be read. Its text is `bytes` without the line end. */
export function reject(place: FilePlace, reason: RejectReason, detail: string, bytes: Buffer): Reject {
  const text = withoutLineEnd(bytes);
  const cut = text.length > RAW_LIMIT;
  return {
    type: 'reject',
    ...place,
    reason,
    detail,
    raw: (cut ? text.subarray(0, characterStart(text, RAW_LIMIT)) : text).toString('utf8'),
    ...(reason !== 'too_large' && !isUtf8(text) ? {raw_base64: text.toString('base64')} : {}),
    ...(cut ? {raw_truncated: true as const} : {}),
  };
}

/** The `detail` of a record with bytes that are invalid in the file's encoding. `perhaps`: the likely encoding. */
export function encodingDetail({perhaps, among = [], isUtf8Else}: ReaderSettings): Said {
  if (isUtf8Else === true)
    return 'the text is not UTF-8, and other lines are: the list was joined from files in two encodings';
  if (among.length > 0)
    return say`the text is not valid in its encoding, and may be ${among.join(' or ')}: try one with ${set('encoding')}, and compare some names`;
  return perhaps === undefined
    ? say`the text is not valid in its encoding; name the right one (${set('encoding')}), or save the list as UTF-8 (iconv -f NAME -t utf-8)`
    : say`the text is not valid in its encoding, and looks like ${perhaps}: ${set('encoding', perhaps)}`;
}

export function headerError(file: string, line: number, detail: Said, encoding?: string): InputError {
  const remedy = encoding === undefined ? {} : {flags: ['--encoding', encoding]};
  return new InputError(
    'input_header',
    say`${file}, line ${line}: the header can't be read: ${detail}.`,
    remedy,
  );
}

function withoutLineEnd(bytes: Buffer): Buffer {
  let end = bytes.length;
  if (bytes[end - 1] === 0x0a) end--;
  if (bytes[end - 1] === 0x0d) end--;
  return bytes.subarray(0, end);
}

/** The start of the character that contains byte `at`. */
function characterStart(text: Buffer, at: number): number {
  let start = at;
  while (start > at - 4 && ((text[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}
