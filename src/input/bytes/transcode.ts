import iconv from 'iconv-lite';
import type {SettingsFor} from '../../job/settings.ts';

/** Encoding of an input; `auto` is decided by its bytes. */
export type InputEncoding = SettingsFor<'reading'>['encoding'];
export type EncodingName = Exclude<InputEncoding, 'auto'>;

/** An encoding, and the length of the byte order mark before the text. */
export interface Encoding {
  readonly name: EncodingName;
  readonly bomBytes: number;
}

/** A byte that UTF-8 never contains. */
const NO_TEXT = Buffer.from([0xff]);

/**
 * Turns chunks into UTF-8 bytes. Invalid input becomes a byte that UTF-8 forbids: the record with it is then rejected,
 * and not changed silently. UTF-8 passes unchanged, valid or not.
 */
export async function* transcode(
  chunks: AsyncIterable<Buffer>,
  {name, bomBytes}: Encoding,
): AsyncGenerator<Buffer> {
  const convert = name === 'utf-8' ? (chunk: Buffer) => chunk : converter(name);
  let mark = bomBytes;
  for await (const chunk of chunks) {
    const bytes = convert(chunk.subarray(mark), false);
    mark = Math.max(0, mark - chunk.length);
    if (bytes.length > 0) yield bytes;
  }
  const bytes = convert(Buffer.alloc(0), true);
  if (bytes.length > 0) yield bytes;
}

function converter(name: EncodingName): (chunk: Buffer, last: boolean) => Buffer {
  const decoder = iconv.getDecoder(name, {stripBOM: false});
  const isUtf16 = name.startsWith('utf-16');
  // UTF-16 may hold U+FFFD itself, and only half a pair of surrogates is invalid.
  const invalid = isUtf16 ? /\p{Surrogate}/u : '\uFFFD';
  let length = 0;
  let half = '';
  return (chunk, last) => {
    length += chunk.length;
    const text = half + decoder.write(chunk) + ((last && decoder.end()) || '');
    half = !last && /[\uD800-\uDBFF]$/.test(text) ? text.slice(-1) : '';
    const [first = '', ...afterFaults] = text.slice(0, text.length - half.length).split(invalid);
    const cut = last && isUtf16 && length % 2 === 1 ? [NO_TEXT] : [];
    return Buffer.concat([
      Buffer.from(first),
      ...afterFaults.flatMap(part => [NO_TEXT, Buffer.from(part)]),
      ...cut,
    ]);
  };
}
