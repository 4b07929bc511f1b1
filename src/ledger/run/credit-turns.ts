import type {LedgerEntry} from './ledger-entry.ts';

/** Later than all runs before: this one has asked for the value. */
const NOW = Number.MAX_SAFE_INTEGER;

/** When a value was last asked for: by this run, or at the time that the store has of an earlier one; 0 for never. */
export function lastAsked(entry: LedgerEntry | undefined, askedAt = 0): number {
  return entry !== undefined && entry.sent > 0 ? NOW : askedAt;
}

/**
 * Shares the credits of a run that can't buy all of its list: values that no run has asked for come first, then those that
 * runs asked for longest ago, whatever came of it. Within a run, in the order of the list. Memory is flat: each run that
 * asked has one time.
 */
export class CreditTurns {
  /** Cost of the values that need calls, by the time of the run that last asked for them (0: none did). */
  readonly #costs = new Map<number, number>();
  /** Values that were asked for before this time have their turn, those of this time as long as credits are left. */
  #last = Number.POSITIVE_INFINITY;
  #left = 0;

  /** Adds a value that needs a call. Money is in thousandths of a credit. */
  add(askedAt: number, cost: number): void {
    this.#costs.set(askedAt, (this.#costs.get(askedAt) ?? 0) + cost);
  }

  /** Shares `credits` among the values that were added. Returns what is left of them. */
  share(credits: number): number {
    let left = credits;
    for (const [askedAt, cost] of [...this.#costs].sort(([a], [b]) => a - b)) {
      if (cost > left) {
        this.#last = askedAt;
        this.#left = left;
        return 0;
      }
      left -= cost;
    }
    return left;
  }

  /** Takes the credits of a value. Returns false if its turn comes in a later run. */
  take(askedAt: number, cost: number): boolean {
    if (askedAt !== this.#last) return askedAt < this.#last;
    if (cost > this.#left) return false;
    this.#left -= cost;
    return true;
  }
}
