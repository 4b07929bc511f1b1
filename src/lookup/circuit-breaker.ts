import type {Attempt} from '../client/attempt.ts';
import type {Operation} from '../operations/table.ts';
import type {Call} from './call.ts';
import {
  type Blame,
  backoffMs,
  blamesValue,
  policyNumbers as numbers,
  type RetrySettings,
  sendsLeft,
} from './retry-policy.ts';

/** A value whose call failed since the last answered call, by the order of sending. */
interface Failing {
  readonly seq: number;
  readonly operation: Operation;
  /** True if the last failure may be the value's fault. */
  readonly ofValue: boolean;
}

/** Times are those of the desk's clock. */
export interface Outage {
  readonly since: number;
  /** Error code of the failure with which the outage began. */
  readonly cause: string;
  /** Number of failed probes. */
  probes: number;
  /** Key of the value that is in flight as the probe. */
  probe: string | undefined;
  nextProbe: number;
  /**
   * True once the outage has lasted a minute and only values are left that may be to blame. Each then gets
   * one last attempt.
   */
  lastCall: boolean;
}

interface EndedCall {
  readonly call: Call;
  readonly attempt: Attempt;
  readonly seq: number;
  readonly sentAt: number;
}

/**
 * Decides if failures are an outage or faults of single values: closed while the service answers, open in an outage,
 * half-open while the ramp lasts. An outage begins if several values fail without a success in between, or if the retry
 * budget is empty. During an outage no value fails, and one value at a time is sent as the probe. A probe counts as a
 * resend, so values with the most resends left are sent first. The run ends once all resends are used up.
 *
 * If the service breaks on certain values, they look like an outage once no other values are left. If for a minute
 * they got only the service's own error, each gets one last call and then fails.
 */
export interface CircuitBreaker {
  readonly failing: Map<string, Failing>;
  /** Calls without a connection since the last answered call, by the order of sending. */
  unsent: number[];
  /** Highest place of an answered call in the order of sending. */
  answered: number;
  tokens: number;
  outage: Outage | undefined;
  /** Maximum calls in flight after an outage. Each answer doubles it. */
  ramp: number;
  /** Ended calls that wait for those sent before them. */
  ended: EndedCall[];
}

/** The part of the desk that the breaker reads. */
export interface BreakerView {
  readonly now: number;
  readonly options: {
    readonly maxOutageMs: number;
    readonly policy: RetrySettings;
    readonly random: () => number;
  };
  /** The values that are not settled yet. */
  readonly open: ReadonlyMap<string, Call>;
  /** True while callers have more values than these. */
  readonly hasMore: boolean;
  /** Calls in flight, in the order of sending. */
  readonly inFlight: ReadonlyMap<string, Call>;
  /** A call that takes longer does not hold up the judgement of those sent after it. */
  readonly patienceMs: number;
}

/** Maximum calls in flight right after an outage. */
const FIRST_RAMP = 2;

export function newCircuitBreaker(): CircuitBreaker {
  const {budgetTokens: tokens} = numbers;
  return {
    failing: new Map(),
    unsent: [],
    answered: 0,
    tokens,
    outage: undefined,
    ramp: Number.POSITIVE_INFINITY,
    ended: [],
  };
}

/** The outage, if only probes may be sent. Undefined also during the last call, when each value gets one last attempt. */
export function currentOutage({outage}: CircuitBreaker): Readonly<Outage> | undefined {
  return outage?.lastCall === true ? undefined : outage;
}

/** True if each remaining value has failed since the last success. Then no fresh value can be the probe. */
export function onlyFailingLeft(
  {failing}: CircuitBreaker,
  {open, hasMore}: Pick<BreakerView, 'open' | 'hasMore'>,
): boolean {
  if (hasMore || open.size > failing.size) return false;
  for (const key of open.keys()) if (!failing.has(key)) return false;
  return true;
}

/** Number of further calls that may be sent. */
export function breakerRoom(breaker: CircuitBreaker, now: number, inFlight: number): number {
  const outage = currentOutage(breaker);
  if (outage === undefined) return breaker.ramp - inFlight;
  return outage.probe !== undefined || now < outage.nextProbe ? 0 : 1;
}

/**
 * The best probe of an outage: a value that has not failed, if possible of an operation without failures; else one with
 * the most sends left.
 */
export function chooseProbe(
  {failing}: CircuitBreaker,
  waiting: readonly Call[],
  policy: RetrySettings,
): Call | undefined {
  const operations = new Set([...failing.values()].map(({operation}) => operation));
  const left = (call: Call) => sendsLeft(call.entry.history, policy);
  return (
    waiting.find(({key, operation}) => !failing.has(key) && !operations.has(operation)) ??
    waiting.find(({key}) => !failing.has(key)) ??
    waiting.reduce<Call | undefined>(
      (best, call) => (best === undefined || left(call) > left(best) ? call : best),
      undefined,
    )
  );
}

export function noteSent(breaker: CircuitBreaker, key: string): void {
  if (breaker.outage?.lastCall === false) breaker.outage.probe = key;
}

/**
 * Notes the end of a call, and judges all ends that are due. Returns who is to blame if it failed; undefined if that is
 * not known yet, since a call that was sent before it is in flight: fast failures overtake slow answers.
 */
export function learnBreaker(
  breaker: CircuitBreaker,
  call: Call,
  attempt: Attempt,
  view: BreakerView,
): Blame | undefined {
  const {seq, sentAt} = call;
  breaker.ended.push({call, attempt, seq, sentAt});
  return judgeDueEnds(breaker, view).get(seq);
}

/** Judges ended calls in the order in which they were sent. Returns whom each failure blames, by its call's place. */
export function judgeDueEnds(breaker: CircuitBreaker, view: BreakerView): ReadonlyMap<number, Blame> {
  const blames = new Map<number, Blame>();
  if (breaker.ended.length === 0) return blames;
  let upTo = Number.POSITIVE_INFINITY;
  for (const {seq, sentAt} of view.inFlight.values()) {
    if (view.now - sentAt >= view.patienceMs) continue;
    upTo = seq;
    break;
  }
  const due = breaker.ended.filter(({seq}) => seq < upTo);
  if (due.length === 0) return blames;
  breaker.ended = breaker.ended.filter(({seq}) => seq >= upTo);
  for (const end of due.sort((a, b) => a.seq - b.seq)) blames.set(end.seq, judge(breaker, end, view));
  return blames;
}

function judge(breaker: CircuitBreaker, end: EndedCall, view: BreakerView): Blame {
  const {attempt, call} = end;
  switch (attempt.kind) {
    case 'answered':
    case 'unreadable':
    case 'rejected':
      succeeded(breaker, end);
      return 'value';
    case 'ambiguous':
      // If a fleet's worker was lost with the call, the service is not to blame.
      if (attempt.lost !== true) return failed(breaker, end, blamesValue(attempt), attempt.code, view);
      break;
    case 'not_sent':
      if (attempt.closedMs === undefined) return notSent(breaker, end, attempt.code, view);
      break;
    default:
  }
  if (breaker.outage?.probe === call.key) breaker.outage.probe = undefined;
  return attempt.kind === 'not_sent' ? 'service' : 'value';
}

/** The service answers: forgets failures that were sent before this call. Ends the outage, unless it began later. */
function succeeded(breaker: CircuitBreaker, {seq, sentAt, call}: EndedCall): void {
  const {failing, outage} = breaker;
  breaker.answered = Math.max(breaker.answered, seq);
  for (const [key, {seq: place}] of failing) if (place <= seq) failing.delete(key);
  breaker.unsent = breaker.unsent.filter(place => place > seq);
  breaker.tokens = Math.min(numbers.budgetTokens, breaker.tokens + numbers.budgetPerSuccess);
  if (outage === undefined) {
    breaker.ramp = breaker.ramp >= numbers.largestRamp ? Number.POSITIVE_INFINITY : breaker.ramp * 2;
  } else if (sentAt >= outage.since || outage.probe === call.key) {
    breaker.outage = undefined;
    breaker.ramp = FIRST_RAMP;
    breaker.tokens = Math.max(breaker.tokens, numbers.budgetTokens / 10);
  }
}

function failed(
  breaker: CircuitBreaker,
  end: EndedCall,
  ofValue: boolean,
  code: string,
  view: BreakerView,
): Blame {
  const {failing, outage} = breaker;
  const {key} = end.call;
  const isKnown = failing.has(key);
  if (end.seq > breaker.answered) failing.set(key, {seq: end.seq, operation: end.call.operation, ofValue});
  if (outage !== undefined) return failedInOutage(breaker, outage, end, isKnown, view);
  breaker.tokens -= 1;
  if (failing.size < numbers.outageValues && breaker.tokens > 0) return 'value';
  return beginOutage(breaker, code, view);
}

function notSent(breaker: CircuitBreaker, end: EndedCall, code: string, view: BreakerView): Blame {
  const {outage, unsent} = breaker;
  if (outage === undefined) {
    if (end.seq > breaker.answered) unsent.push(end.seq);
    return unsent.length < numbers.unsentStreak ? 'value' : beginOutage(breaker, code, view);
  }
  breaker.failing.set(end.call.key, {seq: end.seq, operation: end.call.operation, ofValue: false});
  outage.lastCall = false;
  return probeFailed(outage, end, view);
}

function beginOutage(breaker: CircuitBreaker, cause: string, view: BreakerView): Blame {
  const {now} = view;
  breaker.outage = {since: now, cause, probes: 0, probe: undefined, nextProbe: now, lastCall: false};
  scheduleProbe(breaker.outage, view);
  return 'service';
}

function failedInOutage(
  breaker: CircuitBreaker,
  outage: Outage,
  end: EndedCall,
  isKnown: boolean,
  view: BreakerView,
): Blame {
  const ofValues = [...breaker.failing].every(([key, {ofValue}]) => ofValue || !view.open.has(key));
  if (outage.lastCall) {
    if (isKnown && ofValues) return 'value for good';
    outage.lastCall = false;
  }
  probeFailed(outage, end, view);
  const isYoung = view.now - outage.since < numbers.patienceMs;
  if (!ofValues || isYoung || !onlyFailingLeft(breaker, view)) return 'service';
  outage.lastCall = true;
  breaker.ramp = FIRST_RAMP;
  return 'value for good';
}

/** Notes a failed probe, and lengthens the wait for the next one. Ignores calls from before the outage. */
function probeFailed(outage: Outage, {call}: EndedCall, view: BreakerView): Blame {
  if (outage.probe === call.key) {
    outage.probe = undefined;
    outage.probes += 1;
    scheduleProbe(outage, view);
  }
  return 'service';
}

/**
 * Sets the time of the next probe. If few sends are left, probes are spread over the time that an outage
 * may last, with one at its end. The very last send waits until the outage is at least a minute old.
 */
function scheduleProbe(outage: Outage, {now, options, open, hasMore}: BreakerView): void {
  const {maxOutageMs, policy, random} = options;
  const end = outage.since + maxOutageMs;
  let left = hasMore ? Number.POSITIVE_INFINITY : 0;
  for (const {entry} of open.values()) left += sendsLeft(entry.history, policy);
  const cap = Math.max(numbers.probeCapMs, (end - now) / left);
  // Waits at least half of the backoff's bound: a random wait near 0 would send one probe right after another.
  const wait = backoffMs(outage.probes, cap, 0.5 + random() / 2);
  const next = Math.max(now + wait, left > 1 ? 0 : outage.since + numbers.patienceMs);
  outage.nextProbe = now < end ? Math.min(next, end) : next;
}
