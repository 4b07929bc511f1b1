import type {Attempt, TimestampedAttempt} from '../client/attempt.ts';
import type {Rate} from '../job/setting-types.ts';
import type {PublishTrigger} from '../job/settings/call-settings.ts';
import type {AnswerStore} from '../ledger/answers/store.ts';
import {isUsable, type KnownAnswer, type ValidityJudge} from '../ledger/answers/validity.ts';
import type {Answer, CellResult, Lookup, Outcome, UnaskedCode} from '../ledger/lookup-outcome.ts';
import type {CreditTurns} from '../ledger/run/budget.ts';
import type {Ledger} from '../ledger/run/ledger.ts';
import type {BookedAttempt, LedgerEntry, Reservation} from '../ledger/run/ledger-entry.ts';
import type {Operation} from '../operations/table.ts';
import type {LongRefusalStreak} from './canary.ts';
import type {Departure} from './rate-limit.ts';
import type {RetrySettings} from './retry-policy.ts';

/** A planned cell that waits for its result. */
export interface Waiter {
  readonly lookup: Lookup;
  /** Number of the cell's row in the run. */
  readonly row: number;
  tell(result: CellResult): void;
}

/** A value that must be paid for unless ledger or store know it. With the reservation of its next call. */
export interface Call extends Lookup, Reservation {
  entry: LedgerEntry;
  /** The cells that wait for it. */
  readonly waiters: Waiter[];
  /** An earlier answer, which has expired. Without a call, the rows get it, unless it is too old to use. */
  before: KnownAnswer | undefined;
  /** True if `before` is a usable answer in a run that publishes once its budget is used up. */
  renews: boolean;
  /** Number of the last reservation; 0 before the first. */
  dispatch: number;
  /** Time of the last sending, by the run's clock, and its place in the order of sending. */
  sentAt: number;
  seq: number;
  departure: Departure;
  /** Number of attempts of this session that reached the service, or may have. */
  attempts: number;
  /** The store's version at the last search for this value in the store. */
  version: number;
  /** Gives the value's result to the cells that wait for it. */
  readonly settle: (result: CellResult) => void;
}

/** A call that was not sent yet. */
export function newCall(
  {operation, key, params}: Lookup,
  entry: LedgerEntry,
  cost: number,
  settle: Call['settle'],
): Call {
  return {
    operation,
    key,
    params,
    entry,
    cost,
    settle,
    waiters: [],
    before: undefined,
    renews: false,
    dispatch: 0,
    sentAt: 0,
    seq: 0,
    departure: {at: 0},
    attempts: 0,
    version: 0,
  };
}

/** How a value ends: by its last attempt, by earlier attempts alone (`adopted`), or without a call. */
export type CallEnd =
  | {readonly kind: 'outcome' | 'adopted'; readonly outcome: Outcome}
  | {readonly kind: 'skipped'; readonly reason: UnaskedCode};

/** Makes calls: this process, or a fleet. */
export interface Dispatcher {
  /** Makes one call. `perSecond`: the rate that its lane has now; infinite without a limit. */
  send(
    call: Pick<Call, 'operation' | 'params' | 'dispatch' | 'cost'>,
    perSecond: number,
  ): Promise<TimestampedAttempt>;
  /** Called when nothing new is to be sent. Takes back the values that are not sent yet. */
  withdraw?(): Promise<void>;
  /** The dispatcher's own pause; undefined while it sends. */
  readonly pause?: Pause | undefined;
  /** True if the dispatcher keeps the rate itself. */
  readonly keepsPace?: boolean;
}

/** A lane: operations that share one rate. */
export interface LaneSettings {
  /** An operation with a rate of its own, or `all` for all others. */
  readonly name: Operation | 'all';
  readonly operations: readonly Operation[];
  readonly rate: Rate | 'unlimited';
}

/** The turns of values without a usable answer, and of those whose usable answer is renewed. */
export interface ValueTurns {
  readonly fresh: CreditTurns;
  readonly renewals: CreditTurns;
}

/** All that lookups need: places of known answers, the way of a call, and listeners. */
export interface LookupOptions {
  readonly dispatcher: Dispatcher;
  readonly ledger: Ledger;
  readonly store: AnswerStore;
  /** Decides which values have their turn; undefined if all have. */
  readonly turns?: ValueTurns | undefined;
  readonly lanes: readonly LaneSettings[];
  /** Maximum calls in flight of all lanes together. By default, as many as the rates need. */
  readonly concurrency?: number | undefined;
  /** True if the service refused the account when the last session ended. */
  readonly isSuspect?: boolean | undefined;
  readonly policy: RetrySettings;
  readonly maxOutageMs: number;
  /** True if refused values never end the run, however many come in a row. */
  readonly mayAllFail?: boolean | undefined;
  /** True if an answer of this operation is known, from this run or an earlier one. */
  readonly isAnswered: (operation: Operation) => boolean;
  /** True if answers of this operation, in this run or an earlier one, had a field that the default rules read. */
  readonly hadSignals: (operation: Operation) => boolean;
  /** At these limits the remaining values end without a call, and the run publishes. At other limits it stops. */
  readonly publishOn: readonly PublishTrigger[];
  /** Cost of one call, in thousandths of a credit. */
  readonly costOf: (lookup: Lookup) => number;
  /** Returns an earlier answer's validity. The store must use the same judge. */
  readonly judge: ValidityJudge;
  readonly events: LookupEvents;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
}

export interface LookupEvents {
  /** Called at the end of each attempt. `row`: number of the first row that waits for it. */
  attempted(booked: BookedAttempt, row: number | undefined): void;
  /** Called once per streak, when so many values of an operation were refused in a row that they are not to blame. */
  refused(operation: Operation, streak: LongRefusalStreak): void;
  /** Called when all calls of one operation fail, with the last one's code, while another operation is answered. */
  down(operation: Operation, code: string): void;
  /** Called when the run stops. It then sends nothing new. */
  stopped(reason: StopReason): void;
  /** Called when the run sends nothing new, but continues to its end. */
  closed(reason: StopReason): void;
}

/** Why no call can succeed for now, or none may be made. */
export type StopReason =
  | {readonly kind: 'budget'}
  | {readonly kind: 'error'; readonly error: unknown}
  | {readonly kind: 'fatal'; readonly attempt: Extract<Attempt, {readonly kind: 'fatal'}>}
  | {readonly kind: 'refused'; readonly operation: Operation; readonly streak: LongRefusalStreak}
  | {
      readonly kind: 'outage';
      /** The operation that is down; undefined if the whole service is. */
      readonly operation?: Operation | undefined;
      readonly cause: string;
      readonly sinceMs: number;
      /** Milliseconds since the epoch at which a new try makes sense. */
      readonly comeBackMs: number;
      /**
       * `asked`: the service asks for too long a wait. `too long`: it was down for too long. `no resends`: no value
       * may be sent again to test the service.
       */
      readonly why: 'asked' | 'too long' | 'no resends';
    };

export interface Pause {
  readonly reason: 'throttled' | 'quota' | 'outage' | 'fleet';
  readonly detail: string;
  /** Time of the pause's end, or of a call that tests if the service is back. Milliseconds since the epoch. */
  readonly untilMs: number;
}

/**
 * The answer that another run has bought since the call's value was searched in the store, which has this version now;
 * undefined without one.
 */
export function findNewlyStoredAnswer(call: Call, store: AnswerStore, version: number): Answer | undefined {
  if (call.version === version) return undefined;
  const stored = store.find([call.key], call.operation);
  if (stored === undefined) return undefined;
  call.version = version;
  const {outcome, validity} = stored.get(call.key) ?? {};
  return validity === 'fresh' ? outcome : undefined;
}

/** The result without a call: the earlier answer, or `skipped` if none is usable. */
export function resultOf({before}: Call, end: CallEnd): CellResult {
  if (end.kind !== 'skipped') return end.outcome;
  if (!isUsable(before)) return {status: 'skipped', error: end.reason};
  return {...before.outcome, stale: end.reason};
}
