import type {TimedAttempt} from '../client/attempt.ts';
import type {BookedAttempt, Reservation} from '../ledger/entry.ts';
import {isKept} from '../ledger/lookup.ts';
import type {Task} from './executor.ts';
import {type Counting, chargeOf, nextStep, type PolicySettings, type Step} from './policy.ts';

/** A task under way, with what counts against it. */
export interface TaskState extends Task {
  known: boolean;
  ambiguous: boolean;
  /** Attempts that count against it. */
  attempts: number;
  /** Attempts that reached, or may have reached, the service. */
  calls: number;
  /** What its last sending is reserved under. */
  dispatch: number;
  /** Ends its wait for a permit. */
  permit: (granted: boolean) => void;
}

export function taskState(task: Task): TaskState {
  return {attempts: 0, calls: 0, dispatch: 0, permit: () => {}, ...task};
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
  attempt: TimedAttempt,
  policy: PolicySettings,
  counting: Counting,
  isTrusted: boolean,
): {readonly step: Step; readonly booked: BookedAttempt} {
  const {operation, key} = task.lookup;
  const next = nextStep(operation, attempt, task, policy, counting, isTrusted);
  const kept = keptInstead(next, task);
  const step = kept ?? next;
  // This attempt did not bring the earlier answer.
  const outcome = kept === undefined && next.next === 'settle' ? next.outcome : undefined;
  const charge = task.cost === 0 ? 'free' : chargeOf(attempt, policy);
  const retry = task.calls > 0 || task.ambiguous;
  if (step.next === 'retry' && step.counts) task.attempts += 1;
  if (attempt.kind !== 'not_sent') task.calls += 1;
  task.ambiguous ||= attempt.kind === 'ambiguous';
  return {step, booked: {operation, key, cost: task.cost, attempt, charge, retry, outcome}};
}

/** Settles by the earlier answer if it is still valid and the call to renew it failed. */
function keptInstead(step: Step, {fallback}: Task): Step | undefined {
  if (fallback?.validity !== 'due' || step.next !== 'settle' || isKept(step.outcome)) return undefined;
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
