/** Chunks whose first bytes were looked at. */
export interface Peeked {
  /** The first bytes, as many as were asked for, or all there are. */
  readonly head: Buffer;
  /** All chunks, those of the head included. */
  readonly chunks: AsyncGenerator<Buffer>;
}

/**
 * Looks at the first `size` bytes. However the bytes are cut into chunks, the head is the same, so that what is
 * decided by it is the same too.
 */
export async function peek(chunks: AsyncGenerator<Buffer>, size: number): Promise<Peeked> {
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

async function* resume(seen: Buffer[], rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  for (let chunk = seen.shift(); chunk !== undefined; chunk = seen.shift()) yield chunk;
  yield* rest;
}
