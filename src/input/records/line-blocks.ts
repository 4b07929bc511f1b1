import {HEAD_BYTES} from './reject.ts';

export const LF = 0x0a;
export const CR = 0x0d;
export const QUOTE = 0x22;

/** Whole lines, or the beginning of a line that exceeds the limit. */
export type LineBlock =
  | {readonly kind: 'lines'; readonly bytes: Buffer}
  | {readonly kind: 'too_long'; readonly head: Buffer; readonly length: number};

/**
 * Cuts a stream of bytes into blocks of whole lines. A line has at most `limit` bytes before its line end. Only the
 * last line may lack a line end. If a line exceeds the limit, its beginning is kept for the reject, and its rest is
 * dropped. The size of the stream's chunks changes only how lines are grouped.
 */
export class LineBlocks {
  readonly #eol: number;
  readonly #limit: number;
  #tail: Buffer[] = [];
  #tailLength = 0;
  /** A line that exceeds the limit and has not ended yet: its beginning, and its length so far. */
  #dropping: {head: Buffer; length: number} | undefined;

  constructor(eol: number, limit: number) {
    this.#eol = eol;
    this.#limit = limit;
  }

  /** Takes a chunk, and returns the blocks that are complete. */
  push(chunk: Buffer): LineBlock[] {
    const blocks: LineBlock[] = [];
    // Takes pieces of `limit` bytes, in which only a line that began in an earlier piece can be too long.
    for (let start = 0; start < chunk.length; start += this.#limit) {
      this.#piece(chunk.subarray(start, start + this.#limit), blocks);
    }
    return blocks;
  }

  /** Ends the stream, and returns the last block if there is one. */
  end(): LineBlock[] {
    if (this.#dropping !== undefined) return [{kind: 'too_long', ...this.#dropping}];
    const bytes = this.#takeTail();
    return bytes.length === 0 ? [] : [{kind: 'lines', bytes}];
  }

  #piece(piece: Buffer, blocks: LineBlock[]): void {
    const first = piece.indexOf(this.#eol);
    const lineLength = first === -1 ? piece.length : first;
    if (this.#dropping !== undefined || this.#tailLength + lineLength > this.#limit) {
      this.#drop(this.#takeTail(piece.subarray(0, lineLength)));
      if (first !== -1) this.#endLongLine(piece, first, blocks);
    } else if (first === -1) {
      this.#tail.push(piece);
      this.#tailLength += piece.length;
    } else {
      const end = piece.lastIndexOf(this.#eol) + 1;
      blocks.push({kind: 'lines', bytes: this.#takeTail(piece.subarray(0, end))});
      if (end < piece.length) this.#piece(piece.subarray(end), blocks);
    }
  }

  /** Copies the beginning of a long line, which its reject shows, so that the line itself leaves memory. */
  #drop(part: Buffer): void {
    const {head, length} = this.#dropping ?? {head: Buffer.alloc(0), length: 0};
    const missing = HEAD_BYTES - head.length;
    this.#dropping = {
      head: missing > 0 ? Buffer.concat([head, part.subarray(0, missing)]) : head,
      length: length + part.length,
    };
  }

  #endLongLine(piece: Buffer, eolAt: number, blocks: LineBlock[]): void {
    if (this.#dropping !== undefined) blocks.push({kind: 'too_long', ...this.#dropping});
    this.#dropping = undefined;
    if (eolAt + 1 < piece.length) this.#piece(piece.subarray(eolAt + 1), blocks);
  }

  #takeTail(more?: Buffer): Buffer {
    if (this.#tail.length === 0) return more ?? Buffer.alloc(0);
    const bytes = Buffer.concat(more === undefined ? this.#tail : [...this.#tail, more]);
    this.#tail = [];
    this.#tailLength = 0;
    return bytes;
  }
}
