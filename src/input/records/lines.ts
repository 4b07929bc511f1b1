import {HeadedBytes} from './reader.ts';

export const LF = 0x0a;
export const CR = 0x0d;
export const QUOTE = 0x22;

/** Whole lines, and above them perhaps a line that exceeds the limit: its beginning, and its length. */
export interface Lines {
  readonly long?: {readonly head: Buffer; readonly length: number};
  readonly bytes: Buffer;
}

/**
 * Cuts a stream of bytes into whole lines of at most `limit` bytes before the line end. Only the last line of the stream
 * may lack its end. Chunks change only how the lines are grouped.
 */
export async function* cutLines(
  chunks: AsyncIterable<Buffer>,
  eol: number,
  limit: number,
): AsyncGenerator<Lines> {
  /** A line whose end has not come yet. */
  const open = new HeadedBytes(limit);
  const take = (last: Buffer): Lines => {
    const rest = Math.max(0, last.indexOf(eol));
    if (open.length === 0) return {bytes: last};
    if (open.length + rest <= limit) return {bytes: Buffer.concat([open.take(), last])};
    open.add(last.subarray(0, rest));
    const {length} = open;
    return {long: {head: open.take(), length}, bytes: last.subarray(rest + 1)};
  };
  // Takes pieces of `limit` bytes, in which only a line that began in an earlier piece can be too long.
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += limit) {
      const piece = chunk.subarray(at, at + limit);
      const end = piece.lastIndexOf(eol) + 1;
      if (end > 0) yield take(piece.subarray(0, end));
      open.add(piece.subarray(end));
    }
  if (open.length > 0) yield take(Buffer.alloc(0));
}
