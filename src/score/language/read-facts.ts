/**
 * Values for a condition, by the names of its vocabulary. Unknown values are left out. Facts are never changed:
 * each row has an object of its own.
 */
export type Facts = Readonly<Record<string, unknown>>;

export type ReadFacts<T = unknown> = (facts: Facts) => T;

const UNREAD = Symbol('unread');
/** Maximum {@link Facts} objects whose values are kept. A row has one, and one more per combination of lookups. */
const MOST_FACTS = 16;

/** Shares work among conditions: each field is read once per row, and each shared part is evaluated once. */
export class SharedReads {
  readonly #made = new Map<string, unknown>();
  readonly #known = new Map<Facts, unknown[]>();
  #facts: Facts | undefined;
  #values: unknown[] = [];
  #slots = 0;

  /** Calls `make` for the first use of a name; later uses get the same result. */
  named<T>(name: string, make: () => T): T {
    if (!this.#made.has(name)) this.#made.set(name, make());
    return this.#made.get(name) as T;
  }

  /** Returns a function that calls `read` once per object of facts, and then returns the same result. */
  once<T>(read: ReadFacts<T>): ReadFacts<T> {
    const slot = this.#slots++;
    this.#facts = undefined;
    this.#known.clear();
    return facts => {
      const values = facts === this.#facts ? this.#values : this.#turnTo(facts);
      const before = values[slot];
      if (before !== UNREAD) return before as T;
      const value = read(facts);
      values[slot] = value;
      return value;
    };
  }

  #turnTo(facts: Facts): unknown[] {
    let values = this.#known.get(facts);
    if (values === undefined) {
      if (this.#known.size === MOST_FACTS) this.#known.clear();
      values = new Array<unknown>(this.#slots).fill(UNREAD);
      this.#known.set(facts, values);
    }
    this.#facts = facts;
    this.#values = values;
    return values;
  }
}

/** Makes a reader of the value at a path. It returns undefined if there is no value. */
export function reader(path: readonly string[]): ReadFacts {
  const [root = '', field = '', ...deeper] = path;
  if (path.length === 1) return facts => facts[root];
  // Most conditions read a field at this depth, in every row, so it is read without a further call.
  if (deeper.length === 0)
    return facts => {
      const part = facts[root];
      return typeof part === 'object' && part !== null ? (part as Facts)[field] : undefined;
    };
  return facts => deeper.reduce(fieldOf, fieldOf(facts[root], field));
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Facts)[name] : undefined;
}
