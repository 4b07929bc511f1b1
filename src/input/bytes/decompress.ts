import {pipeline, type Transform} from 'node:stream';
import zlib from 'node:zlib';
import type {Compression} from '../../job/file-names.ts';
import {conversionRemedy, InputError} from '../input-error.ts';

type CreateEngine = (options: {chunkSize: number}) => Transform;

interface Decoder {
  /** First bytes of data in this format. A file with these bytes has the format, whatever its name. */
  readonly magic: Buffer;
  /** Undefined if this Node has no decoder that notices cut-off data. */
  readonly engine: CreateEngine | undefined;
}

/** Undefined if Node's zstd decoder is missing or accepts cut-off data (Node 22): a list's end would be lost. */
function zstdEngine(): CreateEngine | undefined {
  const {zstdDecompressSync, createZstdDecompress} = zlib as {
    zstdDecompressSync?: (data: Buffer) => Buffer;
    createZstdDecompress?: CreateEngine;
  };
  try {
    zstdDecompressSync?.(Buffer.from('28b52ffd2008', 'hex'));
    return undefined;
  } catch {
    return createZstdDecompress;
  }
}

/** In messages, the name of a compression is also the name of the command for it. */
export const decompressors: Readonly<Record<Compression, Decoder>> = {
  gzip: {magic: Buffer.from('1f8b', 'hex'), engine: zlib.createGunzip},
  zstd: {magic: Buffer.from('28b52ffd', 'hex'), engine: zstdEngine()},
};

const HEAD_BYTES = 4;

/**
 * Decompresses data of the known formats (also gzip with several members). Other data passes unchanged.
 *
 * @throws {InputError} `input_compression` if this Node can't read the format; `input_corrupt` if data is damaged.
 */
export async function* decompress(
  raw: AsyncGenerator<Buffer>,
  name: string,
  chunkSize: number,
  known: typeof decompressors = decompressors,
): AsyncGenerator<Buffer> {
  const {head, chunks} = await peek(raw, HEAD_BYTES);
  const format = Object.entries(known).find(([, {magic}]) => head.subarray(0, magic.length).equals(magic));
  if (format === undefined) return yield* chunks;
  const [compression, {engine}] = format;
  if (engine === undefined)
    throw new InputError(
      'input_compression',
      `${name} is compressed with ${compression}, which this Node (${process.version}) can't read. Use Node >= 24, or pipe it through ${compression} -dc.`,
      conversionRemedy(`${compression} -dc`, name),
    );
  yield* inflate(chunks, engine({chunkSize}), name, compression);
}

async function* inflate(
  chunks: AsyncGenerator<Buffer>,
  engine: Transform,
  name: string,
  compression: string,
): AsyncGenerator<Buffer> {
  // The iterator has no return(), so a decoder that ends early can't close `chunks`: the last loop reads the rest.
  const feed = {[Symbol.asyncIterator]: () => ({next: () => chunks.next()})};
  pipeline(feed, engine, () => {});
  try {
    for await (const chunk of engine) yield chunk;
  } catch (error) {
    if (error instanceof InputError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new InputError(
      'input_corrupt',
      `${name} is incomplete: its ${compression} data is cut off or damaged (${why}). Get the file again; \`${compression} -t\` checks it.`,
      {cause: error},
    );
  } finally {
    engine.destroy();
  }
  // Reads the padding after the compressed data: it has no rows, but the hash of the input must include it.
  for await (const _ of chunks);
}

/**
 * Reads ahead: `head` has the first `size` bytes, or all if there are fewer, and `chunks` has everything. A decision by the
 * head does not depend on the size of the chunks.
 */
export async function peek(
  chunks: AsyncGenerator<Buffer>,
  size: number,
): Promise<{readonly head: Buffer; readonly chunks: AsyncGenerator<Buffer>}> {
  const seen: Buffer[] = [];
  let length = 0;
  while (length < size) {
    const {done, value} = await chunks.next();
    if (done === true) break;
    seen.push(value);
    length += value.length;
  }
  return {head: Buffer.concat(seen).subarray(0, size), chunks: resume(seen, chunks)};
}

/** Yields what was read ahead, and forgets it, then all that follows. */
export async function* resume<Part>(ahead: Part[], following: AsyncGenerator<Part>): AsyncGenerator<Part> {
  for (let part = ahead.shift(); part !== undefined; part = ahead.shift()) yield part;
  yield* following;
}
