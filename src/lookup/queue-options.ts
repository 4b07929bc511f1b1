import type {PublishedLimit} from '../job/settings/call-settings.ts';
import type {Ledger} from '../ledger/ledger.ts';
import type {Operation} from '../operations/table.ts';
import type {ExecutorEvents} from './executor.ts';
import type {LaneSettings, Outlet} from './outlet.ts';
import type {PolicySettings} from './policy.ts';

export interface QueueExecutorOptions {
  readonly outlet: Outlet;
  readonly ledger: Ledger;
  readonly lanes: readonly LaneSettings[];
  /** Maximum calls in flight of all lanes together. By default, the sum of the lanes' own maximums. */
  readonly concurrency?: number | undefined;
  readonly policy: PolicySettings;
  readonly maxOutageMs: number;
  /** At these limits the remaining tasks end without a call, and the run publishes. At other limits it stops. */
  readonly publishOn: readonly PublishedLimit[];
  /** True if no outage ends the run: waiting values are answered without a call, later ones test the service. */
  readonly outlastsOutages?: boolean | undefined;
  /** True if refused values never end the run, however many come in a row. */
  readonly mayAllFail?: boolean | undefined;
  readonly events: ExecutorEvents;
  /** True if an answer of this operation is known, from this run or an earlier one. */
  readonly isAnswered: (operation: Operation) => boolean;
  /** `now` is in milliseconds since the epoch; `random` returns a number in [0, 1). */
  readonly now: () => number;
  readonly random: () => number;
}
