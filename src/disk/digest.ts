import {createHash} from 'node:crypto';
import {statSync} from 'node:fs';
import {open} from 'node:fs/promises';

/** Size and SHA-256 (hex) of a file, or of several files read one after another. */
export interface FileDigest {
  readonly bytes: number;
  readonly sha256: string;
}

const BLOCK_BYTES = 262_144;

/** Computes one digest of all files, read one after another; with `most`, only of the first bytes of that sequence. */
export async function digestFiles(
  sources: readonly (string | NodeJS.ReadableStream)[],
  most = Number.POSITIVE_INFINITY,
): Promise<FileDigest> {
  const hash = createHash('sha256');
  let bytes = 0;
  for (const source of sources) {
    const chunks = typeof source === 'string' ? await openBlocks(source) : source;
    for await (const chunk of chunks as AsyncIterable<Buffer>) {
      const part = chunk.subarray(0, most - bytes);
      hash.update(part);
      bytes += part.length;
      if (bytes === most) return {bytes, sha256: hash.digest('hex')};
    }
  }
  return {bytes, sha256: hash.digest('hex')};
}

async function openBlocks(path: string): Promise<NodeJS.ReadableStream> {
  const file = await open(path);
  return file.createReadStream({highWaterMark: BLOCK_BYTES});
}

export async function hasDigest(path: string, {bytes, sha256}: FileDigest): Promise<boolean> {
  if (statSync(path, {throwIfNoEntry: false})?.size !== bytes) return false;
  return (await digestFiles([path])).sha256 === sha256;
}
