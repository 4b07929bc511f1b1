import type {Lookup, Outcome, Result} from '../ledger/lookup.ts';
import {noAttempts, type ValueHistory} from '../ledger/value-history.ts';
import type {KnownAnswer} from '../store/validity.ts';
import {again} from './repeated/again.ts';
import {withoutAsking} from './task-state.ts';

/** A planned cell that waits for an outcome. */
export interface Waiter {
  readonly lookup: Lookup;
  /** Number of the cell's row in the run. */
  readonly row: number;
  tell(result: Result): void;
  /** False once the cell needs no outcome any more. Without this function it always needs one. */
  isWanted?(): boolean;
  /** True if a program waits for the value (`one()` of the library): in an outage it gets a result immediately. */
  readonly isUrgent?: boolean;
}

/** A lookup under way, with all cells that share its one call. */
export class Pending {
  readonly lookup: Lookup;
  history: ValueHistory = noAttempts;
  /** An earlier answer that is no longer fresh: the call may renew it. */
  before: KnownAnswer | undefined;
  /** The store's version at the last search for this value in the store. */
  version = 0;
  /** The row that shows the answer unchanged. Other rows show what a repeated call would answer. */
  firstRow: number | undefined;
  readonly #waiters: Waiter[];

  constructor(waiter: Waiter) {
    this.lookup = waiter.lookup;
    this.#waiters = [waiter];
  }

  add(waiter: Waiter): void {
    this.#waiters.push(waiter);
  }

  get isWanted(): boolean {
    return this.#waiters.some(isWanted);
  }

  get isUrgent(): boolean {
    return this.#waiters.some(waiter => waiter.isUrgent === true && isWanted(waiter));
  }

  get rows(): readonly number[] {
    return [...new Set(this.#waiters.map(({row}) => row))];
  }

  /**
   * Returns the first row that still needs the outcome, and remembers this choice. Called shortly before the call
   * is sent, since rows may be dropped until then.
   */
  chooseFirstRow(): number | undefined {
    this.firstRow ??= this.#waiters.find(isWanted)?.row;
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

  /** Gives urgent cells, or with `isAll` all cells, a result without a call: the earlier answer, or `skipped`. */
  tellInOutage(isAll = false): void {
    for (const waiter of this.#waiters)
      if (isWanted(waiter) && (isAll || waiter.isUrgent === true))
        waiter.tell(withoutAsking(this.before, 'outage'));
  }
}

function isWanted(waiter: Waiter): boolean {
  return waiter.isWanted?.() !== false;
}
