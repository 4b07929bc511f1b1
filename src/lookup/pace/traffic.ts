import type {Attempt} from '../../client/attempt.ts';
import type {Operation} from '../../operations/table.ts';
import {askedMs, type Counting, policyNumbers as numbers, throttleMs} from '../policy.ts';
import {Canary} from './canary.ts';
import {type Forgive, OutageWatch} from './outage.ts';
import {quotaOf} from './pace-headers.ts';

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
      /** When it makes sense to try again, in milliseconds since the epoch. */
      readonly comeBackMs: number;
      /** Whether the service itself said so. */
      readonly asked: boolean;
    };

/** Why nothing is sent at the moment. */
export interface Pause {
  readonly reason: 'throttled' | 'quota' | 'outage' | 'fleet';
  readonly detail: string;
  /** When it ends, or is tried again, in milliseconds since the epoch. */
  readonly untilMs: number;
}

export interface TrafficOptions {
  readonly maxOutageMs: number;
  /** Calls in flight at most, of all operations together. */
  readonly slots: () => number;
  /** Values that are not settled yet; infinity while more of them wait outside. */
  readonly pending: () => number;
  /** Whether an answer of this operation is known from before, in this run or an earlier one. */
  readonly isAnswered: (operation: Operation) => boolean;
  readonly now: () => number;
  readonly random: () => number;
  /** Something may be sent that could not be before. */
  readonly onOpen: () => void;
  readonly onStop: (reason: StopReason) => void;
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
  readonly #outages: OutageWatch;
  #gate: Pause | undefined;
  #throttles = 0;
  #throttledSince: number | undefined;
  /** A quota is believed once it was seen to have calls left: one that always reads 0 is no quota. */
  #quotaSeen = false;
  #inFlight = 0;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;
  #pauses = 0;
  #pausedMs = 0;
  #pausedSince: number | undefined;

  constructor(options: TrafficOptions) {
    this.#options = options;
    this.#outages = new OutageWatch(options);
  }

  /** Which of these may be sent now, at most `most`, in order. */
  admit<T extends Candidate>(waiting: readonly T[], most: number): T[] {
    const now = this.#options.now();
    this.#openGate(now);
    const admitted: T[] = [];
    let room = Math.min(most, this.#room(now));
    if (room <= 0) return admitted;
    const planned = new Map<Operation, number>();
    for (const candidate of this.#outages.pick(waiting)) {
      if (room <= 0) break;
      const more = planned.get(candidate.operation) ?? 0;
      if (!this.#canary(candidate.operation).allows(more)) continue;
      planned.set(candidate.operation, more + 1);
      admitted.push(candidate);
      room -= 1;
    }
    return admitted;
  }

  /** A call for this value is on its way. */
  sent({operation, key}: Candidate): void {
    this.#canary(operation).sent(key);
    this.#outages.sent(key);
    this.#inFlight += 1;
  }

  /**
   * What became of it, and with that how a failure counts. `forgive` takes back attempts that counted against the
   * value, should it turn out to be an outage.
   */
  heard({operation, key}: Candidate, attempt: Attempt, forgive: Forgive): Counting {
    this.#inFlight -= 1;
    const refusedBy = this.#canary(operation).heard(attempt);
    const now = this.#options.now();
    let counting: Counting = 'counts';
    switch (attempt.kind) {
      case 'answered':
      case 'unreadable':
      case 'rejected':
        this.#succeeded();
        this.#minds(attempt, now);
        if (refusedBy !== undefined) this.#refuse(operation, attempt, refusedBy);
        break;
      case 'throttled':
        this.#outages.neither(key);
        this.#throttle(attempt, now);
        break;
      case 'ambiguous':
        if (attempt.lost === true) counting = this.#lost(key);
        else counting = this.#outages.failed(key, attempt, now, forgive);
        break;
      case 'not_sent':
        if (attempt.heldMs !== undefined) this.#held(key, attempt.code, now + attempt.heldMs);
        else this.#outages.unsent(key, attempt.code, now, forgive);
        break;
      case 'fatal':
        this.#giveUp({kind: 'fatal', attempt});
        break;
      default:
        attempt satisfies never;
    }
    this.#giveUpWhenOverdue(now);
    this.#changed();
    return counting;
  }

  /** Nothing more is asked about this value. */
  settled(key: string): void {
    this.#outages.settled(key);
  }

  /** Nothing more is sent. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#trackPause();
  }

  /** Whether every value that is left has failed since anything succeeded. */
  get alone(): boolean {
    return this.#outages.alone;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Why nothing is sent at the moment; undefined while something is. */
  get pause(): Pause | undefined {
    if (this.#gate !== undefined && this.#gate.untilMs > this.#options.now()) return this.#gate;
    const outage = this.#outages.current;
    return outage && {reason: 'outage', detail: outage.cause, untilMs: outage.nextProbe};
  }

  /** How often and how long everything stood still, in milliseconds. */
  get paused(): {readonly count: number; readonly ms: number} {
    const open = this.#pausedSince === undefined ? 0 : this.#options.now() - this.#pausedSince;
    return {count: this.#pauses, ms: Math.round(this.#pausedMs + open)};
  }

  #room(now: number): number {
    if (this.#stopped || this.#gate !== undefined) return 0;
    return Math.min(this.#options.slots() - this.#inFlight, this.#outages.room(now, this.#inFlight));
  }

  #canary(operation: Operation): Canary {
    let canary = this.#canaries.get(operation);
    if (canary === undefined) {
      canary = new Canary(() => this.#options.isAnswered(operation));
      this.#canaries.set(operation, canary);
    }
    return canary;
  }

  #refuse(operation: Operation, attempt: Extract<Attempt, {status: number}>, code: string): void {
    const credentials = attempt.status === 403 || code === 'invalid_token';
    this.#giveUp({kind: 'refused', operation, code, credentials});
  }

  #succeeded(): void {
    this.#outages.succeeded();
    this.#throttles = 0;
    this.#throttledSince = undefined;
  }

  /** Whoever lost it, it was not the service and not the value. */
  #lost(key: string): Counting {
    this.#outages.neither(key);
    return 'forgiven';
  }

  /** A worker was not let through by the fleet's gate, or is about to go. */
  #held(key: string, code: string, untilMs: number): void {
    this.#outages.neither(key);
    if (untilMs > this.#options.now()) this.#close({reason: 'throttled', detail: code, untilMs});
  }

  #throttle(attempt: Extract<Attempt, {kind: 'throttled'}>, now: number): void {
    const asked = askedMs(attempt, now);
    this.#throttledSince ??= this.#outages.current?.since ?? now;
    const sinceMs = this.#throttledSince;
    if (Math.max(asked ?? 0, now - sinceMs) > this.#options.maxOutageMs) {
      this.#giveUp({
        kind: 'outage',
        cause: attempt.code,
        sinceMs,
        comeBackMs: now + (asked ?? now - sinceMs),
        asked: asked !== undefined,
      });
      return;
    }
    const untilMs = now + throttleMs(asked, this.#throttles, this.#options.random());
    if (this.#gate === undefined) this.#throttles += 1;
    this.#close({reason: 'throttled', detail: attempt.code, untilMs});
  }

  /** An answer may say that there are no more calls left than are under way already. */
  #minds(attempt: Extract<Attempt, {status: number; pace?: unknown}>, now: number): void {
    const quota = attempt.pace === undefined ? undefined : quotaOf(attempt.pace, now);
    if (quota === undefined) return;
    const believed = this.#quotaSeen;
    this.#quotaSeen ||= quota.remaining > 0;
    if (!believed || quota.remaining > this.#inFlight || quota.resetMs === 0) return;
    const untilMs = now + Math.min(quota.resetMs, numbers.quotaPauseMs);
    this.#close({reason: 'quota', detail: 'no calls left in this window', untilMs});
  }

  #close(gate: Pause): void {
    if (this.#gate === undefined || this.#gate.untilMs < gate.untilMs) this.#gate = gate;
  }

  #openGate(now: number): void {
    if (this.#gate === undefined || now < this.#gate.untilMs) return;
    this.#gate = undefined;
    this.#trackPause();
  }

  /** As long again as it has lasted is when to come back: the next step of a backoff that began with the outage. */
  #giveUpWhenOverdue(now: number): void {
    const outage = this.#outages.overdue(now);
    if (outage === undefined) return;
    const {cause, since} = outage;
    this.#giveUp({
      kind: 'outage',
      cause,
      sinceMs: since,
      comeBackMs: now + Math.max(now - since, numbers.backoffCapMs),
      asked: false,
    });
  }

  #giveUp(reason: StopReason): void {
    if (this.#stopped) return;
    this.stop();
    this.#options.onStop(reason);
  }

  /** Whoever waits is woken when the gate opens and the next probe is due, whichever is later. */
  #changed(): void {
    this.#trackPause();
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    const opens = Math.max(this.#gate?.untilMs ?? 0, this.#outages.current?.nextProbe ?? 0);
    const wait = opens - this.#options.now();
    if (opens > 0) this.#timer = setTimeout(() => this.#woken(opens), Math.max(0, wait) + 1);
  }

  /** Timers may come early, by the clock that counts here. */
  #woken(opens: number): void {
    if (this.#options.now() < opens) this.#changed();
    else this.#options.onOpen();
  }

  #trackPause(): void {
    const closed = !this.#stopped && (this.#gate !== undefined || this.#outages.current !== undefined);
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
