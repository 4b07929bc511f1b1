import type {Operation} from '../operations/table.ts';
import {type BookedAttempt, columnsOf} from './entry.ts';
import type {LastingOutcome} from './lookup.ts';

/** What is booked and not in the ledger's file yet. */
export class Unwritten {
  readonly attempts: BookedAttempt[] = [];
  readonly adopted = new Map<string, {readonly operation: Operation; readonly outcome: LastingOutcome}>();
  /** By key: a value is never asked for again while its answer waits to be written. */
  readonly outcomes = new Map<string, LastingOutcome>();
  /** Keys of values that have attempts here and no outcome. */
  readonly open = new Set<string>();
  /** By the keys of rejected values: true if that is kept for other runs, false if it is no more than a failure. */
  readonly rejections = new Map<string, boolean>();

  get size(): number {
    return this.attempts.length + this.adopted.size + this.rejections.size;
  }

  /** What was taken over, as the ledger's file has it: key, operation, state, error and data. */
  adoptedRows() {
    return [...this.adopted].map(([key, {operation, outcome}]) => [key, operation, ...columnsOf(outcome)]);
  }

  book(booked: BookedAttempt): void {
    this.attempts.push(booked);
    if (booked.outcome === undefined) this.open.add(booked.key);
    else this.outcomes.set(booked.key, booked.outcome);
  }

  judge(key: string, isKept: boolean): void {
    this.rejections.set(key, isKept);
    const outcome = this.outcomes.get(key);
    if (!isKept && outcome?.status === 'failed')
      this.outcomes.set(key, {status: 'failed', error: outcome.error});
  }

  adopt(operation: Operation, key: string, outcome: LastingOutcome): void {
    this.adopted.set(key, {operation, outcome});
    this.outcomes.set(key, outcome);
  }
}
