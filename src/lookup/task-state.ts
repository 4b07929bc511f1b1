import {randomInt} from 'node:crypto';
import type {Attempt} from '../client/attempt.ts';
import type {BookedAttempt, Reservation} from '../ledger/entry.ts';
import {isKept} from '../ledger/lookup.ts';
import type {Task} from './executor.ts';
import {type Blame, chargeOf, leavesDoubt, nextStep, type PolicySettings, type Step} from './policy.ts';

/** A task under way, with what it has been through. */
export interface TaskState extends Task {
  known: boolean;
  ambiguous: boolean;
  doubts: number;
  lastCode: string;
  /** Attempts that reached, or may have reached, the service. */
  calls: number;
  /** What its last sending is reserved under. */
  dispatch: number;
  /** Ends its wait for a permit. */
  permit: (granted: boolean) => void;
}

export function taskState(task: Task): TaskState {
  return {calls: 0, dispatch: 0, permit: () => {}, ...task};
}

/** Counts an attempt that may have been charged and brought no answer. */
export function noteDoubt(task: TaskState, attempt: Attempt, policy: PolicySettings): void {
  if (!leavesDoubt(attempt, policy)) return;
  task.doubts += 1;
  if ('code' in attempt) task.lastCode = attempt.code;
}

/** Where a session begins to number its dispatches: so far apart that no two of a run's sessions meet. */
export function firstDispatch(): number {
  return randomInt(2 ** 47);
}

/** Its next sending, under a number of its own. */
export function reservationOf(task: TaskState, dispatch: number): Reservation {
  task.dispatch = dispatch;
  const {lookup, cost, known} = task;
  return {key: lookup.key, operation: lookup.operation, cost, known, dispatch};
}

/** Counts an attempt that ended: what follows from it, and what the ledger books. */
export function concluded(
  task: TaskState,
  attempt: Attempt,
  policy: PolicySettings,
  blame: Blame,
  isTrusted: boolean,
): {readonly step: Step; readonly booked: BookedAttempt} {
  const {operation, key} = task.lookup;
  const step = orKnown(nextStep(operation, attempt, task, policy, blame, isTrusted), task);
  const outcome = step.next === 'settle' ? step.outcome : undefined;
  const charge = task.cost === 0 ? 'free' : chargeOf(attempt, policy);
  const retry = task.calls > 0 || task.ambiguous;
  const doubt = leavesDoubt(attempt, policy);
  if (attempt.kind !== 'not_sent') task.calls += 1;
  task.ambiguous ||= doubt;
  return {step, booked: {operation, key, cost: task.cost, attempt, charge, doubt, retry, outcome}};
}

/** True if a value is refused with the code that is known of it: that is no news of the service. */
export function isKnownRejection({rejectedBefore}: Task, attempt: Attempt): boolean {
  return attempt.kind === 'rejected' && attempt.code === rejectedBefore;
}

/** What is still good stands where asking for it again came to nothing, or to a rejection of a value that had an answer. */
export function orKnown(step: Step, {fallback}: Task): Step {
  if (fallback === undefined || fallback.isStale || step.next !== 'settle') return step;
  const {outcome} = step;
  if (outcome.status === 'ok' || (isKept(outcome) && fallback.outcome.status === 'failed')) return step;
  return {next: 'settle', outcome: fallback.outcome};
}

/** Values that have a fallback are asked for again as long as they cost no more than `limit`, in thousandths of a credit. */
export class Renewals {
  readonly #limit: number;
  #spent = 0;

  constructor(limit = Number.POSITIVE_INFINITY) {
    this.#limit = limit;
  }

  /** Whether this task has no fallback, or is among those that may be asked for all the same. */
  admit(task: TaskState): boolean {
    if (task.fallback === undefined || task.calls > 0) return true;
    if (this.#spent + task.cost > this.#limit) return false;
    this.#spent += task.cost;
    return true;
  }
}
