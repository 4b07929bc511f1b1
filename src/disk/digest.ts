import {createHash} from 'node:crypto';
import {createReadStream, statSync} from 'node:fs';

/** Size and SHA-256 (hex). */
export interface FileDigest {
  readonly bytes: number;
  readonly sha256: string;
}

/** Size and SHA-256 of one file, or of several read one after the other; of their first `most` bytes at most. */
export async function digestFiles(
  sources: readonly (string | NodeJS.ReadableStream)[],
  most = Number.POSITIVE_INFINITY,
): Promise<FileDigest> {
  const hash = createHash('sha256');
  let bytes = 0;
  for (const source of sources) {
    const chunks = typeof source === 'string' ? createReadStream(source, {highWaterMark: 1_048_576}) : source;
    for await (const chunk of chunks as AsyncIterable<Buffer>) {
      const part = chunk.subarray(0, most - bytes);
      hash.update(part);
      bytes += part.length;
      if (bytes === most) return {bytes, sha256: hash.digest('hex')};
    }
  }
  return {bytes, sha256: hash.digest('hex')};
}

/** Whether a file is the one of this digest. */
export async function hasDigest(path: string, {bytes, sha256}: FileDigest): Promise<boolean> {
  if (statSync(path, {throwIfNoEntry: false})?.size !== bytes) return false;
  return (await digestFiles([path])).sha256 === sha256;
}
