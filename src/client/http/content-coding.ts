import {brotliDecompressSync, gunzipSync, inflateSync} from 'node:zlib';

/** Decoders by the name of their coding. Names are compared without case (RFC 9110, 8.4.1). */
const decoders: Readonly<Record<string, (bytes: Buffer, options: {maxOutputLength: number}) => Buffer>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

const utf8 = new TextDecoder('utf-8', {fatal: true});

/**
 * A body's text, or the reason why it can't be read. The client does not ask for compression. If a server
 * compresses anyway, once or several times, `maxOutputLength` limits each decoded size.
 */
export function decodeContent(
  body: Buffer,
  encoding: string | undefined,
  maxOutputLength: number,
): string | {readonly problem: string} {
  let bytes = body;
  try {
    for (const coding of codingsOf(encoding).reverse()) {
      if (coding === '' || coding === 'identity') continue;
      const decode = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined;
      if (decode === undefined) return {problem: 'the body’s Content-Encoding is not supported'};
      bytes = decode(bytes, {maxOutputLength});
    }
    return utf8.decode(bytes);
  } catch {
    return {problem: 'the body can’t be decoded, or is too large once it is'};
  }
}

function codingsOf(encoding: string | undefined): string[] {
  return encoding === undefined ? [] : encoding.split(',').map(coding => coding.trim().toLowerCase());
}
