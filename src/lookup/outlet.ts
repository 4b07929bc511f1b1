import type {TimedAttempt} from '../client/attempt.ts';
import type {Params} from '../client/client.ts';
import type {Rate} from '../job/values.ts';
import type {Operation} from '../operations/table.ts';
import type {Pause} from './pace/pause.ts';
import type {RateController} from './pace/rate-controller.ts';

/** Operations that share one rate. */
export interface LaneSettings {
  /** The rate's name: an operation with a rate of its own, or `all`. */
  readonly name: Operation | 'all';
  readonly operations: readonly Operation[];
  readonly rate: Rate | 'unlimited';
  /** Calls in flight at most. */
  readonly concurrency: number;
}

/** How values leave: as calls of this process, or by way of a fleet. */
export interface Outlet {
  /** Sends one value; `dispatch` is the number under which that is reserved in the ledger. */
  send(operation: Operation, params: Params, dispatch: number): Promise<TimedAttempt>;
  pacer(lane: LaneSettings, controller: RateController, lease: Lease): LanePacer;
  /** Takes back what was not begun: nothing new is to be sent. */
  withdraw?(): Promise<void>;
  /** Why nothing comes of it at the moment, for reasons of its own. */
  readonly pause?: Pause | undefined;
}

/** Called with the number of values that may leave now. */
export type Lease = (permits: number) => void;

/**
 * So many values leave at once, where more could: each takes a tenth of a millisecond, and the answers that came meanwhile
 * wait, with the service. Fewer at once would be more transactions and system calls: measured at 4, a call costs a tenth more.
 */
export const LEAVE_AT_ONCE = 16;

/** Permits that other processes take from too: the account's. */
export interface SharedPermits {
  /** Takes up to `most`, to be used in this very moment of the program; where there are none, says how long to wait. */
  take(most: number): {readonly permits: number; readonly waitMs: number};
  /** A call is made with one of them. */
  use(): PermitUse;
}

/** What becomes of a permit. */
export interface PermitUse {
  /** The call begins to leave now: there is a connection for it. */
  left(): void;
  /** The call is over; `sent` where it may have left. */
  over(sent: boolean): void;
}

/** Hands out permits to send, in leases. */
export interface LanePacer {
  /**
   * Asks for a lease; however often that is done, one is under way at a time. `isGroup`: as many wait as leave at once,
   * so that there is nothing to wait for.
   */
  request(isGroup?: boolean): void;
  /** Notes that a permit was used now. */
  sent(): void;
  /** Nothing more is granted. */
  stop(): void;
}
