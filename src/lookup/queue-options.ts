import type {PublishedLimit} from '../job/settings/call-settings.ts';
import type {Ledger} from '../ledger/ledger.ts';
import type {Operation} from '../operations/table.ts';
import type {ExecutorEvents} from './executor.ts';
import type {LaneSettings, Outlet} from './outlet.ts';
import type {PolicySettings} from './policy.ts';

/** Settings of the wait for the end of an outage. */
export interface OutageSettings {
  readonly maxOutageMs: number;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
}

/** Settings that decide which tasks may be sent now. */
export interface FlowSettings extends OutageSettings {
  /** True if refused values never end the run, however many come in a row. */
  readonly mayAllFail?: boolean | undefined;
  /** True if an answer of this operation is known, from this run or an earlier one. */
  readonly isAnswered: (operation: Operation) => boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface QueueExecutorOptions extends FlowSettings {
  readonly outlet: Outlet;
  readonly ledger: Ledger;
  readonly lanes: readonly LaneSettings[];
  /** Maximum calls in flight of all lanes together. By default, the sum of the lanes' own maximums. */
  readonly concurrency?: number | undefined;
  readonly policy: PolicySettings;
  /** At these limits the remaining tasks end without a call, and the run publishes. At other limits it stops. */
  readonly publishOn: readonly PublishedLimit[];
  readonly events: ExecutorEvents;
}
