import type {Attempt, TimedAttempt} from '../client/attempt.ts';
import type {Charge} from '../job/settings/cost.ts';
import type {History} from '../ledger/entry.ts';
import type {Outcome} from '../ledger/lookup.ts';
import {isStored, type Operation, operations} from '../operations/table.ts';
import {quotaOf, retryAfterMs} from './pace/pace-headers.ts';

/** The numbers of the retry policy that are no settings, each with its source. */
export const policyNumbers = {
  /** First backoff; Google's and AWS's clients begin between 0.1 s and 1 s. */
  backoffBaseMs: 500,
  /** Longest wait of one value for its retry: beyond it waiting eases the load no further (AWS caps at 20 s, gRPC at 120 s). */
  retryCapMs: 30_000,
  /** Longest wait of all after throttling that names no time: half of the minute that most quotas are counted by. */
  gateCapMs: 30_000,
  /** Longest wait for the next probe: at most 240 calls an hour (half of it is jitter), and half a minute lost at the end. */
  probeCapMs: 30_000,
  /** The same for a value that a request waits for: so long after the service is back, a request finds out. */
  urgentProbeMs: 1_000,
  /** A run that gives up comes back after this at least: where an outage may last no time, a probe's wait passes first. */
  comeBackAfterMs: 30_000,
  /** Retry budget: tokens at the start and at most; AWS's standard mode has 500 at 5 a retry. */
  budgetTokens: 100,
  /** What one success gives back; gRPC's retry throttling suggests a tenth. */
  budgetPerSuccess: 0.1,
  /** Calls in a row that could not be sent, from which on it is an outage and not one odd connection. */
  unsentStreak: 5,
  /** Values that must fail with nothing succeeding in between, before it is the service and not the values. */
  outageValues: 5,
  /** How long values that can't be told from an outage are given, so that an outage of a minute fails none of them. */
  patienceMs: 60_000,
  /** After an outage calls in flight grow by one a success; beyond this nothing is held back. */
  largestRamp: 64,
  /** A quota that reads as used up is believed for this long; then a call finds out. */
  quotaPauseMs: 60_000,
  /**
   * Calls of an operation that are refused in a row. Before anything is answered, with few in flight, the settings are
   * wrong. Later it may be the account that is refused, so the values are not known as bad.
   */
  refusalStreak: 10,
  canaryInFlight: 4,
  /** So many in a row end a run: with four bad values in five, that happens once in five billion calls. */
  longestRefusalStreak: 100,
} as const;

export interface PolicySettings {
  /** How often a value may be sent again at most. */
  readonly resends: number;
  /** True if a value that was sent as often as it may be fails in an outage too, and does not wait for its end. */
  readonly failsInOutage?: boolean | undefined;
  /** What calls cost that are turned down. */
  readonly cost: {readonly rejected: Charge; readonly throttled: Charge};
}

/** The failing party: the value; the service, in an outage; or the value for good, as it had all the time there is. */
export type Blame = 'value' | 'service' | 'value for good';

export type Step =
  | {readonly next: 'settle'; readonly outcome: Outcome}
  | {readonly next: 'retry'}
  /** It may not be sent again, and fails when the outage is over. */
  | {readonly next: 'hold'}
  | {readonly next: 'stop'; readonly attempt: Extract<Attempt, {kind: 'fatal'}>};

/** Full jitter (AWS, "Exponential backoff and jitter"): anywhere from 0 to the exponential bound. `random` is in [0, 1). */
export function backoffMs(retry: number, capMs: number, random: number): number {
  const bound = Math.min(capMs, policyNumbers.backoffBaseMs * 2 ** retry);
  return Math.round(random * bound);
}

/** What a call cost, by its outcome. */
export function chargeOf(attempt: Attempt, settings: PolicySettings): Charge {
  switch (attempt.kind) {
    case 'answered':
    case 'unreadable':
      return 'spent';
    case 'not_sent':
    case 'rekeyed':
      return 'free';
    case 'throttled':
      return settings.cost.throttled;
    case 'ambiguous':
      return 'maybe';
    case 'rejected':
      return attempt.status >= 400 ? settings.cost.rejected : 'spent';
    case 'fatal':
      // A caller that is not let in, or can't pay, has no account to charge; an answer with any other status may be.
      return attempt.status === undefined || (attempt.status >= 400 && attempt.status < 500)
        ? 'free'
        : 'maybe';
    default:
      return attempt satisfies never;
  }
}

/** True if an attempt brought no answer and may have been charged anyway. */
export function leavesDoubt(attempt: Attempt, settings: PolicySettings): boolean {
  return attempt.kind !== 'answered' && chargeOf(attempt, settings) !== 'free';
}

/** How often a value may still be sent, after so many attempts that left a doubt. */
export function sendsLeft(doubts: number, settings: PolicySettings): number {
  return Math.max(0, 1 + settings.resends - doubts);
}

/** What follows from an outcome, which is in the history already. `isTrusted`: the service is known to answer the operation, and so to mean the value when it rejects. */
export function nextStep(
  operation: Operation,
  attempt: TimedAttempt,
  history: History,
  settings: PolicySettings,
  blame: Blame,
  isTrusted: boolean,
): Step {
  switch (attempt.kind) {
    case 'answered':
      return {next: 'settle', outcome: answered(operation, attempt, history)};
    case 'unreadable':
      return {next: 'settle', outcome: {status: 'failed', error: attempt.code}};
    case 'rejected': {
      const {code, boughtAt} = attempt;
      const isAnswer = isTrusted && isStored(operation) && isOfValue(attempt);
      const rejected = isAnswer ? ({rejected: true, boughtAt} as const) : {};
      return {next: 'settle', outcome: {status: 'failed', error: code, ...rejected}};
    }
    case 'not_sent':
    case 'rekeyed':
      return {next: 'retry'};
    case 'throttled':
    case 'ambiguous':
      return blame !== 'value for good' && sendsLeft(history.doubts, settings) > 0
        ? {next: 'retry'}
        : usedUp(attempt.code, settings, blame);
    case 'fatal':
      return {next: 'stop', attempt};
    default:
      return attempt satisfies never;
  }
}

/** Ends a value that may not be sent again: at once, or after the outage in which its last resend failed. */
export function usedUp(code: string, settings: PolicySettings, blame: Blame): Step {
  if (settings.resends === 0) return {next: 'settle', outcome: {status: 'unknown', error: code}};
  if (blame === 'service' && settings.failsInOutage !== true) return {next: 'hold'};
  return {next: 'settle', outcome: {status: 'failed', error: code}};
}

/**
 * How long a value waits for its next attempt, after so many that left a doubt. Before the last one, where `onlyFailingLeft` (every
 * value that is left has failed, so that none can tell an outage from a value's own fault), a minute: an outage that
 * begins with the last rows of a list must not fail them.
 */
export function retryMs(
  doubts: number,
  onlyFailingLeft: boolean,
  settings: PolicySettings,
  random: number,
): number {
  if (onlyFailingLeft && doubts > 0 && sendsLeft(doubts, settings) === 1) return policyNumbers.patienceMs;
  return backoffMs(Math.max(0, doubts - 1), policyNumbers.retryCapMs, random);
}

/**
 * Whether a failure may be its value's own fault: the service's own error does say something of the request, while a
 * gateway's (502, 503, 504), a timeout or a broken connection says nothing of it.
 */
export function blamesValue({status}: Extract<Attempt, {kind: 'ambiguous'}>): boolean {
  return status !== undefined && status >= 500 && (status < 502 || status > 504);
}

/**
 * Whether a rejection speaks of the value and holds for other runs: by a code of the service's own. A bare status may be
 * a gateway's, and 403 says something of the caller.
 */
function isOfValue({status, code}: Extract<Attempt, {kind: 'rejected'}>): boolean {
  return status !== 403 && code !== 'service_error' && !/^http_\d{3}$/.test(code);
}

/**
 * An answer is an answer, but for a verdict after an attempt that may have been carried out: that attempt may be the
 * reason why the token now counts as redeemed, so the row says that nobody can tell.
 */
function answered(
  operation: Operation,
  {data, exact, boughtAt}: Extract<TimedAttempt, {kind: 'answered'}>,
  history: History,
): Outcome {
  const text = exact ?? JSON.stringify(data);
  if (history.ambiguous && operations[operation].isReplay(data))
    return {status: 'unknown', error: 'verdict_replay_uncertain', data: text, boughtAt};
  return {status: 'ok', data: text, boughtAt};
}

/** The wait that a throttled call asks for, in milliseconds: Retry-After, else the reset of a quota that is used up. */
export function askedMs({pace}: Extract<Attempt, {kind: 'throttled'}>, nowMs: number): number | undefined {
  const asked = retryAfterMs(pace, nowMs);
  if (asked !== undefined) return asked;
  const quota = quotaOf(pace, nowMs);
  return quota?.remaining === 0 ? quota.resetMs : undefined;
}

/**
 * How long everybody waits after being throttled: what the service asks for at least, full jitter where it does not
 * say. `streak` is how often that has happened with nothing answered in between: what is asked for may be too little.
 */
export function throttleMs(asked: number | undefined, streak: number, random: number): number {
  const backoff = Math.max(SHORTEST_THROTTLE_MS, backoffMs(streak, policyNumbers.gateCapMs, random));
  if (asked === undefined) return backoff;
  // A little beyond what was asked, so that the clocks' difference does not earn the next refusal.
  return Math.max(asked + Math.round(random * 100), streak === 0 ? 0 : backoff);
}

const SHORTEST_THROTTLE_MS = 50;
