/**
 * What was worked out of a text, for as long as it is among those that came lately: in two generations, of which the
 * older one goes when the younger one is full. Both together hold `maxBytes` at most, as `bytesOf` counts them.
 */
export class Recent<Value> {
  readonly #maxBytes: number;
  readonly #bytesOf: (text: string, value: Value) => number;
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
    if (old !== undefined) this.set(text, old);
    return old;
  }

  set(text: string, value: Value): void {
    const bytes = ENTRY_BYTES + this.#bytesOf(text, value);
    if (this.#youngBytes + bytes > this.#maxBytes / 2) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngBytes = 0;
    }
    this.#young.set(text, value);
    this.#youngBytes += bytes;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }
}

/**
 * Tells texts that come again from those that come once, which are not worth keeping: what is kept is moved about by the
 * garbage collector, and dies where it is dear. Of 8,192 that came lately, by 32 bits of each.
 */
export class CameBefore {
  readonly #seen = new Int32Array(SLOTS);

  /** Whether this came lately; from now on it did. */
  note(text: string): boolean {
    let mixed = 0;
    for (let at = 0; at < text.length; at++) mixed = (Math.imul(mixed, 31) + text.charCodeAt(at)) | 0;
    const slot = (mixed ^ (mixed >>> 16)) & (SLOTS - 1);
    const before = this.#seen[slot] === mixed;
    this.#seen[slot] = mixed;
    return before;
  }
}

const SLOTS = 2 ** 13;

/** About what V8 keeps of an entry beside its text and its value. */
const ENTRY_BYTES = 100;
