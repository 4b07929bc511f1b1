/**
 * What was worked out of texts that came twice lately. What comes once is not worth keeping: the garbage collector moves what is
 * kept, and it dies where that is expensive. Kept in two generations, of which the older one goes when the younger one is full.
 * Both together hold `maxBytes` at most, as `bytesOf` counts them.
 */
export class Recent<Value> {
  readonly #maxBytes: number;
  readonly #bytesOf: (text: string, value: Value) => number;
  /** What came lately, by 32 bits of each. */
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

  /** Returns true if the text came lately, and marks it as seen. Of a long text some characters tell enough. */
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
/** So many characters of a text are mixed. */
const SAMPLE = 64;

/** About what V8 keeps of an entry beside its text and its value. */
const ENTRY_BYTES = 100;
