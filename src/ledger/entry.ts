import type {TimedAttempt} from '../client/attempt.ts';
import type {SqlRow} from '../disk/sqlite.ts';
import type {Charge} from '../job/settings/cost.ts';
import type {Operation} from '../operations/table.ts';
import {COPY_AT_ONCE, INTERRUPTED, stateOf, WAITING} from './ledger-file.ts';
import type {Answer, LookupKey, Outcome} from './lookup.ts';

/** A value's attempts until now. */
export interface History {
  /** True if the service may have carried out an attempt that brought no answer. */
  readonly mayBeCarriedOut: boolean;
  /** Number of attempts that brought no answer and may have been charged. `lastCode`: error code of the last. */
  readonly doubts: number;
  readonly lastCode: string;
}

/** A value's attempts until now, and its final outcome once it has one. */
export interface LedgerEntry extends History {
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
   * Number of the row that shows the answer unchanged. Other rows with the value show the answer to a repeated
   * call. Undefined if all rows show the same.
   */
  readonly firstRow?: number | undefined;
  /** Numbers of the rows that wait for the call. */
  readonly rows?: (() => readonly number[]) | undefined;
  /** Milliseconds since the epoch. */
  readonly sentAt?: number | undefined;
}

interface Booking extends LookupKey {
  /** Number of this call, unique in all sessions of the run. */
  readonly dispatch: number;
  /** Maximum cost, in thousandths of a credit. */
  readonly cost: number;
}

/** The end of one attempt. `outcome` is set if it was the value's last attempt. */
export interface BookedAttempt extends Booking {
  readonly attempt: TimedAttempt;
  readonly charge: Charge;
  /** True if the attempt brought no answer and may have been charged. */
  readonly doubt: boolean;
  /** True if the value had an attempt before. */
  readonly retry: boolean;
  readonly outcome?: Outcome | undefined;
}

/** An answer, with the key of its value. */
export interface KeptAnswer extends LookupKey {
  readonly outcome: Answer;
}

export function answerOf(row: SqlRow): KeptAnswer {
  const outcome = outcomeOf(row) as Answer;
  return {operation: row.operation as Operation, key: String(row.key), outcome};
}

/** Yields answers in groups, since memory may not hold all. `read` returns the rows that follow the row `last`. */
export function* answersOf(read: (last: SqlRow | undefined) => readonly SqlRow[]): Generator<KeptAnswer[]> {
  for (let last: SqlRow | undefined; ; ) {
    const rows = read(last);
    yield rows.map(answerOf);
    if (rows.length < COPY_AT_ONCE) return;
    last = rows.at(-1);
  }
}

export function entryOf(row: SqlRow): LedgerEntry {
  const interrupted = row.error === INTERRUPTED ? Number(row.dispatch) : undefined;
  const doubts = Number(row.ambiguous) + (interrupted === undefined ? 0 : 1);
  const lastCode = String(row.error ?? INTERRUPTED);
  return {mayBeCarriedOut: doubts > 0, doubts, lastCode, interrupted, outcome: outcomeOf(row)};
}

/** The final outcome in a value's row; undefined while the value has none. */
export function outcomeOf(row: SqlRow): Outcome | undefined {
  const error = String(row.error);
  const boughtAt = Number(row.bought_at);
  switch (row.state) {
    case stateOf.ok:
      return {status: 'ok', data: String(row.data), boughtAt};
    case stateOf.failed:
      return {status: 'failed', error};
    case stateOf.unknown:
      if (row.data === null) return {status: 'unknown', error};
      return {status: 'unknown', error, data: String(row.data), boughtAt};
    case stateOf.rejected:
      return {status: 'failed', error, rejected: true, boughtAt};
    default:
      return undefined;
  }
}

/** State, error, data and time of an outcome as columns: the inverse of {@link outcomeOf}. */
export function columnsOf(outcome: Outcome | undefined) {
  if (outcome === undefined) return [WAITING, null, null, null] as const;
  const state = 'rejected' in outcome ? stateOf.rejected : stateOf[outcome.status];
  return [
    state,
    'error' in outcome ? outcome.error : null,
    'data' in outcome ? outcome.data : null,
    'boughtAt' in outcome ? outcome.boughtAt : null,
  ] as const;
}

/** The columns that an attempt sets in its value's row. `nth`: number of the attempt's answer; null without one. */
export function attemptColumns({key, outcome, attempt, doubt}: BookedAttempt, nth: number | null) {
  const [state, settled, data, boughtAt] = columnsOf(outcome);
  const error = outcome === undefined && doubt && 'code' in attempt ? attempt.code : settled;
  return [state, Number(doubt), error, data, boughtAt, nth, key] as const;
}
