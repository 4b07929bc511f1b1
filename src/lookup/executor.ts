import type {BookedAttempt, LedgerEntry} from '../ledger/entry.ts';
import type {Lookup, Outcome, UnaskedCode} from '../ledger/lookup.ts';
import type {Operation} from '../operations/table.ts';
import type {KnownAnswer} from '../store/validity.ts';
import type {Streak} from './pace/canary.ts';
import type {Pause, StopReason} from './pace/pause.ts';

/** How a task ended: with an outcome, which the ledger has; or without a call, for the reason `unasked`. */
export type Ended = {readonly outcome: Outcome} | {readonly unasked: UnaskedCode};

/** A lookup that must be paid for: neither ledger nor store has its outcome. */
export interface Task {
  readonly lookup: Lookup;
  /** The ledger's knowledge of the value: its attempts, and an earlier answer that has expired. */
  readonly entry: LedgerEntry;
  /** Cost of one call, in thousandths of a credit. */
  readonly cost: number;
  /**
   * Chooses, when the call is sent, the row that shows the answer unchanged. All other rows show what a second
   * call would have answered; none is made.
   */
  chooseFirstRow(): void;
  /** Numbers of the rows that wait for the task now. */
  rows(): readonly number[];
  /** An earlier answer, which the call may renew. Without a call, the rows get it, unless it is too old to use. */
  readonly before?: KnownAnswer | undefined;
  ended(end: Ended): void;
  /**
   * If another run has bought the answer since the task was queued, gives it to the waiting cells and returns true.
   */
  isAnsweredMeanwhile(): boolean;
}

export interface ExecutorEvents {
  /** Called at the end of each attempt. `rows`: numbers of the rows that wait for it. */
  attempted?(booked: BookedAttempt, rows: readonly number[]): void;
  /** Called when so many values of an operation were refused in a row that the values are not to blame. */
  refused?(operation: Operation, streak: Streak): void;
  /** Called when the run stops. It then sends nothing new. */
  stopped(reason: ExecutorStop): void;
  /** Called when the run sends nothing new, but continues to its end. Tasks without an outcome end as `unasked`. */
  closed(reason: ExecutorStop): void;
}

export type ExecutorStop =
  | StopReason
  | {readonly kind: 'budget'}
  | {readonly kind: 'error'; readonly error: unknown};

export interface PaceReport {
  /** The configured calls per second; undefined without a limit. */
  readonly limit: number | undefined;
  /** The current calls per second, lowered by throttling. */
  readonly current: number | undefined;
  readonly inFlight: number;
  /** Number of values that wait for a slot, a permit or their next attempt. */
  readonly waiting: number;
  /** Milliseconds that calls were in flight, summed over all calls. */
  readonly inFlightMs: number;
  readonly pause: Pause | undefined;
  readonly pauses: number;
  readonly pausedMs: number;
}

/**
 * Makes the calls of tasks, in this process or through a fleet. A task first waits for a slot, since calls in
 * flight are limited. Then it waits for a permit, since the rate of calls is limited too.
 */
export interface Executor {
  /** Takes a task. Resolves when it may take another. */
  submit(task: Task): Promise<void>;
  /** Sends nothing new. Tasks with a call in flight still end. All other tasks stay open. */
  stop(): void;
  /**
   * Stops sending. Calls in flight may still end. Tasks without an outcome end as `unasked` with `reason`.
   */
  close(reason: UnaskedCode): void;
  /** Resolves once no call is in flight, at the latest after `graceMs`. */
  drained(graceMs: number): Promise<void>;
  pace(): PaceReport;
}
