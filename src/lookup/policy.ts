import type {Attempt} from '../client/attempt.ts';
import type {Operation} from '../client/wire.ts';
import type {Charge, Settled} from '../ledger/lookup.ts';
import {retryAfterMs} from './pace-headers.ts';

/** The numbers of the retry policy that are no settings, each with its source. */
export const policyNumbers = {
  /** First backoff; Google's and AWS's clients begin between 0.1 s and 1 s. */
  backoffBaseMs: 500,
  /** Longest backoff: beyond it waiting longer no longer eases the load (AWS caps at 20 s, gRPC at 120 s). */
  backoffCapMs: 30_000,
  /** Retry budget: tokens at the start and at most; AWS's standard mode has 500 at 5 a retry. */
  budgetTokens: 100,
  /** What one success gives back; gRPC's retry throttling suggests a tenth. */
  budgetPerSuccess: 0.1,
  /** Calls in a row that could not be sent, from which on it is an outage and not one odd connection. */
  unsentStreak: 5,
  /** Distinct values of an operation that are tried with few in flight before the run trusts its settings. */
  canaryValues: 10,
  canaryInFlight: 4,
} as const;

export interface PolicySettings {
  readonly maxAttempts: number;
  readonly maxResends: number;
  readonly resend: 'always' | 'never';
  readonly throttledCharge: Charge;
  readonly rejectedCharge: Charge;
}

/** What a value has been through; attempts that count against nothing are not in here. */
export interface History {
  /** Attempts that count: ambiguous ones while other values succeeded. */
  readonly attempts: number;
  /** Whether any attempt may have been carried out without an answer. */
  readonly ambiguous: boolean;
}

export type Step =
  | {readonly next: 'settle'; readonly settled: Settled}
  | {readonly next: 'retry'; readonly counts: boolean}
  | {readonly next: 'stop'; readonly attempt: Extract<Attempt, {kind: 'fatal'}>};

/** Full jitter (AWS, "Exponential backoff and jitter"): anywhere from 0 to the exponential bound. `random` is in [0, 1). */
export function backoffMs(retry: number, random: number): number {
  const bound = Math.min(policyNumbers.backoffCapMs, policyNumbers.backoffBaseMs * 2 ** retry);
  return Math.round(random * bound);
}

/** What a call cost, by its outcome. */
export function chargeOf(attempt: Attempt, settings: PolicySettings): Charge {
  switch (attempt.kind) {
    case 'answered':
    case 'unreadable':
      return 'spent';
    case 'not_sent':
      return 'free';
    case 'throttled':
      return settings.throttledCharge;
    case 'ambiguous':
      return 'maybe';
    case 'rejected':
      return attempt.status >= 400 ? settings.rejectedCharge : 'spent';
    case 'fatal':
      return attempt.reason === 'redirect' ? 'maybe' : 'free';
    default:
      return attempt satisfies never;
  }
}

/** What follows from an outcome. `outage`: while nothing succeeds, attempts count against nothing. */
export function nextStep(
  operation: Operation,
  attempt: Attempt,
  history: History,
  settings: PolicySettings,
  outage: boolean,
): Step {
  switch (attempt.kind) {
    case 'answered':
      return {next: 'settle', settled: answered(operation, attempt.data, history)};
    case 'unreadable':
    case 'rejected':
      return {next: 'settle', settled: {status: 'failed', error: attempt.code}};
    case 'not_sent':
    case 'throttled':
      return {next: 'retry', counts: false};
    case 'ambiguous':
      return afterAmbiguous(attempt.code, history, settings, outage);
    case 'fatal':
      return {next: 'stop', attempt};
    default:
      return attempt satisfies never;
  }
}

function afterAmbiguous(code: string, history: History, settings: PolicySettings, outage: boolean): Step {
  if (settings.resend === 'never') return {next: 'settle', settled: {status: 'unknown', error: code}};
  if (outage) return {next: 'retry', counts: false};
  const attempts = history.attempts + 1;
  if (attempts > settings.maxResends || attempts >= settings.maxAttempts) {
    return {next: 'settle', settled: {status: 'failed', error: code}};
  }
  return {next: 'retry', counts: true};
}

/**
 * An answer is an answer, but for a verdict after an attempt that may have been carried out: that attempt may be the
 * reason why the token now counts as redeemed, so the row says that nobody can tell.
 */
function answered(operation: Operation, data: Readonly<Record<string, unknown>>, history: History): Settled {
  const text = JSON.stringify(data);
  const verdict = data.verdict as {redeemed?: boolean} | undefined;
  if (operation === 'verify' && history.ambiguous && verdict?.redeemed === true) {
    return {status: 'unknown', error: 'verdict_replay_uncertain', data: text};
  }
  return {status: 'ok', data: text};
}

/** How long everybody waits after being throttled: what the service asks for at least, else full jitter. */
export function throttleMs(
  attempt: Extract<Attempt, {kind: 'throttled'}>,
  streak: number,
  nowMs: number,
  random: number,
): number {
  const asked = retryAfterMs(attempt.pace, nowMs);
  // A little beyond what was asked, so that the clocks' difference does not earn the next refusal.
  return asked === undefined ? Math.max(50, backoffMs(streak, random)) : asked + Math.round(random * 100);
}
