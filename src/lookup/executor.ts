import type {History} from '../ledger/entry.ts';
import type {Lookup, Outcome, UnaskedCode} from '../ledger/lookup.ts';
import type {Operation} from '../operations/table.ts';
import type {KnownAnswer} from '../store/validity.ts';
import type {Streak} from './pace/canary.ts';
import type {Pause, StopReason} from './pace/pause.ts';

/**
 * What became of a task: its outcome for good, which the ledger has and writes with whatever it writes next; the reason why
 * this run can't ask for it any more; or that no cell waits for it any more, so that it was not asked.
 */
export type Ended = {readonly outcome: Outcome} | {readonly unasked: UnaskedCode} | 'unwanted';

/** A lookup that has to be paid for, as neither ledger nor store has its outcome. The executor tells it what becomes of it. */
export interface Task extends History {
  readonly lookup: Lookup;
  /** What one call costs, in thousandths of a credit. */
  readonly cost: number;
  /** Whether the ledger has an entry for it already. */
  readonly known: boolean;
  /** The row that is to be the first, as long as it is not sent; undefined where it does not matter which one is. */
  firstRow(): number | undefined;
  /** The rows that wait for it by now. */
  rows(): readonly number[];
  /** True if a request waits for it: in an outage it is told at once, unless it finds out whether that is over. */
  isUrgent(): boolean;
  /** What is known from before: unless it is past any use, it serves where the value can't be asked for. */
  readonly before?: KnownAnswer | undefined;
  ended(end: Ended): void;
  /** False once no cell waits for its outcome: a call for it is not made. */
  isWanted(): boolean;
  /** True if another run has been answered since it was queued. The cells that waited for it know, and it needs no call. */
  isAnsweredMeanwhile(): boolean;
  /** An outage holds it up: requests are told now, and all rows once the outage is overdue. */
  heldUp(isOverdue: boolean): void;
}

/** What the executor tells the run. */
export interface ExecutorEvents {
  /** So many calls of an operation were refused in a row that their values are not to blame. */
  refused?(operation: Operation, streak: Streak): void;
  /** Nothing new is sent any more. */
  stopped(reason: ExecutorStop): void;
  /** The same, but all that is left, and all that comes, is told as unasked: the run goes on to its end. */
  closed(reason: ExecutorStop): void;
}

export type ExecutorStop =
  | StopReason
  | {readonly kind: 'budget'}
  | {readonly kind: 'error'; readonly error: unknown};

/** What there is to say of the pace. */
export interface PaceReport {
  /** Calls a second at most, as asked for; undefined without a limit. */
  readonly limit: number | undefined;
  /** Calls a second at most for now, where throttling has brought it down. */
  readonly current: number | undefined;
  readonly inFlight: number;
  /** Values that wait for a slot, a permit or their next attempt. */
  readonly waiting: number;
  /** The same over time: each call so far for as many milliseconds as it was in flight. */
  readonly inFlightMs: number;
  readonly pause: Pause | undefined;
  readonly pauses: number;
  readonly pausedMs: number;
}

/** `queue → pace → send`, on this machine or on a fleet: the only part of a run that differs between them. */
export interface Executor {
  /** True while an outage holds up what requests wait for, too. */
  readonly isDown: boolean;
  /** Takes a task; resolves when it may take another. */
  submit(task: Task): Promise<void>;
  /** Sends nothing new. */
  stop(): void;
  /** Sends nothing new; what is in flight may end, all else is told as unasked for this reason. */
  close(reason: UnaskedCode): void;
  /** Drops values that no caller waits for any more, so that they keep neither a slot nor the process. */
  dropUnwanted(): void;
  /** Resolves once nothing is in flight, or after `graceMs`. */
  drained(graceMs: number): Promise<void>;
  pace(): PaceReport;
}
