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
export class LineCutter {
  readonly #eol: number;
  readonly #limit: number;
  /** A line whose end has not come yet. */
  readonly #open: HeadedBytes;

  constructor(eol: number, limit: number) {
    this.#eol = eol;
    this.#limit = limit;
    this.#open = new HeadedBytes(limit);
  }

  /** Takes a chunk, and returns the lines that are complete. */
  push(chunk: Buffer): Lines[] {
    const all: Lines[] = [];
    // Takes pieces of `limit` bytes, in which only a line that began in an earlier piece can be too long.
    for (let at = 0; at < chunk.length; at += this.#limit) {
      const piece = chunk.subarray(at, at + this.#limit);
      const end = piece.lastIndexOf(this.#eol) + 1;
      if (end > 0) all.push(this.#take(piece.subarray(0, end)));
      this.#open.add(piece.subarray(end));
    }
    return all;
  }

  /** Ends the stream, and returns its last line if that has no end. */
  end(): Lines[] {
    return this.#open.length === 0 ? [] : [this.#take(Buffer.alloc(0))];
  }

  #take(last: Buffer): Lines {
    const rest = Math.max(0, last.indexOf(this.#eol));
    if (this.#open.length === 0) return {bytes: last};
    if (this.#open.length + rest <= this.#limit) return {bytes: Buffer.concat([this.#open.take(), last])};
    this.#open.add(last.subarray(0, rest));
    const {length} = this.#open;
    return {long: {head: this.#open.take(), length}, bytes: last.subarray(rest + 1)};
  }
}
