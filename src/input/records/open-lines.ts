import {QUOTE} from './line-blocks.ts';

/** An incomplete record above this size is only parsed again once it has doubled: see {@link OpenLines.add}. */
const EAGER_BYTES = 64 * 1024;

/** Whole lines of which no record was taken yet. The first begins a record, which may be incomplete. */
export class OpenLines {
  readonly #limit: number;
  #parts: Buffer[] = [];
  #length = 0;
  /** Length in bytes when the lines were last parsed and found incomplete; 0 if they were not parsed yet. */
  #triedLength = 0;

  /** `limit`: the most bytes that one record may have. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get length(): number {
    return this.#length;
  }

  /** Adds lines. Returns true if the first record may be complete with them, and parsing it is worth the time. */
  add(lines: Buffer): boolean {
    this.#parts.push(lines);
    this.#length += lines.length;
    if (this.#triedLength === 0 || this.#length > this.#limit) return true;
    if (!lines.includes(QUOTE)) return false;
    return this.#length <= EAGER_BYTES || this.#length >= 2 * this.#triedLength;
  }

  take(): Buffer {
    const [first, ...others] = this.#parts;
    const bytes = first !== undefined && others.length === 0 ? first : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#length = 0;
    this.#triedLength = 0;
    return bytes;
  }

  /** Puts lines back that were parsed and found incomplete. */
  putBack(lines: Buffer): void {
    this.#parts = [lines];
    this.#length = lines.length;
    this.#triedLength = lines.length;
  }
}
