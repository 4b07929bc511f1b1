import type {Operation} from '../operations/table.ts';
import {type BookedAttempt, columnsOf} from './entry.ts';
import type {LastingOutcome} from './lookup.ts';

interface Adopted {
  readonly operation: Operation;
  readonly outcome: LastingOutcome;
  readonly firstRow: number | undefined;
}

/** What is booked and not in the ledger's file yet. */
export class Unwritten {
  readonly attempts: BookedAttempt[] = [];
  readonly adopted = new Map<string, Adopted>();
  /** By key: a value is never asked for again while its answer waits to be written. */
  readonly outcomes = new Map<string, LastingOutcome>();

  get size(): number {
    return this.attempts.length + this.adopted.size;
  }

  /** Rows that were taken over, as the ledger's file has them: key, operation, state, error, data and first row. */
  adoptedRows() {
    return [...this.adopted].map(([key, {operation, outcome, firstRow}]) => [
      key,
      operation,
      ...columnsOf(outcome),
      firstRow ?? null,
    ]);
  }

  book(booked: BookedAttempt): void {
    this.attempts.push(booked);
    if (booked.outcome !== undefined) this.outcomes.set(booked.key, booked.outcome);
  }

  adopt(key: string, adopted: Adopted): void {
    const {outcome} = adopted;
    this.adopted.set(key, adopted);
    this.outcomes.set(key, outcome);
  }
}
