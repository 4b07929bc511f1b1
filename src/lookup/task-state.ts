import {randomInt} from 'node:crypto';
import type {Attempt, TimedAttempt} from '../client/attempt.ts';
import type {PublishedLimit} from '../job/settings/call-settings.ts';
import type {Cost} from '../job/settings/cost.ts';
import type {BookedAttempt, Reservation} from '../ledger/entry.ts';
import {isKept, type Lookup, type Outcome, type Result, type UnaskedCode} from '../ledger/lookup.ts';
import {type ValueHistory, withDoubt} from '../ledger/value-history.ts';
import type {Task} from './executor.ts';
import {type Blame, chargeOf, leavesDoubt, nextStep, type PolicySettings, type Step} from './policy.ts';

/** A value with its attempts. */
export interface Attempted {
  readonly lookup: Lookup;
  /** Cost of one call, in thousandths of a credit. */
  readonly cost: number;
  history: ValueHistory;
  /** Number of attempts of this session that reached the service, or may have. */
  calls: number;
  /** Number of the value's last reservation; 0 before the first. */
  dispatch: number;
}

/** A task under way. */
export interface TaskState extends Task, Attempted {
  history: ValueHistory;
  known: boolean;
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

/** Counts an attempt that ended. Returns it as the ledger books it, without an outcome. */
export function counted(value: Attempted, attempt: TimedAttempt, charges: Cost): BookedAttempt {
  const {cost, dispatch, calls, history} = value;
  const {operation, key} = value.lookup;
  const charge = chargeOf(attempt, charges);
  const doubt = leavesDoubt(attempt, charge);
  if (attempt.kind !== 'not_sent') value.calls += 1;
  if (doubt) value.history = withDoubt(history, attempt);
  const retry = calls > 0 || history.mayBeCarriedOut;
  return {operation, key, cost, dispatch, attempt, charge: cost === 0 ? 'free' : charge, doubt, retry};
}

/** The step after an attempt that is {@link counted}, and the outcome that this attempt bought, if any. */
export function concluded(
  task: TaskState,
  attempt: TimedAttempt,
  policy: PolicySettings,
  blame: Blame,
  isTrusted: boolean,
): {readonly step: Step; readonly outcome: Outcome | undefined} {
  const next = nextStep(task.lookup.operation, attempt, task.history, policy, blame, isTrusted);
  const kept = keptInstead(next, task);
  const outcome = kept === undefined && next.next === 'settle' ? next.outcome : undefined;
  return {step: kept ?? next, outcome};
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
