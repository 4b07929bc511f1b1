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
}

/** Is called with the number of values that may be sent now. */
export type Lease = (permits: number) => void;

/**
 * Maximum calls that are sent together. Sending one takes 0.1 ms, and answers that arrive meanwhile have to wait.
 * Smaller groups need more transactions and system calls: in groups of 4, a call takes a tenth more time.
 */
export const LEAVE_AT_ONCE = 16;

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
