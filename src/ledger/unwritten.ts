import type {Operation} from '../operations/table.ts';
import {type BookedAttempt, columnsOf} from './entry.ts';
import type {LastingOutcome} from './lookup.ts';

/** What is booked and not in the ledger's file yet. */
export class Unwritten {
  /** Each with the number of its answer, null for none. */
  readonly attempts: (readonly [booked: BookedAttempt, nth: number | null])[] = [];
  readonly adopted = new Map<string, {readonly operation: Operation; readonly outcome: LastingOutcome}>();
  /** By key: a value is never asked for again while its answer waits to be written. */
  readonly outcomes = new Map<string, LastingOutcome>();

  get size(): number {
    return this.attempts.length + this.adopted.size;
  }

  /** What was taken over, as the ledger's file has it: key, operation, state, error, data and time. */
  adoptedRows() {
    return [...this.adopted].map(([key, {operation, outcome}]) => [key, operation, ...columnsOf(outcome)]);
  }

  book(booked: BookedAttempt, nth: number | null): void {
    this.attempts.push([booked, nth]);
    if (booked.outcome !== undefined) this.outcomes.set(booked.key, booked.outcome);
  }

  adopt(operation: Operation, key: string, outcome: LastingOutcome): void {
    this.adopted.set(key, {operation, outcome});
    this.outcomes.set(key, outcome);
  }
}
