import type {PublishedLimit} from '../job/settings/call-settings.ts';
import type {AnswerStore} from '../ledger/answers/store.ts';
import type {Ledger} from '../ledger/run/ledger.ts';
import type {Operation} from '../operations/table.ts';
import type {LaneSettings, Outlet} from './call.ts';
import type {Streak} from './pace/canary.ts';
import type {Pause, StopReason} from './pace/pause.ts';
import type {PolicySettings} from './policy.ts';

export interface GateOptions {
  readonly outlet: Outlet;
  readonly ledger: Ledger;
  readonly store: AnswerStore;
  readonly lanes: readonly LaneSettings[];
  /** Maximum calls in flight of all lanes together. By default, the sum of the lanes' own maximums. */
  readonly concurrency?: number | undefined;
  readonly policy: PolicySettings;
  readonly maxOutageMs: number;
  /** True if refused values never end the run, however many come in a row. */
  readonly mayAllFail?: boolean | undefined;
  /** True if an answer of this operation is known, from this run or an earlier one. */
  readonly isAnswered: (operation: Operation) => boolean;
  /** At these limits the remaining values end without a call, and the run publishes. At other limits it stops. */
  readonly publishOn: readonly PublishedLimit[];
  readonly events: GateEvents;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
}

export interface GateEvents {
  /** Called when so many values of an operation were refused in a row that the values are not to blame. */
  refused(operation: Operation, streak: Streak): void;
  /** Called when the run stops. It then sends nothing new. */
  stopped(reason: GateStop): void;
  /** Called when the run sends nothing new, but continues to its end. */
  closed(reason: GateStop): void;
}

export type GateStop =
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
