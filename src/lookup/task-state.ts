import {randomInt} from 'node:crypto';
import type {Attempt, TimedAttempt} from '../client/attempt.ts';
import type {PublishedLimit} from '../job/settings/call-settings.ts';
import type {BookedAttempt, Reservation} from '../ledger/entry.ts';
import {isKept, type Result, type UnaskedCode} from '../ledger/lookup.ts';
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

/** It stays the same object: whoever submitted it sees what it has been through. */
export function taskState(task: Task): TaskState {
  return Object.assign(task, {calls: 0, dispatch: 0, permit: () => {}});
}

/** True for a task that has an answer, where the run is published at its limit: others go first. */
export function renews({before}: Task, publishOn: readonly PublishedLimit[]): boolean {
  return before !== undefined && before.validity !== 'past' && publishOn.includes('budget');
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

/** Counts an attempt that ended: what follows from it, and what the ledger books. */
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
  // This attempt did not bring the earlier answer.
  const outcome = kept === undefined && next.next === 'settle' ? next.outcome : undefined;
  const charge = task.cost === 0 ? 'free' : chargeOf(attempt, policy);
  const retry = task.calls > 0 || task.ambiguous;
  const doubt = leavesDoubt(attempt, policy);
  if (attempt.kind !== 'not_sent') task.calls += 1;
  task.ambiguous ||= doubt;
  const {cost, dispatch} = task;
  return {step, booked: {operation, key, cost, dispatch, attempt, charge, doubt, retry, outcome}};
}

/** True if a value is refused with the code that is known of it: that is no news of the service. */
export function isKnownRejection({before}: Task, attempt: Attempt): boolean {
  const known = before?.outcome;
  return attempt.kind === 'rejected' && known?.status === 'failed' && attempt.code === known.error;
}

/** Settles by an earlier answer that is still good, if asking again failed, or an answered value is rejected. */
export function keptInstead(step: Step, {before}: Task): Step | undefined {
  if (before?.validity !== 'due' || step.next !== 'settle') return undefined;
  const {outcome} = step;
  if (outcome.status === 'ok' || (isKept(outcome) && before.outcome.status === 'failed')) return undefined;
  return {next: 'settle', outcome: before.outcome};
}

/** The result of a lookup that is not asked for: the answer from before, or none. */
export function withoutAsking(before: Task['before'], reason: UnaskedCode): Result {
  if (before === undefined || before.validity === 'past') return {status: 'skipped', error: reason};
  return before.validity === 'stale' ? {...before.outcome, stale: reason} : before.outcome;
}
