import type {Attempt, TimestampedAttempt} from '../../client/attempt.ts';
import type {ChargeKind} from '../../job/settings/cost.ts';
import {type Answer, BAD_RESPONSE, type LookupKey, type Outcome} from '../lookup-outcome.ts';

/** Error code of a call whose session ended before the answer came. The service may have carried the call out. */
export const INTERRUPTED_CODE = 'interrupted';

/** A value's attempts until now. They decide about its next attempt. */
export interface ValueHistory {
  /** True if the service may have carried out an attempt that brought no answer. */
  readonly mayBeCarriedOut: boolean;
  /** Number of attempts without an answer that may have been charged. `lastCode`: error code of the last. */
  readonly doubts: number;
  /** Number of sessions in a row that ended with a call for the value in flight. That says nothing about the value. */
  readonly kills: number;
  readonly lastCode: string;
}

export const noAttempts: ValueHistory = {
  ...{mayBeCarriedOut: false, doubts: 0, kills: 0},
  lastCode: INTERRUPTED_CODE,
};

/** The history after an attempt that brought no answer and may have been charged. */
export function addDoubt({doubts, lastCode}: ValueHistory, attempt: Attempt): ValueHistory {
  const code = 'code' in attempt ? attempt.code : lastCode;
  return {mayBeCarriedOut: true, doubts: doubts + 1, kills: 0, lastCode: code};
}

/** The history after a session that ended with the call in flight. */
function addKill(history: ValueHistory): ValueHistory {
  return {...history, mayBeCarriedOut: true, kills: history.kills + 1, lastCode: INTERRUPTED_CODE};
}

/** Removes the interrupted call. Used once the end of that call is known. The first programs counted it as a doubt. */
export function removeInterruptedCall(history: ValueHistory): ValueHistory {
  const {doubts, kills} = history;
  const before = kills > 0 ? {doubts, kills: kills - 1} : {doubts: doubts - 1, kills};
  return {...history, ...before, mayBeCarriedOut: before.doubts + before.kills > 0};
}

/** All that the ledger knows of a value. The ledger changes this object as attempts end, and writes it as a whole. */
export interface LedgerEntry extends LookupKey {
  history: ValueHistory;
  /** The value's final outcome; undefined until it has one. */
  outcome: Outcome | undefined;
  /** `dispatch` of the value's last call, if its session ended before the outcome was known; else undefined. */
  interrupted: number | undefined;
  /** Place of the value's last booked call in the order of sending: see {@link sendOrder}. 0 without a call. */
  sendOrder: number;
  /** Number of the outcome among the run's answers, from 1; 0 for a rejection that is not judged; null without a call. */
  answerNumber: number | null;
  /** True once this session used the value. Its outcome then holds for the session, whatever its age. */
  isUsed: boolean;
  /** Number of the value's row in the ledger's file; 0 if the entry was not read from there. */
  readonly id: number;
}

export function newEntry({operation, key}: LookupKey, history = noAttempts): LedgerEntry {
  const unsettled = {outcome: undefined, interrupted: undefined, sendOrder: 0, answerNumber: null};
  return {operation, key, history, ...unsettled, isUsed: false, id: 0};
}

const MOST_IN_LEASE = 2 ** 20;

/** Place in the order of sending, by the call's place in its lease. A lease has the calls that left together. */
export function sendOrder(lease: number, place: number): number {
  return lease * MOST_IN_LEASE + place;
}

export function leaseOfSendOrder(order: number): number {
  return Math.floor(order / MOST_IN_LEASE);
}

export interface Reservation extends Booking {
  readonly entry: LedgerEntry;
  /** True for a renewal of a known answer. It must leave credits to other values: see {@link Budget.left}. */
  readonly renews?: boolean | undefined;
  /** Time of the sending, in milliseconds since the epoch. */
  readonly sentAt?: number;
  /** Time at which its credits were taken from the account's limits, in milliseconds since the epoch. */
  reservedAt?: number;
}

interface Booking extends LookupKey {
  /** Number of this call, unique in all sessions of the run. */
  readonly dispatch: number;
  /** Maximum cost, in thousandths of a credit. */
  readonly cost: number;
}

/** Notes in the entry of a call that its session ended before the outcome was known. */
export function markInterrupted({entry, dispatch}: Pick<Reservation, 'entry' | 'dispatch'>): void {
  Object.assign(entry, {interrupted: dispatch, history: addKill(entry.history)});
}

/** The end of one attempt, as booked. `outcome` is set if the value needs no other attempt. */
export interface BookedAttempt extends Booking {
  readonly attempt: TimestampedAttempt;
  readonly charge: ChargeKind;
  readonly retry: boolean;
  /** The value's attempts until now, with this one. */
  readonly history: ValueHistory;
  readonly outcome?: Outcome | undefined;
}

/** An answer that other runs can use, with the key of its value. */
export interface KeyedAnswer extends LookupKey {
  readonly outcome: Answer;
}

export function keyedAnswerOf({operation, key, outcome}: LedgerEntry): KeyedAnswer {
  return {operation, key, outcome: outcome as Answer};
}

/** A rejection for which the account may be the reason. */
export function failureOf({outcome}: LedgerEntry): Outcome {
  const {error} = outcome as Answer & {readonly error: string};
  return {status: 'failed', error, ...(error !== BAD_RESPONSE && {said: 'service'})};
}

/**
 * Numbers of the rejected values' rows that were sent before the last answered call, and are not in a series of at least
 * `length`: in the order of sending, no call between two of a series was answered. There, calls that left together count
 * as one moment.
 */
export function findValuesAtFault(
  rejected: readonly Pick<LedgerEntry, 'id' | 'sendOrder'>[],
  answered: readonly number[],
  length: number,
): ReadonlySet<number> {
  const last = answered.at(-1) ?? 0;
  const found = new Set<number>();
  let series: number[] = [];
  let from = 0;
  let at = 0;
  const end = () => {
    if (series.length < length) for (const id of series) found.add(id);
    series = [];
  };
  for (const {id, sendOrder: order} of rejected) {
    const lease = leaseOfSendOrder(order);
    while (at < answered.length && leaseOfSendOrder(answered[at] as number) < from) at += 1;
    if (at < answered.length && leaseOfSendOrder(answered[at] as number) <= lease) end();
    // The account may be the reason for those after the last answered call.
    if (order > last) return found;
    series.push(id);
    from = lease;
  }
  end();
  return found;
}
