import type {Attempt} from '../client/attempt.ts';
import type {BookedAttempt, Reservation} from '../ledger/entry.ts';
import {isKept, type Outcome, type UnaskedCode} from '../ledger/lookup.ts';
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

/** Makes tasks' states. One that was dropped after a call counts on where its value is asked for again. */
export class TaskStates {
  readonly #dropped = new Map<string, TaskState>();

  of(task: Task): TaskState {
    const {key} = task.lookup;
    const before = this.#dropped.get(key);
    this.#dropped.delete(key);
    if (before === undefined) return {attempts: 0, calls: 0, dispatch: 0, permit: () => {}, ...task};
    return Object.assign(before, task, {ambiguous: task.ambiguous || before.ambiguous});
  }

  dropped(task: TaskState): void {
    if (task.calls > 0) this.#dropped.set(task.lookup.key, task);
  }
}

/** Its next sending, under a number of its own. */
export function reservationOf(task: TaskState, dispatch: number): Reservation {
  task.dispatch = dispatch;
  const {lookup, cost, known, firstRow} = task;
  return {key: lookup.key, operation: lookup.operation, cost, known, dispatch, firstRow: firstRow?.()};
}

/** Counts an attempt that ended: what follows from it, and what the ledger books. */
export function concluded(
  task: TaskState,
  attempt: Attempt,
  policy: PolicySettings,
  counting: Counting,
  isTrusted: boolean,
): {readonly step: Step; readonly booked: BookedAttempt} {
  const {operation, key} = task.lookup;
  const step = orKnown(nextStep(operation, attempt, task, policy, counting, isTrusted), task);
  const outcome = step.next === 'settle' ? step.outcome : undefined;
  const charge = task.cost === 0 ? 'free' : chargeOf(attempt, policy);
  const retry = task.calls > 0 || task.ambiguous;
  if (step.next === 'retry' && step.counts) task.attempts += 1;
  if (attempt.kind !== 'not_sent') task.calls += 1;
  task.ambiguous ||= attempt.kind === 'ambiguous';
  return {step, booked: {operation, key, cost: task.cost, attempt, charge, retry, outcome}};
}

/** What is still good stands where asking for it again came to nothing. */
function orKnown(step: Step, {fallback}: Task): Step {
  if (fallback === undefined || fallback.isStale || step.next !== 'settle' || isKept(step.outcome))
    return step;
  return {next: 'settle', outcome: fallback.outcome};
}

/** The outcome of a lookup that is not asked for: the answer from before, or none. */
export function withoutAsking(fallback: Task['fallback'], reason: UnaskedCode): Outcome {
  if (fallback === undefined) return {status: 'skipped', error: reason};
  return fallback.isStale ? {...fallback.outcome, stale: reason} : fallback.outcome;
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
