import type {Attempt} from '../client/attempt.ts';
import type {Operation} from '../operations/table.ts';
import type {Call} from './call.ts';
import {
  type Blame,
  backoffMs,
  PATIENCE_MS,
  PROBE_CAP_MS,
  type RetrySettings,
  sendsLeft,
} from './retry-policy.ts';

/**
 * Tokens of the retry budget, at the start and at most. Each failed call takes one. Once none is left, failures count
 * as an outage of the service. (AWS's standard mode has 500, and takes 5 for a retry.)
 */
const BUDGET_TOKENS = 100;
/** Tokens that one success returns to the retry budget. gRPC's retry throttling suggests a tenth. */
const TOKENS_PER_SUCCESS = 0.1;
/** Tokens of the retry budget after an outage, at least. */
const TOKENS_AFTER_OUTAGE = 10;
/** If this many calls in a row can't be sent, it is an outage. Fewer may be faults of single connections. */
const UNSENT_STREAK = 5;
/** Number of values that must fail, without a success in between, before the service is to blame. */
const OUTAGE_VALUES = 5;
/** Maximum calls in flight right after an outage. Each success doubles it; from {@link LARGEST_RAMP} on, there is no limit. */
const FIRST_RAMP = 2;
const LARGEST_RAMP = 64;

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
  readonly breaker: CircuitBreaker;
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

export function newCircuitBreaker(): CircuitBreaker {
  return {
    failing: new Map(),
    unsent: [],
    answered: 0,
    tokens: BUDGET_TOKENS,
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
export function onlyFailingLeft({breaker: {failing}, open, hasMore}: BreakerView): boolean {
  if (hasMore || open.size > failing.size) return false;
  for (const key of open.keys()) if (!failing.has(key)) return false;
  return true;
}

/** Number of further calls that may be sent. */
export function breakerRoom({breaker, inFlight, now}: BreakerView): number {
  const outage = currentOutage(breaker);
  if (outage === undefined) return breaker.ramp - inFlight.size;
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

/** Judges an end with all that are due; undefined while an earlier call is in flight: failures overtake answers. */
export function learnBreaker(desk: BreakerView, call: Call, attempt: Attempt): Blame | undefined {
  const {seq, sentAt} = call;
  desk.breaker.ended.push({call, attempt, seq, sentAt});
  return judgeDueEnds(desk).get(seq);
}

/** Judges ended calls in the order in which they were sent. Returns whom each failure blames, by its call's place. */
export function judgeDueEnds(desk: BreakerView): ReadonlyMap<number, Blame> {
  const {breaker, now, inFlight, patienceMs} = desk;
  const blames = new Map<number, Blame>();
  if (breaker.ended.length === 0) return blames;
  let upTo = Number.POSITIVE_INFINITY;
  for (const {seq, sentAt} of inFlight.values()) {
    if (now - sentAt >= patienceMs) continue;
    upTo = seq;
    break;
  }
  const due = breaker.ended.filter(({seq}) => seq < upTo);
  if (due.length === 0) return blames;
  breaker.ended = breaker.ended.filter(({seq}) => seq >= upTo);
  for (const end of due.sort((a, b) => a.seq - b.seq)) blames.set(end.seq, judge(desk, end));
  return blames;
}

function judge(desk: BreakerView, end: EndedCall): Blame {
  const {attempt, call} = end;
  const {outage} = desk.breaker;
  switch (attempt.kind) {
    case 'answered':
    case 'unreadable':
    case 'rejected':
      succeeded(desk.breaker, end);
      return 'value';
    case 'ambiguous':
      // If a fleet's worker was lost with the call, the service is not to blame.
      if (attempt.lost !== true) return failed(desk, end, attempt);
      break;
    case 'not_sent':
      if (attempt.closedMs === undefined) return notSent(desk, end, attempt.code);
      break;
    default:
  }
  if (outage?.probe === call.key) outage.probe = undefined;
  return attempt.kind === 'not_sent' ? 'service' : 'value';
}

/** The service answers: forgets failures that were sent before this call. Ends the outage, unless it began later. */
function succeeded(breaker: CircuitBreaker, {seq, sentAt, call}: EndedCall): void {
  const {failing, outage} = breaker;
  breaker.answered = Math.max(breaker.answered, seq);
  for (const [key, {seq: place}] of failing) if (place <= seq) failing.delete(key);
  breaker.unsent = breaker.unsent.filter(place => place > seq);
  breaker.tokens = Math.min(BUDGET_TOKENS, breaker.tokens + TOKENS_PER_SUCCESS);
  if (outage === undefined) {
    breaker.ramp = breaker.ramp >= LARGEST_RAMP ? Number.POSITIVE_INFINITY : breaker.ramp * 2;
  } else if (sentAt >= outage.since || outage.probe === call.key) {
    breaker.outage = undefined;
    breaker.ramp = FIRST_RAMP;
    breaker.tokens = Math.max(breaker.tokens, TOKENS_AFTER_OUTAGE);
  }
}

function failed(desk: BreakerView, end: EndedCall, attempt: Extract<Attempt, {kind: 'ambiguous'}>): Blame {
  const {breaker} = desk;
  const {failing, outage} = breaker;
  const {key, operation} = end.call;
  const isKnown = failing.has(key);
  if (end.seq > breaker.answered) failing.set(key, {seq: end.seq, operation, ofValue: blamesValue(attempt)});
  if (outage !== undefined) return failedInOutage(desk, outage, end, isKnown);
  breaker.tokens -= 1;
  if (failing.size < OUTAGE_VALUES && breaker.tokens > 0) return 'value';
  return beginOutage(desk, attempt.code);
}

/**
 * True if a failure in an outage may be the value's fault. An error of the service itself may depend on the
 * request; a gateway's error (502, 503, 504), a timeout or a broken connection does not.
 */
function blamesValue({status}: Extract<Attempt, {kind: 'ambiguous'}>): boolean {
  return status !== undefined && status >= 500 && (status < 502 || status > 504);
}

function notSent(desk: BreakerView, end: EndedCall, code: string): Blame {
  const {outage, unsent, answered, failing} = desk.breaker;
  if (outage === undefined) {
    if (end.seq > answered) unsent.push(end.seq);
    return unsent.length < UNSENT_STREAK ? 'value' : beginOutage(desk, code);
  }
  failing.set(end.call.key, {seq: end.seq, operation: end.call.operation, ofValue: false});
  outage.lastCall = false;
  noteFailedProbe(desk, outage, end);
  return 'service';
}

function beginOutage(desk: BreakerView, cause: string): Blame {
  const {now} = desk;
  const outage = {since: now, cause, probes: 0, probe: undefined, nextProbe: now, lastCall: false};
  desk.breaker.outage = outage;
  scheduleProbe(desk, outage);
  return 'service';
}

function failedInOutage(desk: BreakerView, outage: Outage, end: EndedCall, isKnown: boolean): Blame {
  const {breaker, open, now} = desk;
  const ofValues = [...breaker.failing].every(([key, {ofValue}]) => ofValue || !open.has(key));
  if (outage.lastCall) {
    if (isKnown && ofValues) return 'value for good';
    outage.lastCall = false;
  }
  noteFailedProbe(desk, outage, end);
  const isYoung = now - outage.since < PATIENCE_MS;
  if (!ofValues || isYoung || !onlyFailingLeft(desk)) return 'service';
  outage.lastCall = true;
  breaker.ramp = FIRST_RAMP;
  return 'value for good';
}

/** Lengthens the wait for the next probe if this was one. Ignores calls from before the outage. */
function noteFailedProbe(desk: BreakerView, outage: Outage, {call}: EndedCall): void {
  if (outage.probe !== call.key) return;
  outage.probe = undefined;
  outage.probes += 1;
  scheduleProbe(desk, outage);
}

/**
 * Sets the time of the next probe. If few sends are left, probes are spread over the time that an outage
 * may last, with one at its end. The very last send waits until the outage is at least a minute old.
 */
function scheduleProbe({now, options, open, hasMore}: BreakerView, outage: Outage): void {
  const {maxOutageMs, policy, random} = options;
  const end = outage.since + maxOutageMs;
  let left = hasMore ? Number.POSITIVE_INFINITY : 0;
  for (const {entry} of open.values()) left += sendsLeft(entry.history, policy);
  const cap = Math.max(PROBE_CAP_MS, (end - now) / left);
  // Waits at least half of the backoff's bound: a random wait near 0 would send one probe right after another.
  const wait = backoffMs(outage.probes, cap, 0.5 + random() / 2);
  const next = Math.max(now + wait, left > 1 ? 0 : outage.since + PATIENCE_MS);
  outage.nextProbe = now < end ? Math.min(next, end) : next;
}
