import type {LastingOutcome, Lookup, StoredOutcome, UnaskedCode} from '../ledger/lookup.ts';
import type {Validity} from '../ledger/store/validity.ts';
import type {Operation} from '../operations/table.ts';
import type {Streak} from './pace/canary.ts';
import type {OutageState, Pause, StopReason} from './pace/pause.ts';

/** A lookup that has to be paid for, as neither ledger nor store has its outcome. */
export interface Task {
  readonly lookup: Lookup;
  /** What one call costs, in thousandths of a credit. */
  readonly cost: number;
  /** Whether the ledger has an entry for it already. */
  readonly known: boolean;
  /** True if an earlier attempt may have been carried out without an answer. */
  readonly ambiguous: boolean;
  /** Attempts so far that may have been charged and brought no answer, and the code of the last one. */
  readonly doubts: number;
  readonly lastCode: string;
  /** The row that is to be the first, as long as it is not sent; left out where it does not matter which one is. */
  readonly firstRow?: () => number | undefined;
  /** True if a request waits for it: in an outage it is told at once, unless it finds out whether that is over. */
  readonly isUrgent?: () => boolean;
  /** The code that the service has rejected it with before, however long ago. */
  readonly rejectedBefore?: string | undefined;
  /** What serves where it can't be asked for: known from before, and due to be asked for again, or stale. */
  readonly fallback?: {readonly outcome: StoredOutcome; readonly validity: Validity} | undefined;
}

/** What the executor tells the run. */
export interface ExecutorEvents {
  /** The outcome for good; the ledger has it, and writes it with whatever it writes next. */
  settled(task: Task, outcome: LastingOutcome): void;
  /** It can't be asked for in this run any more, and has no outcome. */
  unasked(task: Task, reason: UnaskedCode): void;
  /** So many calls of an operation were refused in a row that their values are not to blame. */
  refused?(operation: Operation, streak: Streak): void;
  /** It was not asked, as nobody wants it any more. */
  dropped?(task: Task): void;
  /** An outage holds all up but its probe: requests are told now, and once it is overdue so are the others. */
  down?(outage: OutageState): void;
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
  /** Lets go of what nobody waits for any more, so that it keeps neither a slot nor the process. */
  dropUnwanted(): void;
  /** Resolves once nothing is in flight, or after `graceMs`. */
  drained(graceMs: number): Promise<void>;
  pace(): PaceReport;
}
