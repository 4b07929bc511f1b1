import type {TimedAttempt} from '../client/attempt.ts';
import type {SqlRow} from '../disk/sqlite.ts';
import type {Charge} from '../job/settings/cost.ts';
import type {Operation} from '../operations/table.ts';
import {COPY_AT_ONCE, INTERRUPTED, stateOf, WAITING} from './ledger-file.ts';
import type {Answer, LookupKey, Outcome} from './lookup.ts';

/** A value's attempts so far. */
export interface History {
  /** True if any attempt may have been carried out without an answer. */
  readonly ambiguous: boolean;
  /** Attempts of this run that may have been charged and brought no answer, and the code of the last one. */
  readonly doubts: number;
  readonly lastCode: string;
}

/** What the ledger knows of a value: its outcome for good, or what it has been through so far. */
export interface LedgerEntry extends History {
  readonly outcome: Outcome | undefined;
  /** The dispatch whose session ended before its outcome was known; undefined where the last one's is. */
  readonly interrupted: number | undefined;
}

/** One value that is about to be sent. */
export interface Reservation extends Booking {
  /** Whether the ledger knows the value already. */
  readonly known: boolean;
  /** Set for a value that has an answer, where values without one go first: see {@link Budget.affords}. */
  readonly renews?: boolean | undefined;
  /** The row that asks first, where later rows are told something else. */
  readonly firstRow?: number | undefined;
  /** The rows that wait for it, by number. */
  readonly rows?: (() => readonly number[]) | undefined;
  /** Milliseconds since the epoch. */
  readonly sentAt?: number | undefined;
}

interface Booking extends LookupKey {
  /** This one sending of the value, by a number that no other sending in the run's sessions has. */
  readonly dispatch: number;
  /** What the call may cost, in thousandths of a credit. */
  readonly cost: number;
}

/** What became of one attempt; `outcome` where it was the value's last. */
export interface BookedAttempt extends Booking {
  readonly attempt: TimedAttempt;
  readonly charge: Charge;
  /** True if it brought no answer and may have been charged anyway. */
  readonly doubt: boolean;
  /** Whether the value had been asked before. */
  readonly retry: boolean;
  readonly outcome?: Outcome | undefined;
}

/** An answer and the value that it is kept for. */
export interface KeptAnswer extends LookupKey {
  readonly outcome: Answer;
}

/** A row of the table as an answer. */
export function answerOf(row: SqlRow): KeptAnswer {
  const outcome = outcomeOf(row) as Answer;
  return {operation: row.operation as Operation, key: String(row.key), outcome};
}

/** Yields answers in groups, as memory may not hold them all; `read` returns the rows after the last one read. */
export function* answersOf(read: (last: SqlRow | undefined) => readonly SqlRow[]): Generator<KeptAnswer[]> {
  for (let last: SqlRow | undefined; ; ) {
    const rows = read(last);
    yield rows.map(answerOf);
    if (rows.length < COPY_AT_ONCE) return;
    last = rows.at(-1);
  }
}

/** A row of the table as what is known of its value. */
export function entryOf(row: SqlRow): LedgerEntry {
  const interrupted = row.error === INTERRUPTED ? Number(row.dispatch) : undefined;
  const doubts = Number(row.ambiguous) + (interrupted === undefined ? 0 : 1);
  const lastCode = String(row.error ?? INTERRUPTED);
  return {ambiguous: doubts > 0, doubts, lastCode, interrupted, outcome: outcomeOf(row)};
}

/** A row's outcome for good; undefined where it has none yet. */
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

/** An outcome's state, error, data and time as columns: the inverse of {@link outcomeOf}. */
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

/** The columns that an attempt sets in its value's row; `nth` is the number of its answer, null for none. */
export function attemptColumns({key, outcome, attempt, doubt}: BookedAttempt, nth: number | null) {
  const [state, settled, data, boughtAt] = columnsOf(outcome);
  const error = outcome === undefined && doubt && 'code' in attempt ? attempt.code : settled;
  return [state, Number(doubt), error, data, boughtAt, nth, key] as const;
}
