/** Chunks with their first bytes known. */
export interface Peeked {
  /** The first bytes, as many as requested or available. */
  readonly head: Buffer;
  /** All chunks, including the head. */
  readonly chunks: AsyncGenerator<Buffer>;
}

/**
 * Reads the first `size` bytes ahead. A decision that uses these bytes then does not depend on the size
 * of the chunks.
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
