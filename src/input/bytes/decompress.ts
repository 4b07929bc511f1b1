import {pipeline, type Transform} from 'node:stream';
import zlib from 'node:zlib';
import {InputError} from '../input-error.ts';
import {peek} from './peek.ts';

type Compression = 'gzip' | 'zstd' | 'none';

/** What the first bytes say, whatever the file is called. */
function detectCompression(head: Buffer): Compression {
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip';
  if (head.length >= 4 && head.readUInt32LE(0) === 0xfd2fb528) return 'zstd';
  return 'none';
}

/** Decompresses what is gzip (also several members in a row) or zstd, and passes anything else. Throws InputError. */
export async function* decompress(
  raw: AsyncGenerator<Buffer>,
  name: string,
  chunkSize: number,
  createZstd: CreateDecompressor | undefined = nodeZstd(),
): AsyncGenerator<Buffer> {
  const {head, chunks} = await peek(raw, 4);
  const compression = detectCompression(head);
  if (compression === 'none') {
    yield* chunks;
    return;
  }
  if (compression === 'gzip') {
    yield* inflate(chunks, zlib.createGunzip({chunkSize}), name, compression);
    return;
  }
  if (createZstd === undefined) {
    throw new InputError(
      'input_compression',
      `${name} is compressed with zstd, which this Node (${process.version}) can't read. Use Node >= 22.15, or: zstd -dc ${name} | bulk-enrich run -`,
    );
  }
  yield* inflate(chunks, createZstd({chunkSize}), name, compression);
}

type CreateDecompressor = (options: {chunkSize: number}) => Transform;

/** Node's zstd decompressor, which is there from 22.15 on. */
function nodeZstd(): CreateDecompressor | undefined {
  const create: unknown = Reflect.get(zlib, 'createZstdDecompress');
  return typeof create === 'function' ? (create as CreateDecompressor) : undefined;
}

async function* inflate(
  chunks: AsyncGenerator<Buffer>,
  engine: Transform,
  name: string,
  compression: Compression,
): AsyncGenerator<Buffer> {
  // Without its return(), so that an engine that is done before its input is doesn't close it: see below.
  const feed = {[Symbol.asyncIterator]: () => ({next: () => chunks.next()})};
  pipeline(feed, engine, () => {});
  try {
    for await (const chunk of engine) yield chunk;
  } catch (error) {
    if (error instanceof InputError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new InputError(
      'input_corrupt',
      `${name} is not whole: its ${compression} data is cut off or damaged (${why}). Get the file again; \`${compression} -t\` tells whether it is sound.`,
      {cause: error},
    );
  } finally {
    engine.destroy();
  }
  // Padding behind the last member: no data, but a part of the file and of its hash.
  for await (const _ of chunks);
}
