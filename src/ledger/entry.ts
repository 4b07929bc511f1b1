import type {Attempt} from '../client/attempt.ts';
import type {Operation} from '../operations/table.ts';
import {INTERRUPTED, stateOf} from './ledger-file.ts';
import type {Charge, Settled} from './lookup.ts';
import type {SqlRow} from './sqlite.ts';

/** What the ledger knows of a value: its outcome for good, or what it has been through so far. */
export interface Entry {
  readonly settled: Settled | undefined;
  /** Whether any attempt may have been carried out without an answer. */
  readonly ambiguous: boolean;
  /** Whether the last one is such, as its session ended before it was heard of. */
  readonly interrupted: boolean;
}

/** One value that is about to be sent. */
export interface Reservation extends Booking {
  /** Whether the ledger knows the value already. */
  readonly known: boolean;
}

interface Booking {
  readonly key: string;
  readonly operation: Operation;
  /** Credits that the call may cost. */
  readonly cost: number;
}

/** What became of one attempt; `settled` where it was the value's last. */
export interface Outcome extends Booking {
  readonly attempt: Attempt;
  readonly charge: Charge;
  /** Whether the value had been asked before. */
  readonly retry: boolean;
  readonly settled?: Exclude<Settled, {status: 'skipped'}> | undefined;
}

/** An answer that was paid for in this run. */
export interface Answer {
  readonly operation: Operation;
  readonly key: string;
  readonly data: string;
  /** When it came, in milliseconds since the epoch. */
  readonly at: number;
}

/** A row of the table as an answer. */
export function answerOf({operation, key, data, at}: SqlRow): Answer {
  return {operation: operation as Operation, key: String(key), data: String(data), at: Number(at)};
}

/** A row of the table as what is known of its value. */
export function entryOf(row: SqlRow): Entry {
  const interrupted = row.error === INTERRUPTED;
  return {ambiguous: interrupted || Boolean(row.ambiguous), interrupted, settled: settledOf(row)};
}

function settledOf(row: SqlRow): Settled | undefined {
  const data = row.data === null ? {} : {data: String(row.data)};
  const error = String(row.error);
  switch (row.state) {
    case stateOf.ok:
      return {status: 'ok', data: String(row.data)};
    case stateOf.failed:
      return {status: 'failed', error, ...data};
    case stateOf.unknown:
      return {status: 'unknown', error, ...data};
    default:
      return undefined;
  }
}
