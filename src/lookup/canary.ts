import type {Attempt} from '../client/attempt.ts';
import {type RefusalStreak, type StreakTally, zeroRefusalStreak} from '../ledger/run/tally.ts';
import {INVALID_TOKEN_CODE} from '../operations/operation.ts';
import type {Operation} from '../operations/table.ts';
import {backoffMs, PROBE_CAP_MS} from './retry-policy.ts';

/**
 * If this many values of one operation are refused in a row, the values are not to blame. Before the operation's
 * first answer, the settings are wrong, and the run ends. Later, the service may refuse the account: the run warns.
 */
export const REFUSAL_STREAK = 10;
/** The same after a run that ended with refused credentials: enough to see that they still are. */
const SUSPECT_STREAK = 3;
/**
 * Refused calls in a row that end a run. If four in five values are bad, so long a streak happens by chance
 * once in 5 billion calls.
 */
export const LONGEST_REFUSAL_STREAK = 100;
/** Maximum calls of an operation in flight before its first answer. */
const CANARY_IN_FLIGHT = 4;
/**
 * If so many calls of one operation fail in a row while another operation is answered, this operation is down. By
 * chance, calls of which half fail do so once in a million.
 */
const DOWN_STREAK = 20;
/** If so many fail in a row, reading looks for values of others: these tell if it is an outage. */
const FAILING_STREAK = 5;

/** Refusals of many values in a row: too many for the values to be the reason. */
export interface LongRefusalStreak extends Readonly<RefusalStreak> {
  /** True if this session reports the streak for the first time. */
  readonly isNew: boolean;
  /** True if the operation was answered before, in this run or an earlier one. */
  readonly isKnownToAnswer: boolean;
}

/** The part of the desk that a failure is judged by. */
interface FailureView {
  readonly now: number;
  readonly canaries: ReadonlyMap<Operation, Canary>;
  readonly options: {readonly random: () => number};
}

/** Failed calls of one operation in a row. Times are those of the desk's clock. */
export interface FailureStreak {
  count: number;
  since: number;
  /** Code of the last one. */
  code: string;
  /** If the operation is down: when its next call may leave. */
  tryAt: number;
  /** True once another operation answered a call sent at or after the first failure. */
  isAlone: boolean;
  /** True once the user knows that the operation is down. */
  isTold: boolean;
}

/**
 * Watches an operation. Until its first answer, only a few of its calls are in flight: if all of them are refused, the
 * settings are wrong, and not the values.
 *
 * If the operation was answered before, only a long streak ends the run. In a nightly run that knows all good
 * values, the only calls are for values that the service rejects.
 *
 * A value is refused by a rejection, or by an answer that can't be used. Counts refused values whatever their codes: a
 * service may have a code for every value.
 */
export interface Canary {
  /** The ledger's, so that a kill divides no streak. */
  readonly tally: StreakTally;
  /** Number of values in a row that are enough: fewer after a run that the service refused. */
  enough: number;
  isAnswered: boolean;
  /** Time at which its last answered call was sent. */
  answeredAt: number;
  isTold: boolean;
  /** Values refused in a row in this session. Before a streak, further refusals of a value do not count. */
  readonly values: Set<string>;
  /** The calls in a row that failed: the service had them, or may have had them, and did not reply. */
  readonly failures: FailureStreak;
}

/** `wasRefused`: true if the service refused the account when the last session ended. Then few calls test if it still does. */
export function newCanary(tally: StreakTally, wasRefused: boolean): Canary {
  const enough = wasRefused ? SUSPECT_STREAK : REFUSAL_STREAK;
  const failures = {count: 0, since: 0, code: '', tryAt: 0, isAlone: false, isTold: false};
  const unheard = {isAnswered: false, answeredAt: Number.NEGATIVE_INFINITY, isTold: false};
  return {tally, enough, ...unheard, values: new Set(), failures};
}

/**
 * Notes if the service replied to a call that was sent at `sentAt`. Once the operation is down, whatever is no reply
 * lengthens the wait for its next call.
 */
export function learnFailures(
  canary: Canary,
  attempt: Attempt,
  sentAt: number,
  {now, canaries, options: {random}}: FailureView,
): void {
  const {failures} = canary;
  if (attempt.kind === 'answered') canary.answeredAt = Math.max(canary.answeredAt, sentAt);
  if (isReply(attempt)) {
    Object.assign(failures, {count: 0, isAlone: false});
    return;
  }
  if (attempt.kind === 'ambiguous' && attempt.lost !== true) failures.code = attempt.code;
  else if (failures.count < DOWN_STREAK) return;
  if (failures.count === 0) failures.since = now;
  const othersAnswer = Array.from(canaries.values()).some(({answeredAt}) => answeredAt >= failures.since);
  // Most failures before may have been an outage's.
  if (othersAnswer && !failures.isAlone) failures.count = Math.min(failures.count, DOWN_STREAK / 2);
  failures.isAlone ||= othersAnswer;
  failures.count += 1;
  if (failures.count >= DOWN_STREAK)
    failures.tryAt = now + backoffMs(failures.count - DOWN_STREAK, PROBE_CAP_MS, 0.5 + random() / 2);
}

/** True if an operation fails while another one is answered. If all fail, it is an outage: see circuit-breaker.ts. */
export function isDown({failures}: Canary): boolean {
  return failures.count >= DOWN_STREAK && failures.isAlone;
}

/** True if an operation fails, and another one does not, as far as is known: it may not have been called yet. */
export function failsBeside({failures}: Canary, {canaries}: Pick<FailureView, 'canaries'>): boolean {
  if (failures.count < FAILING_STREAK) return false;
  return Array.from(canaries.values()).some(other => other.failures.count === 0);
}

/** Calls of the operation that may be in flight. */
export function canaryRoom(canary: Canary): number {
  if (canary.isAnswered) return Number.POSITIVE_INFINITY;
  return isSuspect(canary) ? 1 : CANARY_IN_FLIGHT;
}

function isReply({kind}: Attempt): boolean {
  return kind === 'answered' || kind === 'rejected' || kind === 'unreadable';
}

/** True if the status or code says that the caller's credentials are wrong. A limit of calls, too, may come as 403. */
function isOfCredentials(attempt: Attempt): boolean {
  if (attempt.kind !== 'rejected' || attempt.about !== 'value') return false;
  return attempt.status === 403 || attempt.code === INVALID_TOKEN_CODE;
}

/** True while the account is in doubt: then values that were never sent test it, one at a time. */
export function isSuspect({isAnswered, enough}: Canary): boolean {
  return !isAnswered && enough < REFUSAL_STREAK;
}

/**
 * Notes the end of a call. Returns the streak of refusals if this call belongs to one. `isConfirmed`: true if the
 * service rejected the value with the same code before. Such a rejection does not count. `isKnownToAnswer` is called
 * only when there is a streak.
 */
export function learnCanary(
  canary: Canary,
  attempt: Attempt,
  value: string,
  isConfirmed: boolean,
  isKnownToAnswer: () => boolean,
): LongRefusalStreak | undefined {
  const {tally, values} = canary;
  const {refused} = tally;
  const isForbidden = isOfCredentials(attempt);
  // Any other reply ends the doubt about the account.
  if (isReply(attempt) && !isForbidden) canary.enough = REFUSAL_STREAK;
  const {enough} = canary;
  if (attempt.kind === 'answered') {
    canary.isAnswered = true;
    if (refused.count > 0) {
      canary.isTold = false;
      values.clear();
      Object.assign(refused, zeroRefusalStreak());
    }
  }
  if ((attempt.kind !== 'rejected' && attempt.kind !== 'unreadable') || isConfirmed) return undefined;
  const {code} = attempt;
  const wasStreak = refused.count >= enough;
  if (wasStreak || !values.has(value)) refused.count += 1;
  if (!wasStreak) values.add(value);
  refused.credentials &&= isForbidden;
  const about = attempt.kind === 'rejected' ? attempt.about : 'value';
  refused.quota &&= about === 'quota';
  const isOfMoment = about === 'moment';
  refused.moment &&= isOfMoment;
  refused.isMixed ||= refused.code !== '' && refused.code !== code;
  refused.code = code;
  refused.detail = attempt.kind === 'unreadable' ? attempt.detail : undefined;
  if (refused.count < enough) return undefined;
  // A refusal of the moment may stop the run, but it shows no fault of the account: its value is sent again.
  if (!isOfMoment) tally.longestStreak = Math.max(tally.longestStreak, refused.count);
  const isNew = !canary.isTold && !isOfMoment;
  canary.isTold ||= isNew;
  return {...refused, isNew, isKnownToAnswer: canary.isAnswered || isKnownToAnswer()};
}
