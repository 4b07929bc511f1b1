import type {PublishedLimit} from '../job/settings/call-settings.ts';
import type {Ledger} from '../ledger/ledger.ts';
import type {Operation} from '../operations/table.ts';
import type {ExecutorEvents} from './executor.ts';
import type {LaneSettings, Outlet} from './outlet.ts';
import type {PolicySettings} from './policy.ts';

/** What an executor works with: where values leave, what it writes to, and how it decides. */
export interface QueueExecutorOptions {
  readonly outlet: Outlet;
  readonly ledger: Ledger;
  readonly lanes: readonly LaneSettings[];
  /** Calls in flight at most, of all lanes together; as many as the lanes have by default. */
  readonly concurrency?: number | undefined;
  readonly policy: PolicySettings;
  readonly maxOutageMs: number;
  /** The limits at which the rest is told as unasked; at the others it stops. */
  readonly publishOn: readonly PublishedLimit[];
  /** True if an outage that lasts too long ends nothing: what waits is told, and what comes finds out when it is over. */
  readonly outlastsOutages?: boolean | undefined;
  /** True if calls may be refused in any number, and end nothing. */
  readonly mayAllFail?: boolean | undefined;
  readonly events: ExecutorEvents;
  /** Whether an answer of this operation is known from before, in this run or an earlier one. */
  readonly isAnswered: (operation: Operation) => boolean;
  /** Milliseconds since the epoch, and a random number in [0, 1). */
  readonly now: () => number;
  readonly random: () => number;
}
