import {randomInt} from 'node:crypto';
import type {Attempt, TimedAttempt} from '../client/attempt.ts';
import type {PublishedLimit} from '../job/settings/call-settings.ts';
import type {Cost} from '../job/settings/cost.ts';
import type {BookedAttempt, Reservation} from '../ledger/entry.ts';
import type {Lookup, Result, UnaskedCode} from '../ledger/lookup.ts';
import {type ValueHistory, withDoubt} from '../ledger/value-history.ts';
import type {Task} from './executor.ts';
import {chargeOf, leavesDoubt} from './policy.ts';

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
  /** Ends the task's wait for a permit. `granted`: true if the task is sent now. */
  permit: (granted: boolean) => void;
}

/** Adds the state to the task object, not to a copy: its maker keeps it. */
export function taskState(task: Task): TaskState {
  return Object.assign(task, {history: task.entry.history, calls: 0, dispatch: 0, permit: () => {}});
}

/**
 * True if a task renews a usable answer in a run that publishes once its budget is used up. Such a renewal
 * must leave credits to values without an answer: see {@link Budget.affords}.
 */
export function renews({before}: Task, publishOn: readonly PublishedLimit[]): boolean {
  return before !== undefined && before.validity !== 'past' && publishOn.includes('budget');
}

/** The first dispatch number of a session. Random, so that no two sessions of a run use the same numbers. */
export function firstDispatch(): number {
  return randomInt(2 ** 47);
}

/** Returns the reservation for the task's next call. The call gets the number `dispatch`. */
export function reservationOf(task: TaskState, dispatch: number, renews: boolean): Reservation {
  task.dispatch = dispatch;
  task.chooseFirstRow();
  const {lookup, cost, entry} = task;
  const {key, operation} = lookup;
  return {key, operation, cost, entry, dispatch, renews};
}

/** Counts an ended attempt in the state of its value. Returns it as the ledger books it, without an outcome. */
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

/** True if the service rejects the value with the same code as before. This says nothing new about the service. */
export function isKnownRejection({before}: Task, attempt: Attempt): boolean {
  const known = before?.outcome;
  return attempt.kind === 'rejected' && known?.status === 'failed' && attempt.code === known.error;
}

/** The result without a call: the earlier answer, or `skipped` if none is usable. */
export function withoutAsking(before: Task['before'], reason: UnaskedCode): Result {
  if (before === undefined || before.validity === 'past') return {status: 'skipped', error: reason};
  return {...before.outcome, stale: reason};
}
