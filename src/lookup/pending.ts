import {type LedgerEntry, newEntry} from '../ledger/entry.ts';
import type {Lookup, Outcome, Result} from '../ledger/lookup.ts';
import type {KnownAnswer} from '../store/validity.ts';
import {again} from './repeated/again.ts';

/** A planned cell that waits for an outcome. */
export interface Waiter {
  readonly lookup: Lookup;
  /** Number of the cell's row in the run. */
  readonly row: number;
  tell(result: Result): void;
}

/** A lookup under way, with all cells that share its one call. */
export class Pending {
  readonly lookup: Lookup;
  entry: LedgerEntry;
  /** An earlier answer that is no longer fresh: the call may renew it. */
  before: KnownAnswer | undefined;
  /** The store's version at the last search for this value in the store. */
  version = 0;
  /** The row that shows the answer unchanged. Other rows show what a repeated call would answer. */
  firstRow: number | undefined;
  readonly #waiters: Waiter[];

  constructor(waiter: Waiter) {
    this.lookup = waiter.lookup;
    this.entry = newEntry(waiter.lookup);
    this.#waiters = [waiter];
  }

  add(waiter: Waiter): void {
    this.#waiters.push(waiter);
  }

  get rows(): readonly number[] {
    return [...new Set(this.#waiters.map(({row}) => row))];
  }

  /** Returns the first row that needs the outcome, and remembers this choice. */
  chooseFirstRow(): number | undefined {
    this.firstRow ??= this.#waiters[0]?.row;
    return this.firstRow;
  }

  /**
   * Gives the outcome to the row of {@link chooseFirstRow}. All other rows get the outcome of a repeated
   * call, which is returned.
   */
  tell<Kind extends Result>(outcome: Kind): Kind | Outcome {
    const later = again(this.lookup, outcome);
    for (const waiter of this.#waiters) waiter.tell(waiter.row === this.firstRow ? outcome : later);
    return later;
  }
}
