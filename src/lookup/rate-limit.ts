import type {Attempt} from '../client/attempt.ts';
import type {Rate} from '../job/setting-types.ts';
import {
  climbIfDue,
  judgeSample,
  type LearnedLimit,
  lowerLimit,
  newLearnedLimit,
  noteCall,
} from './learned-limit.ts';
import {requestedWaitMs} from './rate-limit-headers.ts';
import {BACKOFF_CAP_MS, backoffMs} from './retry-policy.ts';

/**
 * The rate of a lane: operations that share one. Its user's rate is kept by permits (the library bottleneck, in the
 * executor) and exactly by a sliding window; the service's own limit is learned from what it refuses.
 */
export interface RateLimit {
  readonly learned: LearnedLimit;
  /** No sliding window of `ms` may have more than `count` calls. */
  readonly window: {readonly count: number; readonly ms: number};
  /** The calls of the last window, in the order of sending. */
  readonly sent: Departure[];
  /** Calls that the user's rate lets leave now. */
  permits: number;
  /** Calls that the learned limit lets leave now, earned until `earnedAt`. */
  earned: number;
  earnedAt: number;
  /** Nothing leaves before; may be over. */
  closedUntil: number;
  /** The part of that for which the service asked. In the rest of the time, its own window continues. */
  askedUntil: number;
  /** Throttled calls since the last answer. */
  throttled: number;
  /** Those of them before which no call was in flight: while there is one, not everything is refused. */
  refusedInARow: number;
  /** Pauses since the last answer, each of which many calls may have caused. */
  pauses: number;
  /** End of the last pause: a throttled call that was sent before it is no news. */
  resumedAt: number;
}

/** A call as the window counts it. Its time becomes exact once it is known when the call really left. */
export interface Departure {
  at: number;
}

/**
 * Milliseconds by which a window is longer than the rate's period. A call leaves late and arrives early by as much, so
 * that the service never sees more calls in its second than the rate has.
 */
const JITTER_MS = 15;
/** Seconds of the learned limit that may leave at once. */
const BURST_SECONDS = 0.05;
/** Seconds of the user's rate whose permits are kept. */
const KEPT_PERMITS_SECONDS = 0.25;
/** After so many throttled calls in a row, without an answer or a word how long to wait, one call at a time tests the service. */
const SILENT_STREAK = 8;
/** Share of the answered calls a second at which a lowered limit begins. */
const SAFE_SHARE = 0.98;
/** Least wait after a throttled call, in milliseconds. */
const SHORTEST_THROTTLE_MS = 50;
/** Lowest learned limit in calls a second. */
const LEAST_PER_SECOND = 0.5;

/** Calls a second; infinite without a limit. */
export function perSecond(rate: Rate | 'unlimited'): number {
  return rate === 'unlimited' ? Number.POSITIVE_INFINITY : (rate.count * 1_000) / rate.perMs;
}

/** `isPaced`: false if the dispatcher keeps the rate. Then the learned limit is only told to it. */
export function newRateLimit(rate: Rate | 'unlimited', isPaced: boolean): RateLimit {
  const ceiling = perSecond(rate);
  const isLimited = isPaced && rate !== 'unlimited';
  return {
    learned: newLearnedLimit(ceiling),
    window: {
      count: isLimited ? Math.max(rate.count, Math.floor(ceiling)) : Number.POSITIVE_INFINITY,
      ms: Math.max(1_000, rate === 'unlimited' ? 0 : rate.perMs) + JITTER_MS,
    },
    sent: [],
    permits: isLimited ? 0 : Number.POSITIVE_INFINITY,
    earned: isPaced ? 1 : Number.POSITIVE_INFINITY,
    earnedAt: 0,
    closedUntil: 0,
    askedUntil: 0,
    throttled: 0,
    refusedInARow: 0,
    pauses: 0,
    resumedAt: 0,
  };
}

export function addPermits(rate: RateLimit, count: number): void {
  rate.permits = Math.min(rate.permits + count, mostPermits(rate));
}

function mostPermits({learned}: RateLimit): number {
  return KEPT_PERMITS_SECONDS * learned.ceiling + 1;
}

/** Permits of the user's rate that the waiting calls lack. 0 while the lane is closed: they would only be kept. */
export function missingPermits(rate: RateLimit, waiting: number, now: number): number {
  if (now < rate.closedUntil) return 0;
  return Math.max(0, Math.min(waiting, mostPermits(rate)) - rate.permits);
}

/**
 * Learns from a call that the service answered, rejected or throttled. Returns what a throttled call asks of the others:
 * the time until which `all` lanes, this `lane`, or only its own `value` wait.
 */
export function learnFromReply(
  rate: RateLimit,
  attempt: Extract<Attempt, {kind: 'answered' | 'rejected' | 'throttled' | 'unreadable'}>,
  sentAt: number,
  now: number,
  isOldest: boolean,
  latencyMs: number,
  random: () => number,
): {readonly holds: 'all' | 'lane' | 'value'; readonly untilMs: number} | undefined {
  const {learned} = rate;
  noteCall(learned, attempt.kind === 'throttled', now - sentAt);
  if (attempt.kind !== 'throttled') {
    Object.assign(rate, {throttled: 0, refusedInARow: 0, pauses: 0});
    return undefined;
  }
  const {isOver, answeredPerSecond} = judgeSample(learned, latencyMs);
  rate.throttled += 1;
  if (isOldest) rate.refusedInARow += 1;
  const asked = requestedWaitMs(attempt, now) ?? 0;
  if (isOver) lowerLimit(learned, answeredPerSecond * SAFE_SHARE, LEAST_PER_SECOND);
  const isNews = sentAt >= rate.resumedAt;
  // One bad backend among many answers 503: only its value waits, until a second refusal follows.
  if (asked > 0 && (attempt.status !== 503 || isOver || rate.throttled > 1)) {
    const untilMs = now + throttleMs(asked, rate.pauses, random());
    if (isNews) rate.pauses += 1;
    rate.resumedAt = Math.max(rate.resumedAt, untilMs);
    return {holds: 'all', untilMs};
  }
  if (asked === 0 && isNews && isOldest && rate.refusedInARow > SILENT_STREAK) {
    const untilMs = now + throttleMs(undefined, rate.pauses, random());
    rate.pauses += 1;
    rate.resumedAt = untilMs;
    return {holds: 'lane', untilMs};
  }
  return {holds: 'value', untilMs: now + asked};
}

/**
 * Milliseconds for which no call is sent after a throttled one: a random backoff, but at least what the service
 * asked for. The backoff grows with `streak`, the number of earlier such waits since the last answer: the service
 * may have asked for too little.
 */
export function throttleMs(asked: number | undefined, streak: number, random: number): number {
  const backoff = Math.max(SHORTEST_THROTTLE_MS, backoffMs(streak, BACKOFF_CAP_MS, random));
  if (asked === undefined) return backoff;
  // Waits slightly longer than asked for. Otherwise a small difference of clocks could cause the next refusal.
  return Math.max(asked + Math.round(random * 100), streak === 0 ? 0 : backoff);
}

/** Calls of the lane that may be in flight while the service refuses all: one, which tests it. */
export function probeRoom({pauses, refusedInARow}: RateLimit): number {
  return pauses > 1 || refusedInARow > SILENT_STREAK ? 1 : Number.POSITIVE_INFINITY;
}

/** Calls that may leave now, as far as the rate goes. Whole, and 0 while the lane is closed. */
export function permittedCalls(rate: RateLimit, now: number): number {
  const {learned, window, sent} = rate;
  climbIfDue(learned);
  if (now < rate.closedUntil) {
    rate.earnedAt = rate.closedUntil;
    return 0;
  }
  if (learned.limit < Number.POSITIVE_INFINITY && rate.earned < Number.POSITIVE_INFINITY) {
    const earned = (Math.max(0, now - rate.earnedAt) * learned.limit) / 1_000;
    rate.earned = Math.min(Math.max(1, learned.limit * BURST_SECONDS), rate.earned + earned);
  }
  rate.earnedAt = now;
  let old = 0;
  while ((sent[old]?.at ?? now) <= now - window.ms) old += 1;
  if (old > 0) sent.splice(0, old);
  const earned = learned.limit < Number.POSITIVE_INFINITY ? rate.earned + 1e-9 : Number.POSITIVE_INFINITY;
  return Math.floor(Math.min(rate.permits, earned, window.count - sent.length));
}

/** Takes a permit for a call that leaves. */
export function takePermit(rate: RateLimit, now: number): Departure {
  const departure = {at: now};
  rate.permits -= 1;
  if (rate.learned.limit < Number.POSITIVE_INFINITY) rate.earned -= 1;
  if (rate.window.count < Number.POSITIVE_INFINITY) rate.sent.push(departure);
  return departure;
}

/** Gives the permit of a call back that did not leave. */
export function givePermitBack(rate: RateLimit, departure: Departure): void {
  rate.permits += 1;
  rate.earned += 1;
  const index = rate.sent.lastIndexOf(departure);
  if (index !== -1) rate.sent.splice(index, 1);
}

/** Time at which the next call may leave if nothing else happens; infinite if only a permit can let it. */
export function nextPermitAt({learned, window, sent, earned, closedUntil}: RateLimit, now: number): number {
  if (now < closedUntil) return closedUntil;
  let at = Number.POSITIVE_INFINITY;
  if (learned.limit < Number.POSITIVE_INFINITY && earned < 1)
    at = now + ((1 - earned) * 1_000) / learned.limit;
  const [oldest] = sent;
  if (oldest !== undefined && sent.length >= window.count) at = Math.max(now, oldest.at + window.ms);
  return at;
}
