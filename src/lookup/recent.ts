/**
 * Remembers results for texts that came twice lately. A text that comes once is not kept: the garbage collector would
 * move it and free it late.
 *
 * Keeps two generations; the older is dropped when the younger is full. Both together hold at most `maxBytes`, as
 * `bytesOf` counts them.
 */
export class Recent<Value> {
  readonly #maxBytes: number;
  readonly #bytesOf: (text: string, value: Value) => number;
  /** 32 hashed bits of each recent text, to recognize a text that comes again. */
  readonly #seen = new Int32Array(SLOTS);
  #young = new Generation<Value>();
  #old = new Generation<Value>();
  #youngBytes = 0;

  constructor(maxBytes: number, bytesOf: (text: string, value: Value) => number) {
    this.#maxBytes = maxBytes;
    this.#bytesOf = bytesOf;
  }

  get(text: string): Value | undefined {
    const slot = mixOf(text) & LOWEST_BITS;
    const young = this.#young.get(slot, text);
    if (young !== undefined) return young;
    const old = this.#old.get(slot, text);
    if (old !== undefined) this.#keep(slot, text, old);
    return old;
  }

  /** Keeps the value if its text came lately. */
  set(text: string, value: Value): void {
    const mixed = mixOf(text);
    const slot = mixed & LOWEST_BITS;
    if (this.#seen[slot] === mixed) this.#keep(slot, text, value);
    else this.#seen[slot] = mixed;
  }

  get size(): number {
    return this.#young.values.size + this.#old.values.size;
  }

  #keep(slot: number, text: string, value: Value): void {
    const bytes = ENTRY_BYTES + this.#bytesOf(text, value);
    if (this.#youngBytes + bytes > this.#maxBytes / 2) {
      this.#old = this.#young;
      this.#young = new Generation();
      this.#youngBytes = 0;
    }
    this.#young.set(slot, text, value);
    this.#youngBytes += bytes;
  }
}

/**
 * Values by their texts. A Map reads a whole text to find out that the text is missing. For most texts that come once,
 * an unused slot shows this sooner.
 */
class Generation<Value> {
  readonly values = new Map<string, Value>();
  readonly #used = new Uint8Array(SLOTS);

  get(slot: number, text: string): Value | undefined {
    return this.#used[slot] === 1 ? this.values.get(text) : undefined;
  }

  set(slot: number, text: string, value: Value): void {
    this.#used[slot] = 1;
    this.values.set(text, value);
  }
}

/** Returns 32 bits of a text. For a long text, some of its characters are enough. */
function mixOf(text: string): number {
  const step = Math.ceil(text.length / SAMPLE);
  let mixed = text.length;
  for (let at = 0; at < text.length; at += step) mixed = (Math.imul(mixed, 31) + text.charCodeAt(at)) | 0;
  return mixed ^ (mixed >>> 16);
}

const SLOTS = 2 ** 13;
const LOWEST_BITS = SLOTS - 1;
/** Maximum number of a text's characters that are hashed. */
const SAMPLE = 64;

/** V8's memory of an entry beside its text and its value, roughly. */
const ENTRY_BYTES = 100;
