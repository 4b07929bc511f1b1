import {createReadStream, createWriteStream, rmSync, statSync} from 'node:fs';
import {dirname} from 'node:path';
import type {Transform} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import zlib from 'node:zlib';
import {syncPath} from '../../disk/replace.ts';
import {OutputError, systemReason, UsageError} from '../../errors.ts';
import {type Compression, withoutCompression} from '../../job/name-endings.ts';
import {say, set} from '../../sentence.ts';

/** Functions that create a compressor. Undefined for a compression that this version of Node lacks. */
const engines: Readonly<Record<Compression, (() => Transform) | undefined>> = {
  gzip: zlib.createGzip,
  zstd: Reflect.get(zlib, 'createZstdCompress') as (() => Transform) | undefined,
};

/** @throws {UsageError} if this version of Node can't write this compression. */
export function engineOf(compression: Compression, path: string): () => Transform {
  const engine = engines[compression];
  if (engine !== undefined) return engine;
  const gzipped = `${withoutCompression(path)}.gz`;
  throw new UsageError(
    'output_compressed',
    say`${path} would be compressed with ${compression}, which this Node (${process.version}) can't do. Use Node >= 22.15, or gzip: ${gzipped}. Or write to a pipe (${set('output', '-')} | ${compression}); such a run can't be resumed.`,
    {flags: ['-o', gzipped]},
  );
}

/**
 * Compresses the finished output as a whole. Equal rows give equal bytes, however often the run was interrupted.
 *
 * @throws {OutputError} if the compressed file can't be written.
 */
export async function pack(
  from: string,
  to: string,
  engine: Transform,
  watched: (share: () => number) => void = () => {},
): Promise<void> {
  rmSync(to, {force: true});
  try {
    const {size} = statSync(from);
    const source = createReadStream(from);
    watched(() => source.bytesRead / Math.max(1, size));
    await pipeline(source, engine, createWriteStream(to, {flags: 'wx', mode: 0o600}));
    // After a power cut, the record of the publishing may still exist, and it needs this file. So the file's
    // name must be durable.
    syncPath(dirname(to));
  } catch (error) {
    throw new OutputError(
      'output_unwritable',
      `${to} can't be written (${systemReason(error)}). Fix the cause (disk space, permissions), then run the same command again: it makes no calls.`,
      {cause: error},
    );
  }
}
