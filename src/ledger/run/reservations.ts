import type {Charge} from '../../job/settings/cost.ts';
import type {Budget} from './budget.ts';
import {dispatchNumber, leaseOfDispatch, type Reservation} from './entry.ts';
import type {LedgerWriter} from './ledger-writer.ts';

/** The calls in flight: their credits are reserved, and they are not booked yet. */
export class Reservations {
  readonly #budget: Budget;
  #lastLease: number;
  /** By key of the value, in the order of sending. */
  readonly #calls = new Map<string, Reservation>();

  constructor(budget: Budget, lastLease: number) {
    this.#budget = budget;
    this.#lastLease = lastLease;
  }

  get count(): number {
    return this.#calls.size;
  }

  /** All calls of the leases before this one are booked. */
  get oldestLease(): number {
    const [oldest] = this.#calls.values();
    return oldest === undefined ? this.#lastLease + 1 : leaseOfDispatch(oldest.entry.sent);
  }

  /** Adds up `measure` over the calls. */
  sum(measure: (call: Reservation) => number): number {
    let sum = 0;
    for (const call of this.#calls.values()) sum += measure(call);
    return sum;
  }

  /** Reserves credits for the calls, in order, as far as the budgets allow. `writer` makes that durable. */
  reserve(batch: readonly Reservation[], writer: LedgerWriter): readonly Reservation[] {
    const granted: Reservation[] = [];
    const lease = this.#lastLease + 1;
    try {
      for (const call of batch) {
        const limits = this.#budget.take(call);
        if (limits === undefined) break;
        granted.push(Object.assign(call, {limits}));
      }
      if (granted.length === 0) writer.drain();
      else writer.reserve(lease, granted);
    } catch (error) {
      for (const call of granted) this.#budget.release(call, 'free');
      throw error;
    }
    if (granted.length > 0) this.#lastLease = lease;
    for (const [nth, call] of granted.entries()) {
      call.entry.sent = dispatchNumber(lease, nth);
      this.#calls.set(call.key, call);
    }
    return granted;
  }

  /** Ends the reservation of the value's call, and returns the call; undefined if it has none. */
  end(key: string, charge: Charge): Reservation | undefined {
    const call = this.#calls.get(key);
    if (call === undefined) return undefined;
    this.#calls.delete(key);
    this.#budget.release(call, charge);
    return call;
  }

  /** Ends all of them: their calls may be charged. */
  endAll(): Reservation[] {
    return [...this.#calls.keys()].flatMap(key => this.end(key, 'maybe') ?? []);
  }
}
