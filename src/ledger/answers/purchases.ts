import type {LookupKey} from '../lookup-outcome.ts';

/** Values that runs of this process are buying, each with the other runs that are told when its purchase has ended. */
const underWay = new Map<string, Set<() => void>>();

/** The values that a run is buying. The other runs of the process wait for the stored answer instead of paying again. */
export class Purchases {
  /** By key: the name of the value among those of all stores. */
  readonly #own = new Map<string, string>();
  readonly #nameOf: (lookup: LookupKey) => string | undefined;

  /** `nameOf` returns undefined if no other run could find the answer. */
  constructor(nameOf: (lookup: LookupKey) => string | undefined) {
    this.#nameOf = nameOf;
  }

  /** True if another run is buying the value. Then `ended` is called once its answer is stored, or none came. */
  isOfOther(lookup: LookupKey, ended: () => void): boolean {
    if (underWay.size === this.#own.size) return false;
    const waiting = underWay.get(this.#nameOf(lookup) ?? '');
    if (waiting === undefined || this.#own.has(lookup.key)) return false;
    waiting.add(ended);
    return true;
  }

  begin(lookup: LookupKey): void {
    const name = this.#nameOf(lookup);
    if (name === undefined) return;
    this.#own.set(lookup.key, name);
    underWay.set(name, new Set());
  }

  end({key}: Pick<LookupKey, 'key'>): void {
    const name = this.#own.get(key);
    if (name === undefined) return;
    this.#own.delete(key);
    const waiting = underWay.get(name);
    underWay.delete(name);
    for (const ended of waiting ?? []) ended();
  }

  endAll(): void {
    for (const key of this.#own.keys()) this.end({key});
  }
}
