import iconv from 'iconv-lite';
import type {SettingsFor} from '../../job/settings.ts';

/** Encoding of an input; `auto` is decided by its bytes. */
export type InputEncoding = SettingsFor<'reading'>['encoding'];
export type EncodingName = Exclude<InputEncoding, 'auto'>;

/** An encoding, and the length of the byte order mark before the text. */
export interface Encoding {
  readonly name: EncodingName;
  readonly bomBytes: 0 | 2 | 3 | 4;
}

/**
 * Turns chunks into UTF-8 bytes. Invalid input (in UTF-16 a lone surrogate, or an odd byte at the end) becomes
 * bytes that are invalid in UTF-8 too: the record with them is then rejected, and not changed silently. UTF-8
 * passes unchanged, valid or not.
 */
export async function* transcode(chunks: AsyncIterable<Buffer>, encoding: Encoding): AsyncGenerator<Buffer> {
  const convert = converter(encoding.name);
  let mark = encoding.bomBytes as number;
  for await (const chunk of chunks) {
    const text = chunk.subarray(mark);
    mark = Math.max(0, mark - chunk.length);
    const bytes = convert(text, false);
    if (bytes.length > 0) yield bytes;
  }
  const bytes = convert(Buffer.alloc(0), true);
  if (bytes.length > 0) yield bytes;
}

type Convert = (chunk: Buffer, last: boolean) => Buffer;

function converter(name: Encoding['name']): Convert {
  switch (name) {
    case 'utf-8':
      return chunk => chunk;
    case 'utf-16le':
      return utf16Converter(false);
    case 'utf-16be':
      return utf16Converter(true);
    default:
      return otherConverter(name);
  }
}

/** Makes a converter. A byte without meaning, such as 0x81 in windows-1252, becomes a byte that UTF-8 forbids. */
function otherConverter(name: EncodingName): Convert {
  const decoder = iconv.getDecoder(name);
  return (chunk, last) => {
    const text = decoder.write(chunk) + (last ? (decoder.end() ?? '') : '');
    const [first = '', ...rest] = text.split('\uFFFD');
    return Buffer.concat([Buffer.from(first), ...rest.flatMap(part => [NO_TEXT, Buffer.from(part)])]);
  };
}

function utf16Converter(bigEndian: boolean): Convert {
  let rest = Buffer.alloc(0);
  return (chunk, last) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const length = last ? bytes.length & ~1 : wholeCharacters(bytes, bigEndian);
    rest = Buffer.from(bytes.subarray(length));
    const units = bytes.subarray(0, length);
    const text = (bigEndian ? Buffer.from(units).swap16() : units).toString('utf16le');
    const converted = toUtf8(text);
    return last && rest.length > 0 ? Buffer.concat([converted, NO_TEXT]) : converted;
  };
}

/** A byte that UTF-8 never contains. */
const NO_TEXT = Buffer.from([0xff]);

/** Number of bytes that form whole characters. An odd byte, or half a surrogate pair, waits for the next chunk. */
function wholeCharacters(bytes: Buffer, bigEndian: boolean): number {
  const length = bytes.length & ~1;
  if (length === 0) return 0;
  const unit = bigEndian ? bytes.readUInt16BE(length - 2) : bytes.readUInt16LE(length - 2);
  return unit >= 0xd800 && unit <= 0xdbff ? length - 2 : length;
}

function toUtf8(text: string): Buffer {
  if (!/\p{Surrogate}/u.test(text)) return Buffer.from(text);
  const parts = text.split(/(\p{Surrogate})/u);
  return Buffer.concat(parts.map((part, i) => (i % 2 === 0 ? Buffer.from(part) : surrogateBytes(part))));
}

/** Encodes a lone surrogate in three bytes that UTF-8 forbids, so that its record is rejected later. */
function surrogateBytes(surrogate: string): Buffer {
  const unit = surrogate.charCodeAt(0);
  return Buffer.from([0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)]);
}
