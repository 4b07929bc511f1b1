import type {Lookup, Outcome, Result} from '../ledger/lookup.ts';
import type {KnownAnswer} from '../store/validity.ts';
import {again} from './repeated/again.ts';
import {withoutAsking} from './task-state.ts';

/** A planned cell that waits for its lookup's outcome. */
export interface Waiter {
  readonly lookup: Lookup;
  /** The number of its row among all of the run. */
  readonly row: number;
  tell(result: Result): void;
  /** False once its outcome is not waited for any more. Left out, it always is. */
  isWanted?(): boolean;
  /** True for a request, which is told at once in an outage. */
  readonly isUrgent?: boolean;
}

/** A lookup that is asked about, with all cells that wait for it: they share the one call. */
export class Pending {
  readonly lookup: Lookup;
  /** What is known from before. */
  before: KnownAnswer | undefined;
  /** The store's version when the lookup was last looked for there. */
  version = 0;
  /** The row that is told the answer as it came, where all others are told what the same call would be answered again. */
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

  /** The first row, chosen now if it was not yet: rows may be given up before anything was sent for them. */
  chooseFirstRow(): number | undefined {
    this.firstRow ??= this.#waiters.find(isWanted)?.row;
    return this.firstRow;
  }

  /** Tells the first row the outcome, and the others what asking again would come to, which it returns. */
  tell<Kind extends Result>(outcome: Kind): Kind | Outcome {
    const later = again(this.lookup, outcome);
    for (const waiter of this.#waiters) waiter.tell(waiter.row === this.firstRow ? outcome : later);
    return later;
  }

  /** Tells those that can't wait, or all, what they come to while the service can't be asked. */
  tellInOutage(isAll = false): void {
    for (const waiter of this.#waiters)
      if (isWanted(waiter) && (isAll || waiter.isUrgent === true))
        waiter.tell(withoutAsking(this.before, 'outage'));
  }
}

function isWanted(waiter: Waiter): boolean {
  return waiter.isWanted?.() !== false;
}
