import type {TimestampedAttempt} from '../client/attempt.ts';
import type {UnaskedCode} from '../ledger/lookup-outcome.ts';
import type {BookedAttempt} from '../ledger/run/ledger-entry.ts';
import type {StreakTally} from '../ledger/run/tally.ts';
import type {Operation} from '../operations/table.ts';
import type {Call, CallEnd, LaneSettings, LookupOptions, Pause, StopReason} from './call.ts';
import {type Canary, failsBeside, type LongRefusalStreak, newCanary} from './canary.ts';
import {type CircuitBreaker, currentOutage, newCircuitBreaker} from './circuit-breaker.ts';
import {type Concurrency, newConcurrency} from './concurrency.ts';
import {newRateLimit, type RateLimit} from './rate-limit.ts';

/** An event since the last step. */
export type DeskEvent =
  | {readonly kind: 'asked'; readonly call: Call}
  | {readonly kind: 'ended'; readonly call: Call; readonly attempt: TimestampedAttempt}
  /** The call did not leave after all. */
  | {readonly kind: 'unsent'; readonly call: Call; readonly why: UnsentReason}
  /** The other run buys the value no more. `isBought`: its answer is there. */
  | {readonly kind: 'freed'; readonly call: Call; readonly isBought: boolean}
  /** The calls left only now, later than their step. */
  | {readonly kind: 'left'; readonly calls: readonly Call[]; readonly at: number}
  | {readonly kind: 'permits'; readonly lane: string; readonly count: number}
  /** Maximum calls in flight from now on. */
  | {readonly kind: 'slots'; readonly count: number}
  /** Callers wait with more values, or no longer. */
  | {readonly kind: 'more'; readonly isMore: boolean}
  | {readonly kind: 'stop'; readonly reason?: StopReason | undefined}
  | {readonly kind: 'close'; readonly reason: UnaskedCode};

/**
 * Why a call did not leave: a limit lacks its credits (`credits`) or those of a call before it (`order`), or another run is
 * buying the value (`claimed`) or has bought it (`bought`).
 */
export type UnsentReason = 'credits' | 'order' | 'claimed' | 'bought';

/** The decisions of a step, for the executor. */
export interface Effects {
  /** Attempts that have ended, for the ledger. */
  readonly book: {readonly booked: BookedAttempt; readonly call: Call}[];
  /** Calls that leave now, in order. Their credits are to be reserved. */
  readonly send: Call[];
  /** Values that need no more calls. */
  readonly tell: {readonly call: Call; readonly end: CallEnd}[];
  /** Values that another process was buying, to be looked at again. */
  readonly look: Call[];
  readonly notices: DeskNotice[];
  /** When to step again if nothing happens before. */
  wakeAt: number;
  /** By lane: permits of the user's rate that would be used at once. */
  readonly wants: Map<string, number>;
}

export type DeskNotice =
  | {readonly kind: 'refused'; readonly operation: Operation; readonly streak: LongRefusalStreak}
  | {readonly kind: 'down'; readonly operation: Operation; readonly code: string}
  | {readonly kind: 'stopped'; readonly reason: StopReason}
  | {readonly kind: 'closed'; readonly reason: StopReason};

/** The part of a run's options by which the desk decides. */
export interface DeskOptions
  extends Pick<
    LookupOptions,
    | 'concurrency'
    | 'hadSignals'
    | 'isAnswered'
    | 'isSuspect'
    | 'lanes'
    | 'maxOutageMs'
    | 'mayAllFail'
    | 'policy'
    | 'publishOn'
    | 'random'
  > {
  /** False if the dispatcher keeps the rate. */
  readonly isPaced: boolean;
  readonly refusals: Readonly<Record<Operation, StreakTally>>;
}

export interface Lane {
  readonly settings: LaneSettings;
  readonly rate: RateLimit;
  readonly concurrency: Concurrency;
  /** Calls that may leave, in order. */
  waiting: Call[];
  inFlight: number;
  /** Time at which its last call left. The lane that sent last is the last to use free slots. */
  lastSent: number;
  /** True if calls could have left since the last step: then the time counts for what the lane learns. */
  couldSend: boolean;
}

export interface Desk {
  readonly options: DeskOptions;
  now: number;
  readonly lanes: readonly Lane[];
  /** The values that need calls and are not settled yet. */
  readonly open: Map<string, Call>;
  /** Calls in flight, in the order of sending. */
  readonly inFlight: Map<string, Call>;
  /** Calls that back off, by time. */
  backingOff: {readonly call: Call; readonly at: number}[];
  /** Calls that have used up their sends, until it is known that no outage is the reason. */
  held: Call[];
  /** Calls whose values another process is buying, and when to look again. */
  claimed: Call[];
  lookAt: number;
  /** Calls that wait until their operation, which is down, is up again. */
  readonly parked: Map<Operation, Call[]>;
  hasMore: boolean;
  /** A call that takes longer does not hold up the judgement of those sent after it: see `judgeDueEnds`. */
  patienceMs: number;
  slots: number;
  seq: number;
  readonly breaker: CircuitBreaker;
  readonly canaries: Map<Operation, Canary>;
  /** True after the first answer, which proves the key. A later `invalid_token` is about a session token. */
  isKeyAccepted: boolean;
  /** True once the service reported a quota above 0. Before, ignores a 0: some services always report 0. */
  isQuotaSeen: boolean;
  /** Time since which the service throttles calls and answers none; undefined while it answers. */
  throttledSince: number | undefined;
  /** A limit lacked credits for a call of this cost. Until then no call that costs as much is tried. */
  lacking: {readonly cost: number; readonly until: number} | undefined;
  pause: Pause | undefined;
  pauses: {count: number; ms: number; since: number | undefined};
  /** Why nothing new is sent; undefined while calls may leave. */
  refusal: {readonly kind: 'stop'} | {readonly kind: 'skip'; readonly reason: UnaskedCode} | undefined;
}

export function newDesk(options: DeskOptions, now: number): Desk {
  const {lanes, concurrency, isPaced, refusals, isSuspect = false} = options;
  const share = concurrency && Math.max(1, Math.floor(concurrency / Math.max(1, lanes.length)));
  const all = lanes.flatMap(lane => lane.operations);
  return {
    options,
    now,
    lanes: lanes.map(settings => {
      const rate = newRateLimit(settings.rate, isPaced);
      const slots = newConcurrency(share, rate.learned.ceiling);
      return {settings, rate, concurrency: slots, waiting: [], inFlight: 0, lastSent: 0, couldSend: false};
    }),
    ...{open: new Map(), inFlight: new Map(), backingOff: [], held: [], claimed: [], lookAt: 0},
    parked: new Map(all.map(operation => [operation, []])),
    ...{hasMore: false, patienceMs: 0, slots: concurrency ?? Number.POSITIVE_INFINITY, seq: 0},
    breaker: newCircuitBreaker(),
    canaries: new Map(all.map(operation => [operation, newCanary(refusals[operation], isSuspect)])),
    ...{isKeyAccepted: false, isQuotaSeen: false, throttledSince: undefined, lacking: undefined},
    ...{pause: undefined, pauses: {count: 0, ms: 0, since: undefined}, refusal: undefined},
  };
}

export function closedUntil({breaker}: Desk, rate: RateLimit): number {
  return Math.max(rate.closedUntil, currentOutage(breaker)?.nextProbe ?? 0);
}

export function settle(desk: Desk, call: Call, callEnd: CallEnd, out: Effects): void {
  desk.open.delete(call.key);
  out.tell.push({call, end: callEnd});
}

export function takeOut(desk: Desk, call: Call): Lane {
  const lane = laneOf(desk, call);
  if (desk.inFlight.delete(call.key)) lane.inFlight -= 1;
  return lane;
}

/** The lane of an operation: each operation of a run has one. */
export function laneOf({lanes}: Desk, {operation}: Pick<Call, 'operation'>): Lane {
  const [first] = lanes;
  if (lanes.length === 1 && first !== undefined) return first;
  return lanes.find(({settings}) => settings.operations.includes(operation)) as Lane;
}

/**
 * Waiting calls that were never sent, of operations that do not fail. Only these count for how many may wait: others must
 * not hold up the list.
 */
export function freshIn(desk: Desk, {waiting}: Lane): number {
  const failing = [...desk.canaries].flatMap(([name, canary]) => (failsBeside(canary, desk) ? [name] : []));
  return waiting.reduce(
    (sum, {attempts, operation}) => sum + Number(attempts === 0 && !failing.includes(operation)),
    0,
  );
}

export function canaryOf({canaries}: Desk, operation: Operation): Canary {
  return canaries.get(operation) as Canary;
}

/** The reason to send nothing now; undefined while sending. */
export function pauseOf({pause, now, breaker}: Pick<Desk, 'pause' | 'now' | 'breaker'>): Pause | undefined {
  if (pause !== undefined && now < pause.untilMs) return pause;
  const outage = currentOutage(breaker);
  return outage && {reason: 'outage', detail: outage.cause, untilMs: outage.nextProbe};
}

/** Counts a pause at its beginning, and its time at its end. */
export function notePause(desk: Desk): void {
  const {pauses, now} = desk;
  const isPaused = desk.refusal === undefined && pauseOf(desk) !== undefined;
  if (isPaused && pauses.since === undefined) Object.assign(pauses, {since: now, count: pauses.count + 1});
  else if (!isPaused && pauses.since !== undefined)
    Object.assign(pauses, {since: undefined, ms: pauses.ms + now - pauses.since});
}
