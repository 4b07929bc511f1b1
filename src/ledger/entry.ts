import type {TimedAttempt} from '../client/attempt.ts';
import type {Charge} from '../job/settings/cost.ts';
import type {Answer, LookupKey, Outcome} from './lookup.ts';
import type {ValueHistory} from './value-history.ts';

/** A value's attempts until now, and its final outcome once it has one. */
export interface LedgerEntry extends ValueHistory {
  readonly outcome: Outcome | undefined;
  /** `dispatch` of the value's last call, if its session ended before the outcome was known; else undefined. */
  readonly interrupted: number | undefined;
}

/** A call that is about to be sent. */
export interface Reservation extends Booking {
  /** True if the ledger has this value already. */
  readonly known: boolean;
  /** True for a renewal of a known answer. It must leave credits to other values: see {@link Budget.affords}. */
  readonly renews?: boolean | undefined;
  /**
   * Number of the row that shows the answer unchanged. Other rows with the value show what a repeated call would
   * answer. Undefined if all rows show the same.
   */
  readonly firstRow?: number | undefined;
}

interface Booking extends LookupKey {
  /** Number of this call, unique in all sessions of the run. */
  readonly dispatch: number;
  /** Maximum cost, in thousandths of a credit. */
  readonly cost: number;
}

/** The end of one attempt, as booked. `outcome` is set if the value needs no other attempt. */
export interface BookedAttempt extends Booking {
  readonly attempt: TimedAttempt;
  readonly charge: Charge;
  /** True if the attempt brought no answer and may have been charged. */
  readonly doubt: boolean;
  /** True if the value had an attempt before. */
  readonly retry: boolean;
  readonly outcome?: Outcome | undefined;
  /** True if the ledger had booked the call as interrupted, before its end became known. */
  readonly wasLost?: boolean;
}

/** An answer that other runs can use, with the key of its value. */
export interface KeptAnswer extends LookupKey {
  readonly outcome: Answer;
}
