import {randomInt} from 'node:crypto';
import type {Attempt, TimedAttempt} from '../client/attempt.ts';
import type {PublishedLimit} from '../job/settings/call-settings.ts';
import type {BookedAttempt, Reservation} from '../ledger/entry.ts';
import {isKept, type Result, type UnaskedCode} from '../ledger/lookup.ts';
import type {Task} from './executor.ts';
import {type Blame, chargeOf, leavesDoubt, nextStep, type PolicySettings, type Step} from './policy.ts';

/** A task under way, with its attempts. */
export interface TaskState extends Task {
  known: boolean;
  mayBeCarriedOut: boolean;
  doubts: number;
  lastCode: string;
  /** Number of attempts that reached the service, or may have. */
  calls: number;
  /** Number of the task's last reservation; 0 before the first. */
  dispatch: number;
  /** Ends the task's wait for a permit. `granted`: the task is sent now. */
  permit: (granted: boolean) => void;
}

/** Extends the task object itself, so that the task's submitter sees the attempts. */
export function taskState(task: Task): TaskState {
  return Object.assign(task, {calls: 0, dispatch: 0, permit: () => {}});
}

/** True if a task renews a usable answer, and the run is published at its credit limit: then other tasks go first. */
export function renews({before}: Task, publishOn: readonly PublishedLimit[]): boolean {
  return before !== undefined && before.validity !== 'past' && publishOn.includes('budget');
}

/** Counts the attempt as a doubt if it may have been charged and brought no answer. */
export function noteDoubt(task: TaskState, attempt: Attempt, policy: PolicySettings): void {
  if (!leavesDoubt(attempt, policy)) return;
  task.doubts += 1;
  if ('code' in attempt) task.lastCode = attempt.code;
}

/** The first dispatch number of a session. Random, so that no two sessions of a run use the same numbers. */
export function firstDispatch(): number {
  return randomInt(2 ** 47);
}

/** The reservation for the task's next call, under a new number. */
export function reservationOf(
  task: TaskState,
  dispatch: number,
  renews: boolean,
  sentAt: number,
): Reservation {
  task.dispatch = dispatch;
  const {lookup, cost, known} = task;
  const {key, operation} = lookup;
  return {key, operation, cost, known, dispatch, renews, sentAt, rows: task.rows, firstRow: task.firstRow()};
}

/** Counts an attempt that ended. Returns the next step, and the attempt as the ledger records it. */
export function concluded(
  task: TaskState,
  attempt: TimedAttempt,
  policy: PolicySettings,
  blame: Blame,
  isTrusted: boolean,
): {readonly step: Step; readonly booked: BookedAttempt} {
  const {operation, key} = task.lookup;
  const next = nextStep(operation, attempt, task, policy, blame, isTrusted);
  const kept = keptInstead(next, task);
  const step = kept ?? next;
  // An earlier answer that is kept is not booked: this attempt did not buy it.
  const outcome = kept === undefined && next.next === 'settle' ? next.outcome : undefined;
  const charge = task.cost === 0 ? 'free' : chargeOf(attempt, policy);
  const retry = task.calls > 0 || task.mayBeCarriedOut;
  const doubt = leavesDoubt(attempt, policy);
  if (attempt.kind !== 'not_sent') task.calls += 1;
  task.mayBeCarriedOut ||= doubt;
  const {cost, dispatch} = task;
  return {step, booked: {operation, key, cost, dispatch, attempt, charge, doubt, retry, outcome}};
}

/** True if the service refuses the value with the same code as before. This says nothing new about the service. */
export function isKnownRejection({before}: Task, attempt: Attempt): boolean {
  const known = before?.outcome;
  return attempt.kind === 'rejected' && known?.status === 'failed' && attempt.code === known.error;
}

/**
 * Returns a step that settles with the earlier answer, if that answer is still valid and its renewal failed.
 * Undefined if the attempt's own step counts.
 */
export function keptInstead(step: Step, {before}: Task): Step | undefined {
  if (before?.validity !== 'due' || step.next !== 'settle') return undefined;
  const {outcome} = step;
  if (outcome.status === 'ok' || (isKept(outcome) && before.outcome.status === 'failed')) return undefined;
  return {next: 'settle', outcome: before.outcome};
}

/** The result without a call: an earlier answer that is not too old to use, else `skipped`. */
export function withoutAsking(before: Task['before'], reason: UnaskedCode): Result {
  if (before === undefined || before.validity === 'past') return {status: 'skipped', error: reason};
  return before.validity === 'stale' ? {...before.outcome, stale: reason} : before.outcome;
}
