/**
 * Remembers results for texts that came twice lately. A text that comes once is not kept: the garbage collector would
 * move it and free it late.
 *
 * Two generations; the older is dropped when the younger is full. Both together hold at most `maxBytes`, as `bytesOf`
 * counts them.
 */
export class Recent<Value> {
  readonly #maxBytes: number;
  readonly #bytesOf: (text: string, value: Value) => number;
  /** Recent texts, by 32 bits of each. */
  readonly #seen = new Int32Array(SLOTS);
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();
  #youngBytes = 0;

  constructor(maxBytes: number, bytesOf: (text: string, value: Value) => number) {
    this.#maxBytes = maxBytes;
    this.#bytesOf = bytesOf;
  }

  get(text: string): Value | undefined {
    const young = this.#young.get(text);
    if (young !== undefined) return young;
    const old = this.#old.get(text);
    if (old !== undefined) this.#keep(text, old);
    return old;
  }

  /** Keeps the value if its text came lately. */
  set(text: string, value: Value): void {
    if (this.#note(text)) this.#keep(text, value);
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  #keep(text: string, value: Value): void {
    const bytes = ENTRY_BYTES + this.#bytesOf(text, value);
    if (this.#youngBytes + bytes > this.#maxBytes / 2) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngBytes = 0;
    }
    this.#young.set(text, value);
    this.#youngBytes += bytes;
  }

  /** Returns true if the text came lately, and marks it as seen. Reads only some characters of a long text. */
  #note(text: string): boolean {
    const step = Math.ceil(text.length / SAMPLE);
    let mixed = text.length;
    for (let at = 0; at < text.length; at += step) mixed = (Math.imul(mixed, 31) + text.charCodeAt(at)) | 0;
    const slot = (mixed ^ (mixed >>> 16)) & (SLOTS - 1);
    const before = this.#seen[slot] === mixed;
    this.#seen[slot] = mixed;
    return before;
  }
}

const SLOTS = 2 ** 13;
/** Characters of a text that are hashed. */
const SAMPLE = 64;

/** V8's memory of an entry beside its text and its value, roughly. */
const ENTRY_BYTES = 100;
