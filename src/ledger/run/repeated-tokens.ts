import {hashKey, type Lookup} from '../lookup-outcome.ts';

/** Maximum number of repeated values that are remembered. Others are followed from their first occurrence. */
const MOST = 100_000;

/** The key of the occurrence after the one with this key. */
export function nextOccurrenceKey(key: string): string {
  return hashKey(`${key}\0again`);
}

/**
 * Gives each row of a value whose calls change the next answer a lookup of its own: its answer then tells that the
 * session token is redeemed. The n-th occurrence has the same key whenever the list is read again.
 */
export class TokenOccurrences {
  /** By key of a repeated value: the key of its last occurrence. */
  readonly #last = new Map<string, string>();

  /** The lookup of the next occurrence. `isTaken`: true if an earlier row has this key. */
  next(lookup: Lookup, isTaken: (key: string) => boolean): Lookup {
    let key = this.#last.get(lookup.key) ?? lookup.key;
    while (isTaken(key)) key = nextOccurrenceKey(key);
    if (key === lookup.key) return lookup;
    if (this.#last.size >= MOST) this.#last.clear();
    this.#last.set(lookup.key, key);
    return {...lookup, key};
  }
}
