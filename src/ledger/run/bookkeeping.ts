import type {Operation} from '../../operations/table.ts';
import {isKept} from '../lookup.ts';
import type {BookedAttempt, LedgerEntry, Reservation} from './entry.ts';
import {loseCall} from './ledger-rows.ts';
import {addSpending, type Spending, zeroSpending} from './spending.ts';
import {countBooked, countLost, noRefusalsYet, type Tally} from './tally.ts';
import {noAttempts} from './value-history.ts';

/** Books calls in their values' entries, and in the session's counts, which begin with the sums over the file's rows. */
export class Bookkeeping {
  readonly tally: Tally;
  /** Spending since the count began, by operation. */
  readonly spending: Record<Operation, Spending>;
  /** Number of answers that the run has bought. */
  bought: number;

  constructor(tally: Tally, spending: Record<Operation, Spending>, bought: number) {
    this.tally = tally;
    this.spending = spending;
    this.bought = bought;
  }

  /** Books an attempt, and its outcome. */
  book(entry: LedgerEntry, booked: BookedAttempt): void {
    const {operation, charge, cost, outcome, history, isConfirmed = false} = booked;
    const spent = {
      calls: countBooked(this.tally, booked) ? 1 : 0,
      spent: charge === 'spent' ? cost : 0,
      maybeSpent: charge === 'maybe' ? cost : 0,
    };
    addSpending(spent, entry.spending, this.spending[operation]);
    Object.assign(entry, {history, interrupted: undefined});
    // An attempt without an outcome leaves an earlier answer, which rows may still get if no call is possible.
    if (outcome === undefined) return;
    Object.assign(entry, {outcome, nth: isKept(outcome) ? 0 : null});
    if (!isKept(outcome) || (outcome.status === 'failed' && !isConfirmed)) return;
    this.bought += 1;
    Object.assign(entry, {nth: this.bought, history: noAttempts});
  }

  /** Books a call as maybe charged: the session ends before its outcome is known. */
  lose(call: Reservation): void {
    loseCall(call.entry, call);
    this.#countLost(call.operation, 1, call.cost);
  }

  /** Takes a lost call back out of the books: its outcome has arrived. */
  unlose({operation, spending}: LedgerEntry, cost: number): void {
    addSpending({maybeSpent: -cost}, spending);
    this.#countLost(operation, -1, cost);
  }

  beginCount(): void {
    Object.assign(this.spending, zeroSpending());
    this.forgetRefusals();
  }

  forgetRefusals(): void {
    Object.assign(this.tally.refusals, noRefusalsYet());
  }

  #countLost(operation: Operation, count: 1 | -1, cost: number): void {
    countLost(this.tally, count);
    addSpending({maybeSpent: count * cost}, this.spending[operation]);
  }
}
