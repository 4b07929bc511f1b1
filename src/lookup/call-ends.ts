import type {TimestampedAttempt} from '../client/attempt.ts';
import {INVALID_TOKEN_CODE} from '../operations/operation.ts';
import {type Operation, operations} from '../operations/table.ts';
import type {Call, Pause, StopReason} from './call.ts';
import {isDown, LONGEST_REFUSAL_STREAK, learnCanary, learnFailures} from './canary.ts';
import {currentOutage, learnBreaker, onlyFailingLeft} from './circuit-breaker.ts';
import {learnConcurrency} from './concurrency.ts';
import {
  canaryOf,
  closedUntil,
  type Desk,
  type Effects,
  type Lane,
  laneOf,
  settle,
  takeOut,
} from './desk-state.ts';
import {learnFromReply} from './rate-limit.ts';
import {parseQuota, requestedWaitMs} from './rate-limit-headers.ts';
import {
  BACKOFF_CAP_MS,
  type Blame,
  backoffMs,
  concludeAttempt,
  historyAfterAttempt,
  repeatedRejection,
  retryMs,
  stepWithoutSendsLeft,
} from './retry-policy.ts';

/** Maximum pause for a quota that the service reports as used up. After it, a call tests the quota. */
const QUOTA_PAUSE_MS = 60_000;
/** Minimum wait that a run advises if an outage ended it. */
const COME_BACK_AFTER_MS = 30_000;

// --- What an attempt means: for the account, for all calls, for its value ---------------------------------------------

export function endCall(desk: Desk, call: Call, attempt: TimestampedAttempt, out: Effects): void {
  const {policy, hadSignals} = desk.options;
  const {entry, operation, key, cost, dispatch} = call;
  const lane = takeOut(desk, call);
  // A call that waited for a connection, or for a busy machine, left later than it was to.
  call.departure.at = Math.max(call.departure.at, desk.now - attempt.latencyMs);
  const retry = call.attempts > 0 || entry.history.mayBeCarriedOut;
  if (attempt.kind !== 'not_sent') call.attempts += 1;
  // The circuit breaker counts the sends that values have left: this attempt is one of them.
  entry.history = historyAfterAttempt(entry.history, attempt, policy);
  const earlier = repeatedRejection(call.before, attempt);
  learnAvailability(desk, call, attempt, out);
  learnRefusals(desk, call, attempt, earlier !== undefined, out);
  const blame = learnBreaker(desk, call, attempt);
  const untilMs = learnPace(desk, lane, call, attempt, out);
  if (attempt.kind === 'fatal') stopCalls(desk, {kind: 'fatal', attempt}, out);
  else giveUpIfOverdue(desk, out);
  // Another call may have left its credits.
  desk.lacking = undefined;
  const ended = {operation, key, cost, dispatch, retry, earlier, hadSignals};
  const {booked, next} = concludeAttempt(ended, attempt, entry.history, policy, blame);
  out.book.push({booked, call});
  if (next.next === 'settle') settle(desk, call, {kind: 'outcome', outcome: next.outcome}, out);
  else if (next.next === 'hold') desk.held.push(call);
  else if (next.next === 'retry') putOff(desk, call, untilMs);
}

/** Notes if the operation is down while others are answered, and tells it once. */
function learnAvailability(
  desk: Desk,
  {operation, sentAt}: Call,
  attempt: TimestampedAttempt,
  out: Effects,
): void {
  const canary = canaryOf(desk, operation);
  learnFailures(canary, attempt, sentAt, desk);
  const {failures} = canary;
  if (failures.isTold || !isDown(canary)) return;
  failures.isTold = true;
  out.notices.push({kind: 'down', operation, code: failures.code});
}

/** Notes what the attempt says about the account. A long streak of refusals is the account's, and no value's. */
function learnRefusals(
  desk: Desk,
  {operation, params}: Call,
  attempt: TimestampedAttempt,
  isConfirmed: boolean,
  out: Effects,
): void {
  const {isAnswered, mayAllFail} = desk.options;
  const value = params[operations[operation].field] ?? '';
  const known = () => isAnswered(operation);
  const streak = learnCanary(canaryOf(desk, operation), attempt, value, isConfirmed, known);
  desk.isKeyAccepted ||= attempt.kind === 'answered';
  if (streak === undefined) return;
  // A long streak of 403, or of a used-up quota, is about the caller, though other values were answered before.
  const isForbidden = streak.credentials && streak.code !== INVALID_TOKEN_CODE;
  const most = isForbidden ? 0 : LONGEST_REFUSAL_STREAK;
  const isEnough = streak.quota || (streak.count >= most && !mayAllFail);
  // Once the key was accepted, `invalid_token` is about a session token, and not about the key.
  const credentials = streak.credentials && !(streak.code === INVALID_TOKEN_CODE && desk.isKeyAccepted);
  if (!streak.isKnownToAnswer || isEnough)
    stopCalls(desk, {kind: 'refused', operation, streak: {...streak, credentials}}, out);
  else if (streak.isNew) out.notices.push({kind: 'refused', operation, streak});
}

/** Notes what the attempt says about pace. Returns the time until which its value waits, at least. */
function learnPace(desk: Desk, lane: Lane, call: Call, attempt: TimestampedAttempt, out: Effects): number {
  const {now} = desk;
  const {rate} = lane;
  const isBroken =
    attempt.kind === 'not_sent' || (attempt.kind === 'ambiguous' && attempt.status === undefined);
  if (attempt.kind !== 'throttled' && attempt.kind !== 'fatal')
    learnConcurrency(lane.concurrency, isBroken, now - call.sentAt, rate.learned.limit);
  if (attempt.kind === 'not_sent' && attempt.closedMs !== undefined)
    closeLanes(desk, desk.lanes, {
      reason: 'throttled',
      detail: attempt.code,
      untilMs: now + attempt.closedMs,
    });
  if (attempt.kind === 'not_sent' || attempt.kind === 'ambiguous' || attempt.kind === 'fatal') return now;
  if (attempt.kind === 'throttled') desk.throttledSince ??= currentOutage(desk.breaker)?.since ?? now;
  else {
    desk.throttledSince = undefined;
    if (attempt.pace !== undefined) observeQuota(desk, attempt.pace);
  }
  const held = learnFromReply(
    rate,
    attempt,
    call.sentAt,
    now,
    isOldest(desk, lane, call),
    lane.concurrency.latencyMs ?? 0,
    desk.options.random,
  );
  if (held === undefined || attempt.kind !== 'throttled') return now;
  const {code: detail} = attempt;
  const {holds, untilMs} = held;
  const askedMs = requestedWaitMs(attempt, now) ?? 0;
  if (askedMs > desk.options.maxOutageMs)
    giveUp(desk, {cause: detail, sinceMs: desk.throttledSince ?? now, why: 'asked'}, out, askedMs);
  else if (holds !== 'value')
    closeLanes(desk, holds === 'all' ? desk.lanes : [lane], {reason: 'throttled', detail, untilMs});
  return untilMs;
}

/** True if no call of the lane that was sent before this one is in flight. */
function isOldest({inFlight}: Desk, {settings}: Lane, {seq}: Call): boolean {
  for (const call of inFlight.values())
    if (settings.operations.includes(call.operation)) return call.seq > seq;
  return true;
}

/** Lets nothing leave if the calls in flight use up the quota that an answer reported. */
function observeQuota(desk: Desk, headers: Parameters<typeof parseQuota>[0]): void {
  const quota = parseQuota(headers, desk.now);
  if (quota === undefined) return;
  const isBelieved = desk.isQuotaSeen;
  desk.isQuotaSeen ||= quota.remaining > 0;
  if (!isBelieved || quota.remaining > desk.inFlight.size) return;
  const untilMs = desk.now + Math.min(quota.resetMs, QUOTA_PAUSE_MS);
  closeLanes(desk, desk.lanes, {reason: 'quota', detail: 'no calls left in this window', untilMs});
}

function closeLanes(desk: Desk, lanes: readonly Lane[], pause: Pause): void {
  for (const {rate} of lanes) {
    rate.closedUntil = Math.max(rate.closedUntil, pause.untilMs);
    if (lanes === desk.lanes) rate.askedUntil = rate.closedUntil;
  }
  if ((desk.pause?.untilMs ?? 0) < pause.untilMs) desk.pause = pause;
}

/** Lets the value wait for its next attempt. While all values wait, it waits with them. */
function putOff(desk: Desk, call: Call, untilMs: number): void {
  const {policy} = desk.options;
  const {waiting, rate} = laneOf(desk, call);
  if (desk.refusal !== undefined || desk.now < closedUntil(desk, rate)) {
    waiting.push(call);
    return;
  }
  const isLast = onlyFailingLeft(desk);
  const isDoubtful = call.entry.history.doubts > 0;
  const waitMs = isDoubtful
    ? retryMs(call.entry.history, isLast, policy, desk.options.random())
    : backoffMs(Math.min(call.attempts, 8), BACKOFF_CAP_MS, desk.options.random());
  const at = Math.max(untilMs, desk.now + waitMs);
  const index = desk.backingOff.findIndex(other => other.at > at);
  desk.backingOff.splice(index === -1 ? desk.backingOff.length : index, 0, {call, at});
}

// --- When nothing more is sent -------------------------------------------------------------------------------------------

export function stopCalls(desk: Desk, reason: StopReason | undefined, out: Effects): void {
  if (desk.refusal?.kind === 'stop') return;
  if (
    desk.refusal !== undefined &&
    reason !== undefined &&
    reason.kind !== 'fatal' &&
    reason.kind !== 'error'
  )
    return;
  const isOutage = reason?.kind === 'outage' || (reason?.kind === 'refused' && reason.streak.moment);
  if (isOutage && desk.options.publishOn.includes('outage')) {
    desk.refusal = {kind: 'skip', reason: 'outage'};
    out.notices.push({kind: 'closed', reason});
    return;
  }
  desk.refusal = {kind: 'stop'};
  if (reason !== undefined) out.notices.push({kind: 'stopped', reason});
}

/** Stops a run whose service has been away for longer than it may be. */
function giveUpIfOverdue(desk: Desk, out: Effects): void {
  const {now, throttledSince, breaker, options} = desk;
  const outage = currentOutage(breaker);
  const why = 'too long';
  if (
    outage !== undefined &&
    now - failingSince(desk, operationsDown(desk), outage.since) >= options.maxOutageMs
  )
    giveUp(desk, {cause: outage.cause, sinceMs: outage.since, why}, out);
  else if (throttledSince !== undefined && now - throttledSince >= options.maxOutageMs)
    giveUp(desk, {cause: desk.pause?.detail ?? 'http_429', sinceMs: throttledSince, why}, out);
}

/**
 * Ends the calls, or in a run that publishes those of the operations that are down, if no others are left: others may
 * follow. `waitMs`: the wait that the user is advised; by default as long as the outage, and at least
 * {@link COME_BACK_AFTER_MS}.
 */
export function giveUp(
  desk: Desk,
  outage: Omit<Extract<StopReason, {kind: 'outage'}>, 'kind' | 'operation' | 'comeBackMs'>,
  out: Effects,
  waitMs = Math.max(desk.now - outage.sinceMs, COME_BACK_AFTER_MS),
): void {
  const down = operationsDown(desk);
  const [operation] = down;
  if (operation !== undefined && outage.why !== 'asked' && desk.options.publishOn.includes('outage')) {
    for (const call of takeWaiting(desk)) settle(desk, call, {kind: 'skipped', reason: 'outage'}, out);
    desk.breaker.outage = undefined;
    desk.breaker.failing.clear();
    return;
  }
  const who = down.length < 2 && {operation, sinceMs: failingSince(desk, down, outage.sinceMs)};
  stopCalls(desk, {kind: 'outage', ...outage, ...who, comeBackMs: desk.now + waitMs}, out);
}

/** Since when the values that are left get no answer: longer than the outage if their operation was down before. */
function failingSince(desk: Desk, down: readonly Operation[], outageSince: number): number {
  const since = down.map(operation => canaryOf(desk, operation).failures.since);
  return since.length === 0 ? outageSince : Math.min(outageSince, Math.max(...since));
}

/** The operations of all values that are left, if they are down; none if the whole service is. */
function operationsDown(desk: Desk): readonly Operation[] {
  const left = [...new Set(Array.from(desk.open.values(), ({operation}) => operation))];
  return left.every(operation => isDown(canaryOf(desk, operation))) ? left : [];
}

/** Ends values that have used up their sends, unless an outage lasts or may have begun. */
export function settleHeld(desk: Desk, out: Effects): void {
  const {breaker, options} = desk;
  if (desk.held.length === 0) return;
  const blame: Blame | undefined =
    breaker.ended.length > 0 ? undefined : currentOutage(breaker) === undefined ? 'value' : 'service';
  const still: Call[] = [];
  for (const call of desk.held) {
    const next = stepWithoutSendsLeft(call.entry.history, options.policy, blame);
    if (next.next === 'settle') settle(desk, call, {kind: 'adopted', outcome: next.outcome}, out);
    else still.push(call);
  }
  desk.held = still;
  const outage = currentOutage(breaker);
  if (outage !== undefined && still.length > 0 && still.length === desk.open.size && !desk.hasMore)
    giveUp(desk, {cause: outage.cause, sinceMs: outage.since, why: 'no resends'}, out);
}

/** Nothing new is sent. Values without an outcome end without a call, or stay open for the next session. */
export function refuseWaiting(desk: Desk, out: Effects): void {
  const {refusal} = desk;
  out.wakeAt = Number.POSITIVE_INFINITY;
  for (const call of takeWaiting(desk)) {
    if (refusal?.kind === 'skip') settle(desk, call, {kind: 'skipped', reason: refusal.reason}, out);
    else desk.open.delete(call.key);
  }
}

/** Takes all calls that are not in flight out of where they wait. */
function takeWaiting(desk: Desk): readonly Call[] {
  const {lanes, held, claimed, backingOff, parked} = desk;
  const calls = [...lanes.flatMap(lane => lane.waiting.splice(0)), ...held, ...claimed];
  for (const {call} of backingOff) calls.push(call);
  for (const each of parked.values()) for (const call of each.splice(0)) calls.push(call);
  Object.assign(desk, {held: [], claimed: [], backingOff: []});
  return calls;
}
