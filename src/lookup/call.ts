import type {Attempt, TimedAttempt} from '../client/attempt.ts';
import type {Params} from '../client/client.ts';
import type {Rate} from '../job/values.ts';
import type {AnswerStore} from '../ledger/answers/store.ts';
import type {KnownAnswer} from '../ledger/answers/validity.ts';
import type {Answer, LookupKey} from '../ledger/lookup.ts';
import type {LedgerEntry, Reservation} from '../ledger/run/entry.ts';
import type {Operation} from '../operations/table.ts';
import type {Pause} from './pace/pause.ts';

/** A value that must be paid for: neither ledger nor store has its outcome. With the reservation of its next call. */
export interface Call extends LookupKey, Reservation {
  readonly params: Params;
  readonly entry: LedgerEntry;
  /** Cost of one call, in thousandths of a credit. */
  readonly cost: number;
  /** Number of the first row that waits for it. */
  readonly row: number | undefined;
  /** An earlier answer, which has expired. Without a call, the rows get it, unless it is too old to use. */
  readonly before: KnownAnswer | undefined;
  /** True if `before` is a usable answer in a run that publishes once its budget is used up. */
  readonly renews: boolean;
  /** Number of the last reservation; 0 before the first. */
  dispatch: number;
  /** Time of the last reservation, in milliseconds since the epoch. */
  sentAt: number;
  /** Number of attempts of this session that reached the service, or may have. */
  attempts: number;
  /** The store's version at the last search for this value in the store. */
  version: number;
}

/** Makes calls: this process, or a fleet. */
export interface Outlet {
  /** Makes one call. `perSecond`: the rate that its lane has now; infinite without a limit. */
  send(call: Pick<Call, 'operation' | 'params' | 'dispatch'>, perSecond: number): Promise<TimedAttempt>;
  /** Called when nothing new is to be sent. Takes back the values that are not sent yet. */
  withdraw?(): Promise<void>;
  /** The outlet's own pause; undefined while it sends. */
  readonly pause?: Pause | undefined;
  /** True if the outlet keeps the rate itself. */
  readonly keepsPace?: boolean;
}

/** A lane: operations that share one rate. */
export interface LaneSettings {
  /** An operation with a rate of its own, or `all` for all others. */
  readonly name: Operation | 'all';
  readonly operations: readonly Operation[];
  readonly rate: Rate | 'unlimited';
  /** Maximum calls in flight. */
  readonly concurrency: number;
}

/** The answer that another run has bought since the call's value was searched in the store; undefined without one. */
export function boughtMeanwhile(call: Call, store: AnswerStore): Answer | undefined {
  const version = store.version();
  if (call.version === version) return undefined;
  const stored = store.find([call.key], call.operation);
  if (stored === undefined) return undefined;
  call.version = version;
  const {outcome, validity} = stored.get(call.key) ?? {};
  return validity === 'fresh' ? outcome : undefined;
}

/** True if the service rejects the value with the same code as before. This says nothing new about the service. */
export function isKnownRejection({before}: Call, attempt: Attempt): boolean {
  const known = before?.outcome;
  return attempt.kind === 'rejected' && known?.status === 'failed' && attempt.code === known.error;
}
