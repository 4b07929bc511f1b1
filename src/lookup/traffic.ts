import type {Attempt} from '../client/attempt.ts';
import type {Operation} from '../client/wire.ts';
import {quotaOf, retryAfterMs} from './pace-headers.ts';
import {backoffMs, policyNumbers as numbers, throttleMs} from './policy.ts';

/** Why the run has to stop asking. */
export type StopReason =
  | {readonly kind: 'fatal'; readonly attempt: Extract<Attempt, {kind: 'fatal'}>}
  | {
      readonly kind: 'refused';
      readonly operation: Operation;
      readonly code: string;
      readonly credentials: boolean;
    }
  | {
      readonly kind: 'outage';
      readonly cause: string;
      readonly sinceMs: number;
      readonly comeBackMs?: number | undefined;
    };

/** Why nothing is sent at the moment. */
export interface Pause {
  readonly reason: 'throttled' | 'quota' | 'outage';
  readonly detail: string;
  /** When it ends, or is tried again, in milliseconds since the epoch. */
  readonly untilMs: number;
}

export interface TrafficOptions {
  readonly maxOutageMs: number;
  readonly now: () => number;
  readonly random: () => number;
  /** Something may be sent that could not be before. */
  readonly onOpen: () => void;
  readonly onStop: (reason: StopReason) => void;
}

/** A quota that reads as used up is believed for this long; then a call finds out. */
const LONGEST_QUOTA_PAUSE_MS = 60_000;
/** Values that must fail with nothing succeeding in between, before it is the service and not the values. */
const OUTAGE_VALUES = 5;

interface Outage {
  readonly since: number;
  readonly cause: string;
  probes: number;
  probing: boolean;
  nextProbe: number;
}

interface Canary {
  readonly tried: Set<string>;
  /** Set while every value so far was rejected with this one code. */
  refusedBy: string | undefined;
  refusals: number;
  answered: boolean;
  inFlight: number;
}

/** Something that wants to be sent. */
export interface Candidate {
  readonly operation: Operation;
  readonly key: string;
}

/**
 * Decides how much may be sent at this moment, for everybody at once: the gate that one throttled call closes, the
 * outage mode with its single probe, the ramp after it, and the canary at the start of each operation.
 */
export class Traffic {
  readonly #options: TrafficOptions;
  readonly #canaries = new Map<Operation, Canary>();
  /** Values that failed since anything last succeeded. */
  readonly #failing = new Map<string, () => void>();
  #gate: Pause | undefined;
  #throttles = 0;
  #throttledSince: number | undefined;
  #tokens: number = numbers.budgetTokens;
  #outage: Outage | undefined;
  #ramp = Number.POSITIVE_INFINITY;
  #inFlight = 0;
  #unsent = 0;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;
  #pauses = 0;
  #pausedMs = 0;
  #pausedSince: number | undefined;

  constructor(options: TrafficOptions) {
    this.#options = options;
  }

  /** Which of these may be sent now, at most `most`, in order. */
  admit<T extends Candidate>(waiting: readonly T[], most: number): T[] {
    const now = this.#options.now();
    this.#openGate(now);
    const admitted: T[] = [];
    let room = Math.min(most, this.#room(now));
    const planned = new Map<Operation, number>();
    for (const candidate of waiting) {
      if (room <= 0) break;
      const more = planned.get(candidate.operation) ?? 0;
      if (!this.#canaryAllows(candidate.operation, more)) continue;
      planned.set(candidate.operation, more + 1);
      admitted.push(candidate);
      room -= 1;
    }
    return admitted;
  }

  /** A call for this value is on its way. */
  sent({operation, key}: Candidate): void {
    const canary = this.#canary(operation);
    canary.inFlight += 1;
    if (canary.tried.size < numbers.canaryValues) canary.tried.add(key);
    this.#inFlight += 1;
    if (this.#outage !== undefined) this.#outage.probing = true;
  }

  /** What became of it. `forgive` takes back what the attempt counted against its value, should it be an outage. */
  heard(candidate: Candidate, attempt: Attempt, forgive: () => void): void {
    this.#inFlight -= 1;
    this.#canary(candidate.operation).inFlight -= 1;
    const wasProbe = this.#outage?.probing === true;
    if (this.#outage !== undefined) this.#outage.probing = false;
    switch (attempt.kind) {
      case 'answered':
      case 'unreadable':
      case 'rejected':
        this.#succeeded();
        this.#watchCanary(candidate.operation, attempt);
        this.#minds(attempt);
        break;
      case 'throttled':
        this.#throttle(attempt);
        break;
      case 'ambiguous':
        this.#failed(candidate.key, attempt.code, wasProbe, forgive);
        break;
      case 'not_sent':
        this.#unsent += 1;
        if (this.#outage !== undefined) this.#probeFailed(wasProbe);
        else if (this.#unsent >= numbers.unsentStreak) this.#beginOutage(attempt.code);
        break;
      case 'fatal':
        this.stop();
        this.#options.onStop({kind: 'fatal', attempt});
        break;
      default:
        attempt satisfies never;
    }
  }

  /** Nothing more is sent. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#trackPause();
  }

  get inOutage(): boolean {
    return this.#outage !== undefined;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Why nothing is sent at the moment; undefined while something is. */
  get pause(): Pause | undefined {
    if (this.#gate !== undefined && this.#gate.untilMs > this.#options.now()) return this.#gate;
    if (this.#outage === undefined) return undefined;
    return {reason: 'outage', detail: this.#outage.cause, untilMs: this.#outage.nextProbe};
  }

  /** How often and how long everything stood still, in milliseconds. */
  get paused(): {readonly count: number; readonly ms: number} {
    const open = this.#pausedSince === undefined ? 0 : this.#options.now() - this.#pausedSince;
    return {count: this.#pauses, ms: Math.round(this.#pausedMs + open)};
  }

  #room(now: number): number {
    if (this.#stopped || this.#gate !== undefined) return 0;
    if (this.#outage !== undefined) return this.#outage.probing || now < this.#outage.nextProbe ? 0 : 1;
    return this.#ramp - this.#inFlight;
  }

  #canary(operation: Operation): Canary {
    let canary = this.#canaries.get(operation);
    if (canary === undefined) {
      canary = {tried: new Set(), refusedBy: undefined, refusals: 0, answered: false, inFlight: 0};
      this.#canaries.set(operation, canary);
    }
    return canary;
  }

  #canaryAllows(operation: Operation, planned: number): boolean {
    const canary = this.#canary(operation);
    const trusted = canary.answered && canary.tried.size >= numbers.canaryValues;
    const done = canary.tried.size - canary.inFlight;
    if (trusted || done >= numbers.canaryValues) return true;
    return canary.inFlight + planned < numbers.canaryInFlight;
  }

  /** The first values of an operation all refused alike: the settings are wrong, not the values. */
  #watchCanary(operation: Operation, attempt: Attempt): void {
    const canary = this.#canary(operation);
    if (attempt.kind !== 'rejected') {
      canary.answered = true;
      return;
    }
    if (canary.answered || this.#stopped) return;
    canary.refusals = canary.refusedBy === attempt.code ? canary.refusals + 1 : 1;
    canary.refusedBy = attempt.code;
    if (canary.refusals < numbers.canaryValues) return;
    this.stop();
    const credentials = attempt.status === 403 || attempt.code === 'invalid_token';
    this.#options.onStop({kind: 'refused', operation, code: attempt.code, credentials});
  }

  #succeeded(): void {
    this.#failing.clear();
    this.#unsent = 0;
    this.#throttles = 0;
    this.#throttledSince = undefined;
    this.#tokens = Math.min(numbers.budgetTokens, this.#tokens + numbers.budgetPerSuccess);
    if (this.#outage !== undefined) {
      this.#outage = undefined;
      this.#ramp = 2;
      this.#tokens = Math.max(this.#tokens, numbers.budgetTokens / 10);
      this.#opened();
    } else if (this.#ramp !== Number.POSITIVE_INFINITY) {
      this.#ramp = this.#ramp >= LARGEST_RAMP ? Number.POSITIVE_INFINITY : this.#ramp + 1;
      this.#options.onOpen();
    }
  }

  #failed(key: string, cause: string, wasProbe: boolean, forgive: () => void): void {
    this.#unsent = 0;
    if (this.#outage !== undefined) {
      this.#probeFailed(wasProbe);
      return;
    }
    this.#tokens -= 1;
    this.#failing.set(key, forgive);
    if (this.#failing.size >= OUTAGE_VALUES || this.#tokens <= 0) this.#beginOutage(cause);
  }

  #beginOutage(cause: string): void {
    const now = this.#options.now();
    for (const forgive of this.#failing.values()) forgive();
    this.#failing.clear();
    this.#outage = {
      since: now,
      cause,
      probes: 0,
      probing: false,
      nextProbe: now + backoffMs(0, this.#options.random()),
    };
    this.#trackPause();
    this.#wakeAt(this.#outage.nextProbe);
  }

  #probeFailed(wasProbe: boolean): void {
    const outage = this.#outage;
    if (outage === undefined) return;
    const now = this.#options.now();
    if (now - outage.since >= this.#options.maxOutageMs) {
      this.#giveUp({kind: 'outage', cause: outage.cause, sinceMs: outage.since});
      return;
    }
    if (wasProbe) outage.probes += 1;
    // Half the bound at least, so that a probe's luck does not become a storm.
    outage.nextProbe = now + backoffMs(outage.probes, 0.5 + this.#options.random() / 2);
    this.#wakeAt(outage.nextProbe);
  }

  #throttle(attempt: Extract<Attempt, {kind: 'throttled'}>): void {
    const now = this.#options.now();
    const asked = retryAfterMs(attempt.pace, now);
    this.#throttledSince ??= now;
    if (Math.max(asked ?? 0, now - this.#throttledSince) > this.#options.maxOutageMs) {
      const comeBackMs = asked === undefined ? undefined : now + asked;
      this.#giveUp({kind: 'outage', cause: attempt.code, sinceMs: this.#throttledSince, comeBackMs});
      return;
    }
    const untilMs = now + throttleMs(attempt, this.#throttles, now, this.#options.random());
    if (this.#gate === undefined) this.#throttles += 1;
    this.#close({reason: 'throttled', detail: attempt.code, untilMs});
  }

  /** An answer may say that it was the last one for now. */
  #minds(attempt: Extract<Attempt, {status: number; pace?: unknown}>): void {
    if (attempt.pace === undefined) return;
    const now = this.#options.now();
    const quota = quotaOf(attempt.pace, now);
    if (quota === undefined || quota.remaining > 0 || quota.resetMs === 0) return;
    const untilMs = now + Math.min(quota.resetMs, LONGEST_QUOTA_PAUSE_MS);
    this.#close({reason: 'quota', detail: 'no calls left in this window', untilMs});
  }

  #close(gate: Pause): void {
    if (this.#gate !== undefined && this.#gate.untilMs >= gate.untilMs) return;
    this.#gate = gate;
    this.#trackPause();
    this.#wakeAt(gate.untilMs);
  }

  #openGate(now: number): void {
    if (this.#gate === undefined || now < this.#gate.untilMs) return;
    this.#gate = undefined;
    this.#trackPause();
  }

  #giveUp(reason: StopReason): void {
    if (this.#stopped) return;
    this.stop();
    this.#options.onStop(reason);
  }

  #opened(): void {
    this.#trackPause();
    this.#options.onOpen();
  }

  #wakeAt(moment: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#options.onOpen(), Math.max(0, moment - this.#options.now()) + 1);
  }

  #trackPause(): void {
    const closed = !this.#stopped && (this.#gate !== undefined || this.#outage !== undefined);
    const now = this.#options.now();
    if (closed && this.#pausedSince === undefined) {
      this.#pausedSince = now;
      this.#pauses += 1;
    } else if (!closed && this.#pausedSince !== undefined) {
      this.#pausedMs += now - this.#pausedSince;
      this.#pausedSince = undefined;
    }
  }
}

/** After an outage calls in flight grow by one a success; from here on nothing is held back. */
const LARGEST_RAMP = 64;
