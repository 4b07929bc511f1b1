import type {Attempt} from '../client/attempt.ts';
import type {Operation} from '../operations/table.ts';
import {COPY_AT_ONCE, INTERRUPTED, stateOf, WAITING} from './ledger-file.ts';
import type {Charge, LastingOutcome, StoredOutcome} from './lookup.ts';
import type {SqlRow} from './sqlite.ts';

/** What the ledger knows of a value: its outcome for good, or what it has been through so far. */
export interface LedgerEntry {
  readonly outcome: LastingOutcome | undefined;
  /** Whether any attempt may have been carried out without an answer. */
  readonly ambiguous: boolean;
  /** The dispatch whose session ended before its outcome was known; undefined where the last one's is. */
  readonly interrupted: number | undefined;
  /** Whether an attempt before that dispatch may have been carried out: its answer may tell of our own call. */
  readonly ambiguousBefore?: true;
}

/** One value that is about to be sent. */
export interface Reservation extends Booking {
  /** Whether the ledger knows the value already. */
  readonly known: boolean;
  /** This one sending of the value, by a number that no other sending in the run's sessions has. */
  readonly dispatch: number;
}

interface Booking {
  readonly key: string;
  readonly operation: Operation;
  /** What the call may cost, in thousandths of a credit. */
  readonly cost: number;
}

/** What became of one attempt; `outcome` where it was the value's last. */
export interface BookedAttempt extends Booking {
  readonly attempt: Attempt;
  readonly charge: Charge;
  /** Whether the value had been asked before. */
  readonly retry: boolean;
  readonly outcome?: LastingOutcome | undefined;
}

/** An answer that was paid for in this run, or what stands for one: that the service rejects the value. */
export interface Answer {
  readonly operation: Operation;
  readonly key: string;
  readonly outcome: StoredOutcome;
}

/** A row of the table as an answer. */
function answerOf(row: SqlRow): Answer {
  const outcome = outcomeOf(row) as StoredOutcome;
  return {operation: row.operation as Operation, key: String(row.key), outcome};
}

/** Yields answers in groups, as memory may not hold them all; `read` returns the rows after the last one read. */
export function* answersOf(read: (last: SqlRow | undefined) => readonly SqlRow[]): Generator<Answer[]> {
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
  const ambiguous = interrupted !== undefined || Boolean(row.ambiguous);
  const before = interrupted !== undefined && row.ambiguous === 1 ? ({ambiguousBefore: true} as const) : {};
  return {ambiguous, interrupted, outcome: outcomeOf(row), ...before};
}

/** A row's outcome for good; undefined where it has none yet. */
export function outcomeOf(row: SqlRow): LastingOutcome | undefined {
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
export function columnsOf(outcome: LastingOutcome | undefined) {
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
export function attemptColumns({key, outcome, attempt}: BookedAttempt, nth: number | null) {
  const [state, error, data, boughtAt] = columnsOf(outcome);
  // One that can't be read was carried out too.
  const ambiguous = attempt.kind === 'ambiguous' || attempt.kind === 'unreadable' ? 1 : 0;
  return [state, ambiguous, error, data, boughtAt, nth, key] as const;
}
