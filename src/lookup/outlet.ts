import type {TimedAttempt} from '../client/attempt.ts';
import type {Params} from '../client/client.ts';
import type {Rate} from '../job/values.ts';
import type {Operation} from '../operations/table.ts';
import type {Pause} from './pace/pause.ts';
import type {RateController} from './pace/rate-controller.ts';

/** A lane: operations that share one rate. */
export interface LaneSettings {
  /** An operation with a rate of its own, or `all` for all others. */
  readonly name: Operation | 'all';
  readonly operations: readonly Operation[];
  readonly rate: Rate | 'unlimited';
  /** Maximum calls in flight. */
  readonly concurrency: number;
}

/** Sends values, from this process or through a fleet. */
export interface Outlet {
  /** Sends one value. `dispatch` is the number of the value's reservation in the ledger. */
  send(operation: Operation, params: Params, dispatch: number): Promise<TimedAttempt>;
  pacer(lane: LaneSettings, controller: RateController, lease: Lease): LanePacer;
  /** Called when nothing new is to be sent. Takes back the values that are not sent yet. */
  withdraw?(): Promise<void>;
  /** The outlet's own pause, such as a fleet's; undefined while it sends. */
  readonly pause?: Pause | undefined;
  /** Maximum rate of all lanes together; undefined without such a limit. */
  readonly rate?: Rate | undefined;
}

/** Is called with the number of values that may be sent now. */
export type Lease = (permits: number) => void;

/**
 * Maximum calls that are sent together. Sending one takes 0.1 ms, and answers that arrive meanwhile have to wait.
 * Smaller groups need more transactions and system calls: in groups of 4, a call takes a tenth more time.
 */
export const LEAVE_AT_ONCE = 16;

/** Permits to make calls of an account, whose rate this process shares with other processes. */
export interface SharedPermits {
  readonly rate: Rate;
  /** Takes up to `most` permits for this turn of the event loop. If it gets none, returns how long to wait. */
  take(most: number): {readonly permits: number; readonly waitMs: number};
  use(): PermitUse;
}

export interface PermitUse {
  /** Called when the call has its connection and leaves. */
  left(): void;
  /** Called when the call has ended. `sent`: true if the call may have reached the service. */
  over(sent: boolean): void;
}

/** Hands out permits in leases. Each lease lets a number of calls be sent now. */
export interface LanePacer {
  /**
   * Requests a lease; repeated requests share one. `isGroup`: true if enough calls for a full group wait already,
   * so that the lease need not wait for more.
   */
  request(isGroup?: boolean): void;
  /** Notes that a permit was used now. */
  sent(): void;
  stop(): void;
}
