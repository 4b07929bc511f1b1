import {createHash} from 'node:crypto';
import {statSync} from 'node:fs';
import {type FileHandle, open} from 'node:fs/promises';

/** Size and SHA-256 (hex) of a file, or of several files read one after another. */
export interface FileDigest {
  readonly bytes: number;
  readonly sha256: string;
}

const BLOCK_BYTES = 1_048_576;

/**
 * Computes one digest of all files, read one after another; with `most`, only of the first bytes of that
 * sequence.
 */
export async function digestFiles(
  sources: readonly (string | NodeJS.ReadableStream)[],
  most = Number.POSITIVE_INFINITY,
): Promise<FileDigest> {
  const hash = createHash('sha256');
  let bytes = 0;
  for (const source of sources) {
    const chunks = typeof source === 'string' ? openedBlocksOf(source) : source;
    for await (const chunk of chunks as AsyncIterable<Buffer>) {
      const part = chunk.subarray(0, most - bytes);
      hash.update(part);
      bytes += part.length;
      if (bytes === most) return {bytes, sha256: hash.digest('hex')};
    }
  }
  return {bytes, sha256: hash.digest('hex')};
}

async function* openedBlocksOf(path: string): AsyncGenerator<Buffer> {
  const file = await open(path);
  try {
    yield* blocksOf(file);
  } finally {
    await file.close();
  }
}

/**
 * Yields a file's bytes in blocks, from its current position: a pipe can't be read from any other. Each block overwrites
 * the block before, since all use one buffer: a stream would leave dozens of buffers to the garbage collector.
 */
async function* blocksOf(file: FileHandle): AsyncGenerator<Buffer> {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  for (;;) {
    const {bytesRead} = await file.read(block, 0, BLOCK_BYTES, null);
    if (bytesRead === 0) return;
    yield block.subarray(0, bytesRead);
  }
}

export async function hasDigest(path: string, {bytes, sha256}: FileDigest): Promise<boolean> {
  if (statSync(path, {throwIfNoEntry: false})?.size !== bytes) return false;
  return (await digestFiles([path])).sha256 === sha256;
}
