import {isStorable} from '../lookup-outcome.ts';
import {Budget, type CreditLimits} from './budget.ts';
import {
  type BookedAttempt,
  dispatchNumber,
  type LedgerEntry,
  leaseOfDispatchNumber,
  noAttempts,
  type Reservation,
} from './ledger-entry.ts';
import {bookInterrupted} from './ledger-rows.ts';
import {countBooked, countInterruptedCalls, emptyTally, type RunCounts, type Tally} from './tally.ts';

interface BookkeepingStart {
  readonly counts: RunCounts;
  readonly bought: number;
  readonly lastLease: number;
}

/** The calls in flight, whose credits are reserved, and the counts of those that have ended. */
export class Bookkeeping {
  readonly tally: Tally;
  readonly counts: RunCounts;
  readonly budget: Budget;
  /** Number of answers that the run has bought. */
  bought: number;
  #lastLease: number;
  /** By key of the value, in the order of sending. */
  readonly #inFlight = new Map<string, Reservation>();

  constructor(limits: CreditLimits, {counts, bought, lastLease}: BookkeepingStart) {
    this.tally = emptyTally(counts);
    this.counts = counts;
    this.budget = new Budget(limits, counts);
    this.bought = bought;
    this.#lastLease = lastLease;
  }

  /** Number of calls in flight. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** All calls of the leases before this one are booked. */
  get oldestLease(): number {
    const [oldest] = this.#inFlight.values();
    return oldest === undefined ? this.#lastLease + 1 : leaseOfDispatchNumber(oldest.entry.sent);
  }

  /** Adds up `measure` over the calls in flight. */
  sumInFlight(measure: (call: Reservation) => number): number {
    let sum = 0;
    for (const call of this.#inFlight.values()) sum += measure(call);
    return sum;
  }

  /** Reserves credits for the calls, in order, as far as the budgets allow. `write` makes that durable. */
  reserve(
    batch: readonly Reservation[],
    write: (lease: number, calls: readonly Reservation[]) => void,
  ): readonly Reservation[] {
    const granted = batch.slice(0, this.budget.reserve(batch));
    const lease = this.#lastLease + 1;
    try {
      write(lease, granted);
    } catch (error) {
      for (const call of granted) this.budget.release(call, 'free');
      throw error;
    }
    if (granted.length > 0) this.#lastLease = lease;
    for (const [nth, call] of granted.entries()) {
      call.entry.sent = dispatchNumber(lease, nth);
      this.#inFlight.set(call.key, call);
    }
    return granted;
  }

  /** Books the end of a call. Returns the value's entry; undefined if the call is not in flight. */
  end(booked: BookedAttempt): LedgerEntry | undefined {
    const call = this.#inFlight.get(booked.key);
    if (call === undefined) return undefined;
    this.#inFlight.delete(call.key);
    this.budget.release(call, booked.charge);
    if (call.renews === true && booked.charge !== 'free') this.counts.renewed += call.cost;
    this.#book(call.entry, booked);
    return call.entry;
  }

  /** Books the calls in flight as maybe charged: the session ends before their outcomes are known. */
  loseAll(): LedgerEntry[] {
    const lost = [...this.#inFlight.values()];
    this.#inFlight.clear();
    for (const call of lost) {
      this.budget.release(call, 'maybe');
      bookInterrupted(call, this.counts);
    }
    return lost.map(({entry}) => entry);
  }

  /** Books a lost call anew: its outcome has arrived. A count that began since its loss lacks it. */
  bookLate(entry: LedgerEntry, booked: BookedAttempt): void {
    const spending = this.counts.spending[entry.operation];
    spending.maybeSpent = Math.max(0, spending.maybeSpent - booked.cost);
    countInterruptedCalls(this.counts.attempts, -1);
    this.#book(entry, booked);
  }

  #book(entry: LedgerEntry, booked: BookedAttempt): void {
    const {operation, charge, cost, outcome, history} = booked;
    const spending = this.counts.spending[operation];
    if (countBooked(this.tally, booked)) spending.calls += 1;
    if (charge === 'spent') spending.spent += cost;
    if (charge === 'maybe') spending.maybeSpent += cost;
    Object.assign(entry, {history, interrupted: undefined});
    // An attempt without an outcome leaves an earlier answer, which rows may still get if no call is possible.
    if (outcome === undefined) return;
    Object.assign(entry, {outcome, nth: isStorable(outcome) ? 0 : null});
    if (!isStorable(outcome) || outcome.rejected === 'once') return;
    this.bought += 1;
    Object.assign(entry, {nth: this.bought, history: noAttempts});
  }
}
