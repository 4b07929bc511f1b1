import type {Operation} from '../operations/table.ts';
import {type BookedAttempt, columnsOf} from './entry.ts';
import type {Outcome} from './lookup.ts';

interface Adopted {
  readonly operation: Operation;
  readonly outcome: Outcome;
  readonly firstRow: number | undefined;
}

/** What is booked and not in the ledger's file yet. */
export class Unwritten {
  /** Each with the number of its answer, null for none. */
  readonly attempts: (readonly [booked: BookedAttempt, nth: number | null])[] = [];
  readonly adopted = new Map<string, Adopted>();
  /** By key: a value is never asked for again while its answer waits to be written. */
  readonly outcomes = new Map<string, Outcome>();
  /** Keys of values whose outcome is not here, and whose row in the file is not up to date. */
  readonly open = new Set<string>();
  /** By the keys of rejected values: the number of what is kept for other runs, null for what is no more than a failure. */
  readonly rejections = new Map<string, number | null>();

  get size(): number {
    return this.attempts.length + this.adopted.size + this.rejections.size;
  }

  /** Rows that were taken over, as the ledger's file has them: key, operation, state, error, data, time and first row. */
  adoptedRows() {
    return [...this.adopted].map(([key, {operation, outcome, firstRow}]) => [
      key,
      operation,
      ...columnsOf(outcome),
      firstRow ?? null,
    ]);
  }

  book(booked: BookedAttempt, nth: number | null): void {
    this.attempts.push([booked, nth]);
    if (booked.outcome === undefined) this.open.add(booked.key);
    else this.outcomes.set(booked.key, booked.outcome);
  }

  /** A rejection's number among the answers that the run bought; null if it is no more than a failure. */
  judge(key: string, nth: number | null): void {
    this.rejections.set(key, nth);
    if (nth !== null) return;
    const outcome = this.outcomes.get(key);
    if (outcome === undefined) this.open.add(key);
    else if (outcome.status === 'failed') this.outcomes.set(key, {status: 'failed', error: outcome.error});
  }

  adopt(key: string, adopted: Adopted): void {
    const {outcome} = adopted;
    this.adopted.set(key, adopted);
    this.outcomes.set(key, outcome);
  }
}
