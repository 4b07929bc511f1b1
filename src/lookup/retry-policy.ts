import type {Attempt, TimestampedAttempt} from '../client/attempt.ts';
import {isServiceWord} from '../client/classify.ts';
import type {ChargeKind, Cost} from '../job/settings/cost.ts';
import type {KnownAnswer} from '../ledger/answers/validity.ts';
import {isStorable, type Outcome} from '../ledger/lookup-outcome.ts';
import {
  addDoubt,
  type BookedAttempt,
  type KeyedAnswer,
  type ValueHistory,
} from '../ledger/run/ledger-entry.ts';
import {type Operation, operations} from '../operations/table.ts';

/** First backoff in milliseconds. Google's and AWS's clients begin between 0.1 s and 1 s. */
const BACKOFF_BASE_MS = 500;
/** Maximum backoff of one value, or of a lane, in milliseconds. Longer waits would not help. (AWS: 20 s; gRPC: 120 s.) */
export const BACKOFF_CAP_MS = 30_000;
/**
 * Maximum milliseconds until the next probe, the call that tests in an outage if the service is back. If few resends
 * are left, probes wait longer. Jitter may halve the wait, so there are at most 240 probes an hour. After the outage,
 * the run loses at most half a minute.
 */
export const PROBE_CAP_MS = 30_000;
/** Minimum length of an outage before values may be blamed. So an outage of a minute fails no value. */
export const PATIENCE_MS = 60_000;

export interface RetrySettings {
  readonly resends: number;
  readonly cost: Cost;
}

/**
 * The party to blame for a failure: the value, or in an outage the service. `value for good`: the value gets
 * no more attempts.
 */
export type Blame = 'value' | 'service' | 'value for good';

export type NextStep =
  | {readonly next: 'settle'; readonly outcome: Outcome}
  | {readonly next: 'retry'}
  /** The value has used up its sends, and waits until the outage is over. Then it fails. */
  | {readonly next: 'hold'}
  /** The run stops. The value stays open. */
  | {readonly next: 'stop'};

/**
 * Milliseconds before a retry, with full jitter (AWS, "Exponential backoff and jitter"): anywhere from 0 to the
 * exponential bound. `random` is in [0, 1).
 */
export function backoffMs(retry: number, capMs: number, random: number): number {
  const bound = Math.min(capMs, BACKOFF_BASE_MS * 2 ** retry);
  return Math.round(random * bound);
}

/** How the service charges an attempt. `cost`: its charges for rejected and throttled calls. */
export function chargeKindOfAttempt(attempt: Attempt, cost: Cost): ChargeKind {
  switch (attempt.kind) {
    case 'answered':
      return 'spent';
    case 'unreadable':
      return attempt.status === undefined ? 'maybe' : 'spent';
    case 'not_sent':
      return 'free';
    case 'throttled':
      return cost.throttled;
    case 'ambiguous':
      return 'maybe';
    case 'rejected':
      return attempt.status >= 400 ? cost.rejected : 'spent';
    case 'fatal':
      if (attempt.reason === 'mixed_answers') return 'spent';
      // No status: nothing was sent. 4xx: the account has no access or credits, so nothing is charged. Any other
      // status may be charged.
      return attempt.status === undefined || (attempt.status >= 400 && attempt.status < 500)
        ? 'free'
        : 'maybe';
    default:
      return attempt satisfies never;
  }
}

/** Maximum number of sends of a value, whatever fails. `plan` shows the cost of this worst case. */
export function mostSends({resends}: RetrySettings): number {
  return 1 + resends;
}

/**
 * Number of sends that a value has left. An attempt without an answer uses one up if it may have been charged. A kill
 * uses up none, but with `resends: 0` nothing is sent a second time.
 */
export function sendsLeft({doubts, kills}: ValueHistory, settings: RetrySettings): number {
  if (settings.resends === 0 && kills > 0) return 0;
  return Math.max(0, mostSends(settings) - doubts);
}

/** An attempt as it is booked, and the step after it. */
export interface ConcludedAttempt {
  readonly booked: BookedAttempt;
  readonly next: NextStep;
}

/** A call whose attempt has ended. */
type CallToBook = Pick<BookedAttempt, 'operation' | 'key' | 'cost' | 'dispatch' | 'retry'> & {
  /** The value's earlier rejection with the same code. */
  readonly earlier: KnownAnswer['rejection'];
  /** True if an answer of the operation had a field that the default rules read. */
  readonly hadSignals: (operation: Operation) => boolean;
};

/** The value's earlier rejection, if the service repeats its code. This says nothing new about the service. */
export function repeatedRejection(
  before: KnownAnswer | undefined,
  attempt: Attempt,
): KnownAnswer['rejection'] {
  const isRefusal = attempt.kind === 'rejected' || attempt.kind === 'unreadable';
  const known = before?.rejection;
  return isRefusal && isOfValue(attempt) && attempt.code === known?.error ? known : undefined;
}

/**
 * The outcome as it is kept. A second refusal is believed, or leaves the first as it is. An answer without the fields
 * that earlier answers of its operation had is used in this run alone.
 */
function keptOutcome(
  outcome: Outcome,
  attempt: Attempt,
  {operation, earlier, hadSignals}: CallToBook,
): Outcome {
  if (outcome.rejected === 'once' && earlier !== undefined)
    return earlier.confirms ? {...outcome, rejected: 'twice'} : {...outcome, boughtAt: earlier.boughtAt};
  const isPoor = attempt.kind === 'answered' && attempt.lacksSignals === true && hadSignals(operation);
  return outcome.status === 'ok' && isPoor ? {status: 'ok', data: outcome.data} : outcome;
}

/**
 * The value's history after an attempt. An attempt without an answer is a doubt if it may have been charged, and a refusal
 * of the moment always: it uses up a resend.
 */
export function historyAfterAttempt(
  history: ValueHistory,
  attempt: Attempt,
  {cost}: RetrySettings,
): ValueHistory {
  const isDoubt = attempt.kind !== 'answered' && chargeKindOfAttempt(attempt, cost) !== 'free';
  return isDoubt || isOfMoment(attempt) ? addDoubt(history, attempt) : history;
}

/** Books an attempt, and says what follows. `history` includes it. The same for calls of this process and of a fleet. */
export function concludeAttempt(
  call: CallToBook,
  attempt: TimestampedAttempt,
  history: ValueHistory,
  settings: RetrySettings,
  blame: Blame | undefined,
): ConcludedAttempt {
  const {operation, key, cost, dispatch, retry} = call;
  const step = nextStep(operation, attempt, history, settings, blame);
  const next = step.next === 'settle' ? {...step, outcome: keptOutcome(step.outcome, attempt, call)} : step;
  const outcome = next.next === 'settle' ? next.outcome : undefined;
  const charge = cost === 0 ? 'free' : chargeKindOfAttempt(attempt, settings.cost);
  return {
    next,
    booked: {operation, key, cost, dispatch, attempt, charge, retry, history, outcome},
  };
}

/** The outcome if other runs can use it at once. A rejection is kept once it is confirmed, or judged at the run's end. */
export function answerToKeep({operation, key, outcome}: BookedAttempt): KeyedAnswer | undefined {
  if (outcome === undefined || !isStorable(outcome)) return undefined;
  return outcome.rejected === 'once' ? undefined : {operation, key, outcome};
}

/** The step after an attempt. `history` includes this attempt. Which status is which kind: `client/classify.ts`. */
function nextStep(
  operation: Operation,
  attempt: TimestampedAttempt,
  history: ValueHistory,
  settings: RetrySettings,
  blame: Blame | undefined,
): NextStep {
  switch (attempt.kind) {
    case 'answered':
      return {next: 'settle', outcome: answered(operation, attempt, history)};
    case 'unreadable':
    case 'rejected': {
      const {code: error, boughtAt} = attempt;
      if (isOfMoment(attempt) && sendsLeft(history, settings) > 0) return {next: 'retry'};
      if (isOfValue(attempt))
        return {next: 'settle', outcome: {status: 'failed', error, rejected: 'once', boughtAt}};
      const said = isServiceWord(error) ? ({said: 'service'} as const) : {};
      return {next: 'settle', outcome: {status: 'failed', error, ...said}};
    }
    case 'not_sent':
      return {next: 'retry'};
    case 'throttled':
    case 'ambiguous':
      return blame !== 'value for good' && sendsLeft(history, settings) > 0
        ? {next: 'retry'}
        : stepWithoutSendsLeft({...history, lastCode: attempt.code}, settings, blame);
    case 'fatal':
      return {next: 'stop'};
    default:
      return attempt satisfies never;
  }
}

/** The step of a value that has used up its sends: settle it, or hold it while an outage lasts or may have begun. */
export function stepWithoutSendsLeft(
  {lastCode: error}: ValueHistory,
  settings: RetrySettings,
  blame: Blame | undefined,
): NextStep {
  if (settings.resends === 0) return {next: 'settle', outcome: {status: 'unknown', error}};
  if (blame === 'service' || blame === undefined) return {next: 'hold'};
  return {next: 'settle', outcome: {status: 'failed', error}};
}

/**
 * Milliseconds that a value waits for its next attempt: a random backoff, which grows with its doubts.
 * `onlyFailingLeft`: true if all remaining values have failed. Then a value waits a minute before its last send:
 * no other value can show that this is an outage, and an outage at the end of a list must not fail its last rows.
 */
export function retryMs(
  history: ValueHistory,
  onlyFailingLeft: boolean,
  settings: RetrySettings,
  random: number,
): number {
  const {doubts} = history;
  if (onlyFailingLeft && doubts > 0 && sendsLeft(history, settings) === 1) return PATIENCE_MS;
  return backoffMs(Math.max(0, doubts - 1), BACKOFF_CAP_MS, random);
}

/**
 * True if a refusal may be the value's fault, so that other runs can use it too. The service then gives a code
 * of its own, or an answer that says nothing. A rejection with only an HTTP status may come from a gateway, and 403 is
 * about the caller.
 */
function isOfValue(attempt: Refusal): boolean {
  if (attempt.kind === 'unreadable') return attempt.saysNothing === true;
  return attempt.status !== 403 && attempt.about === 'value' && isServiceWord(attempt.code);
}

type Refusal = Extract<Attempt, {kind: 'rejected' | 'unreadable'}>;

/** True for a refusal whose code names a trouble of the service or the account: it is not kept, and the value is sent again. */
function isOfMoment(attempt: Attempt): boolean {
  return attempt.kind === 'rejected' && attempt.about !== 'value';
}

/**
 * The outcome of an answer. It is `unknown` if a verdict says that the token is redeemed, and an earlier attempt of
 * this program may have redeemed it.
 */
function answered(
  operation: Operation,
  {data, exact, boughtAt}: Extract<TimestampedAttempt, {kind: 'answered'}>,
  history: ValueHistory,
): Outcome {
  const text = exact ?? JSON.stringify(data);
  if (history.mayBeCarriedOut && operations[operation].isReplay(data))
    return {status: 'unknown', error: 'verdict_replay_uncertain', data: text, boughtAt};
  return {status: 'ok', data: text, boughtAt};
}
