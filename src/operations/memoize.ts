/** Returns a function that makes its result at the first call, and keeps it. */
export function memoize<T>(make: () => T): () => T {
  let made: {readonly value: T} | undefined;
  return () => {
    made ??= {value: make()};
    return made.value;
  };
}

/** Approximate bytes that V8 needs for an entry, without its text and its value. */
const ENTRY_BYTES = 100;

/**
 * Remembers values of recent texts in two generations. When the younger one is full, drops the older one. Together they
 * take at most `maxBytes`, by the count of `bytesOf`.
 */
export class RecentValues<Value> {
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
