import {type Books, spend} from './books.ts';
import type {BookedAttempt, LedgerEntry} from './entry.ts';
import {countBooked, countLost, type Tally} from './tally.ts';
import {interruptedCall, noAttempts, withDoubt} from './value-history.ts';

/** The counts that a session's calls change: the books of its endpoint and account, and its own tally. */
export interface Accounting {
  readonly books: Books;
  /** Number of the endpoint and account in the books. */
  readonly scope: number;
  readonly tally: Tally;
}

/**
 * Books an attempt, and its outcome in the value's entry. `nthSent`: the call's place in the order of sending.
 */
export function bookAttempt(
  {books, scope, tally}: Accounting,
  entry: LedgerEntry,
  booked: BookedAttempt,
  nthSent: number,
): void {
  const {operation, charge, cost, outcome, isConfirmed = false} = booked;
  const isCall = countBooked(tally, booked);
  spend(books, scope, operation, {
    calls: isCall ? 1 : 0,
    spent: charge === 'spent' ? cost : 0,
    maybeSpent: charge === 'maybe' ? cost : 0,
  });
  entry.history = booked.history;
  entry.interrupted = undefined;
  // An attempt without an outcome leaves an earlier answer, which rows may still get if no call is possible.
  if (outcome === undefined) return;
  Object.assign(entry, {outcome, nth: null});
  if (outcome.boughtAt === undefined) return;
  if (outcome.status === 'failed' && !isConfirmed) {
    entry.nth = -nthSent;
    return;
  }
  if (outcome.status !== 'failed') books.answeredUpTo = Math.max(books.answeredUpTo, nthSent);
  books.bought += 1;
  Object.assign(entry, {nth: books.bought, history: noAttempts});
}

/** Books a call as maybe charged: its session ends before its outcome is known. */
export function bookLost(
  {books, scope, tally}: Accounting,
  entry: LedgerEntry,
  {cost, dispatch, lease}: {readonly cost: number; readonly dispatch: number; readonly lease: number},
): void {
  countLost(tally, 1);
  spend(books, scope, entry.operation, {maybeSpent: cost});
  Object.assign(entry, {lease, interrupted: dispatch, history: withDoubt(entry.history, interruptedCall)});
}

/** Takes a lost call back out of the books: its outcome has arrived. */
export function unbookLost({books, scope, tally}: Accounting, entry: LedgerEntry, cost: number): void {
  countLost(tally, -1);
  spend(books, scope, entry.operation, {maybeSpent: -cost});
}
