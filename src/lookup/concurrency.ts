import {
  climbIfDue,
  judgeSample,
  type LearnedLimit,
  lowerLimit,
  newLearnedLimit,
  noteCall,
} from './learned-limit.ts';

/**
 * Calls in flight of a lane. With the user's number, that one. Without it, as many as the rate needs: rate × latency
 * (Little's law), with room. Connections that break among answers lower the number, as refusals lower a rate.
 */
export interface Concurrency {
  /** The user's number; undefined for as many as the rate needs. */
  max: number | undefined;
  /** Calls in flight that the rate needs. */
  number: number;
  /** Mean latency of the last calls in milliseconds; undefined before the first answer. */
  latencyMs: number | undefined;
  /** The last growth, and what it is judged by: answers a second before it. */
  growth: {readonly from: number; readonly perSecond: number} | undefined;
  /** Answers since the last change of the number, and its time, by the clock of `connections`. */
  answers: number;
  sinceMs: number;
  /** No growth before, by the clock of `connections`. */
  holdUntilMs: number;
  /** True if a call could not leave for want of a slot since the last change. */
  isShort: boolean;
  readonly connections: LearnedLimit;
}

/** Without the flag: at least, at most, and for lanes without a rate. */
export const autoConcurrency = {least: 16, most: 256, unlimited: 64} as const;
/** Room above rate × latency, for latencies that vary. */
const ROOM = 1.5;
/** Weight of one answer in the mean latency. */
const WEIGHT = 0.05;
const LARGEST_STEP = 1.5;
/** Milliseconds without another try after a growth that brought no more answers. */
const HOLD_MS = 30_000;

export function newConcurrency(max: number | undefined, perSecond: number): Concurrency {
  const {least, unlimited} = autoConcurrency;
  const number = perSecond === Number.POSITIVE_INFINITY ? unlimited : least;
  const judged = {growth: undefined, answers: 0, sinceMs: 0, holdUntilMs: 0, isShort: false};
  return {
    max,
    number,
    latencyMs: undefined,
    ...judged,
    connections: newLearnedLimit(Number.POSITIVE_INFINITY),
  };
}

/** Calls that may be in flight now. */
export function slotsOf({max, number, connections}: Concurrency): number {
  return Math.max(1, Math.floor(Math.min(max ?? number, connections.limit)));
}

/** Learns from the end of a call. `isBroken`: it had no connection to its end. `perSecond`: the lane's rate now. */
export function learnConcurrency(
  lane: Concurrency,
  isBroken: boolean,
  latencyMs: number,
  perSecond: number,
): void {
  const {connections} = lane;
  noteCall(connections, isBroken, latencyMs);
  if (isBroken) {
    const {isOver, shareRefused} = judgeSample(connections, lane.latencyMs ?? 0);
    if (isOver && shareRefused < 1) lowerLimit(connections, slotsOf(lane) * (1 - shareRefused), 1);
    return;
  }
  climbIfDue(connections);
  lane.answers += 1;
  const isFirst = lane.latencyMs === undefined;
  lane.latencyMs =
    lane.latencyMs === undefined ? latencyMs : lane.latencyMs + WEIGHT * (latencyMs - lane.latencyMs);
  if (perSecond < Number.POSITIVE_INFINITY) adjustNumber(lane, perSecond, isFirst);
}

function adjustNumber(lane: Concurrency, perSecond: number, isFirst: boolean): void {
  const {least, most} = autoConcurrency;
  const needed = Math.ceil((perSecond * (lane.latencyMs ?? 0) * ROOM) / 1_000);
  const wanted = Math.min(most, Math.max(least, needed));
  const now = lane.connections.clockMs;
  // The first answer's latency is that of few calls: what it asks for is no growth yet.
  if (isFirst || wanted <= lane.number) {
    if (isFirst || wanted < lane.number) setNumber(lane, wanted, now);
    return;
  }
  if (lane.answers < lane.number || !lane.isShort || now < lane.holdUntilMs) return;
  const answered = (lane.answers * 1_000) / Math.max(1, now - lane.sinceMs);
  const {growth} = lane;
  const grown = growth === undefined ? 0 : lane.number / growth.from - 1;
  // Latency that grows with the number: more calls in flight brought no more answers.
  if (growth !== undefined && answered < growth.perSecond * (1 + grown / 2)) {
    lane.growth = undefined;
    lane.holdUntilMs = now + HOLD_MS;
    setNumber(lane, growth.from, now);
    return;
  }
  lane.growth = {from: lane.number, perSecond: answered};
  setNumber(lane, Math.min(wanted, Math.ceil(lane.number * LARGEST_STEP)), now);
}

function setNumber(lane: Concurrency, number: number, nowMs: number): void {
  Object.assign(lane, {number, answers: 0, sinceMs: nowMs, isShort: false});
}
