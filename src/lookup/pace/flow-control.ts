import type {Attempt} from '../../client/attempt.ts';
import type {LookupKey} from '../../ledger/lookup.ts';
import type {RefusalTally} from '../../ledger/tally.ts';
import {INVALID_TOKEN} from '../../operations/operation.ts';
import {type Operation, operations} from '../../operations/table.ts';
import {type Call, isKnownRejection} from '../call.ts';
import {askedMs, type Blame, policyNumbers as numbers} from '../policy.ts';
import {Canary, type Streak} from './canary.ts';
import {type BreakerOptions, CircuitBreaker, type Outage, type ProbeCandidate} from './circuit-breaker.ts';
import {InFlight} from './in-flight.ts';
import {type Pause, PauseLog, type StopReason} from './pause.ts';
import {ThrottleGate} from './throttle-gate.ts';

export interface FlowControlOptions extends BreakerOptions {
  /** True if refused values never end the run, however many come in a row. */
  readonly mayAllFail?: boolean | undefined;
  /** True if an answer of this operation is known, from this run or an earlier one. */
  readonly isAnswered: (operation: Operation) => boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** True if there are unsettled values, and an outage holds all of them. */
  readonly areHeld: () => boolean;
  /** Maximum calls in flight, of all operations together. */
  readonly slots: () => number;
  readonly refusals: (operation: Operation) => RefusalTally;
  /** Called when calls may be sent again. */
  readonly onOpen: () => void;
  readonly onStop: (reason: StopReason) => void;
  /**
   * Called once per session and streak, when so many values in a row were refused that the values are not to blame.
   */
  readonly onStreak: (operation: Operation, streak: Streak) => void;
}

const LONGEST_TIMER_MS = 3_600_000;

type AttemptThatIs<Kind extends Attempt['kind']> = Extract<Attempt, {readonly kind: Kind}>;

/** Decides what may be sent now. {@link ThrottleGate}, {@link CircuitBreaker} and {@link Canary} may delay calls. */
export class FlowControl {
  readonly #options: FlowControlOptions;
  readonly #canaries = new Map<Operation, Canary>();
  readonly #breaker: CircuitBreaker;
  readonly #throttle: ThrottleGate;
  readonly #pauses = new PauseLog();
  readonly inFlight: InFlight;
  /** True after the first answer, which proves the key. A later `invalid_token` is about a session token. */
  #isKeyAccepted = false;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FlowControlOptions) {
    this.#options = options;
    this.inFlight = new InFlight(options.now());
    this.#breaker = new CircuitBreaker(options);
    this.#throttle = new ThrottleGate(options.random);
  }

  /** Returns up to `most` of the waiting calls, in their order, that may leave now. */
  admit<T extends ProbeCandidate & LookupKey>(waiting: readonly T[], most: number): T[] {
    const now = this.#options.now();
    this.#throttle.reopen(now);
    this.#notePause(now);
    let room = Math.min(most, this.#room(now));
    if (room <= 0) {
      if (waiting.length > 0 && this.#timer === undefined && this.#opensAt > now) this.#wakeLater(now);
      return [];
    }
    const admitted: T[] = [];
    const planned = new Map<Operation, number>();
    for (const call of this.#breaker.candidates(waiting)) {
      if (room <= 0) break;
      const {operation} = call;
      const more = planned.get(operation) ?? 0;
      if (!this.#canary(operation).allows(more)) continue;
      planned.set(operation, more + 1);
      admitted.push(call);
      room -= 1;
    }
    return admitted;
  }

  sent({operation, key}: LookupKey): void {
    this.#canary(operation).sent();
    this.#breaker.sent(key);
    this.inFlight.sent(this.#options.now());
  }

  /** Notes the end of a call. Returns who is to blame if it failed. */
  ended(call: Call, attempt: Attempt): Blame {
    const {operation, key, params} = call;
    const now = this.#options.now();
    this.inFlight.ended(now);
    const value = params[operations[operation].field] ?? '';
    const streak = this.#canary(operation).ended(attempt, value, isKnownRejection(call, attempt));
    this.#isKeyAccepted ||= attempt.kind === 'answered';
    let blame: Blame = 'value';
    switch (attempt.kind) {
      case 'answered':
      case 'unreadable':
      case 'rejected':
        this.#breaker.succeeded();
        this.#throttle.succeeded();
        this.#throttle.observeQuota(attempt.pace ?? {limits: {}}, this.inFlight.count, now);
        if (streak !== undefined) this.#refused(operation, streak);
        break;
      case 'throttled':
        this.#breaker.inconclusive(key);
        this.#onThrottled(attempt, now);
        break;
      case 'ambiguous':
        blame = this.#ambiguous(key, attempt, now);
        break;
      case 'not_sent':
        blame = this.#notSent(key, attempt, now);
        break;
      case 'fatal':
        this.#giveUp({kind: 'fatal', attempt});
        break;
      default:
        attempt satisfies never;
    }
    this.#giveUpWhenOverdue(now);
    this.#wakeLater(now);
    return blame;
  }

  /** Notes that the value needs no more calls. */
  settled(key: string): void {
    this.#breaker.settled(key);
    this.rest();
  }

  /** Stops the timers while no call waits, so that a process whose rows are all done can end. */
  rest(): void {
    if (this.#options.unsettled.count === 0) this.#sleep();
  }

  /** Ends the run if all remaining values have used up their sends in an outage: no call can test if it is over. */
  endWithoutResends(): void {
    const outage = this.#breaker.current;
    if (this.#options.areHeld() && outage !== undefined)
      this.#giveUpFor(outage, this.#options.now(), 'no resends');
  }

  stop(): void {
    this.#stopped = true;
    this.#sleep();
    this.#notePause(this.#options.now());
  }

  /** True if all remaining values have failed since the last success. */
  get onlyFailingLeft(): boolean {
    return this.#breaker.onlyFailingLeft;
  }

  /** True while an outage lasts: only probes are sent. */
  get isOutage(): boolean {
    return this.#breaker.current !== undefined;
  }

  /** The reason to send nothing now; undefined while sending. */
  get pause(): Pause | undefined {
    const {pause} = this.#throttle;
    if (pause !== undefined && pause.untilMs > this.#options.now()) return pause;
    const outage = this.#breaker.current;
    return outage && {reason: 'outage', detail: outage.cause, untilMs: outage.nextProbe};
  }

  report() {
    const now = this.#options.now();
    const {count: pauses, ms: pausedMs} = this.#pauses.total(now);
    return {
      inFlight: this.inFlight.count,
      inFlightMs: this.inFlight.msUntil(now),
      pause: this.pause,
      pauses,
      pausedMs,
    };
  }

  #room(now: number): number {
    if (this.#stopped || this.#throttle.pause !== undefined) return 0;
    const {count} = this.inFlight;
    return Math.min(this.#options.slots() - count, this.#breaker.room(now, count));
  }

  #canary(operation: Operation): Canary {
    let canary = this.#canaries.get(operation);
    if (canary === undefined) {
      const {isAnswered, refusals} = this.#options;
      canary = new Canary(() => isAnswered(operation), refusals(operation));
      this.#canaries.set(operation, canary);
    }
    return canary;
  }

  #refused(operation: Operation, streak: Streak): void {
    const {count, isNew, isKnownToAnswer} = streak;
    if (isNew) this.#options.onStreak(operation, streak);
    if (isKnownToAnswer && (count < numbers.longestRefusalStreak || this.#options.mayAllFail === true))
      return;
    // Once the key was accepted, `invalid_token` is about a session token, and not about the key.
    const credentials = streak.credentials && !(streak.code === INVALID_TOKEN && this.#isKeyAccepted);
    this.#giveUp({kind: 'refused', operation, streak: {...streak, credentials}});
  }

  /** Notes a call without an answer. If a fleet's worker was lost with it, the service is not to blame. */
  #ambiguous(key: string, attempt: AttemptThatIs<'ambiguous'>, now: number): Blame {
    if (attempt.lost !== true) return this.#breaker.failed(key, attempt, now);
    this.#breaker.inconclusive(key);
    return 'value';
  }

  /** Notes an unsent call. If a fleet's worker gave it back (`closedMs` is set), the call did not fail. */
  #notSent(key: string, {code, closedMs}: AttemptThatIs<'not_sent'>, now: number): Blame {
    if (closedMs === undefined) return this.#breaker.notSent(key, code, now);
    this.#breaker.inconclusive(key);
    if (closedMs > 0) this.#throttle.close({reason: 'throttled', detail: code, untilMs: now + closedMs});
    return 'service';
  }

  #onThrottled(attempt: AttemptThatIs<'throttled'>, now: number): void {
    this.#throttle.throttledSince ??= this.#breaker.current?.since ?? now;
    const sinceMs = this.#throttle.throttledSince;
    const asked = askedMs(attempt, now);
    if (Math.max(asked ?? 0, now - sinceMs) <= this.#options.maxOutageMs) {
      this.#throttle.throttled(attempt, now);
      return;
    }
    const cause = attempt.code;
    if (asked === undefined || asked <= this.#options.maxOutageMs)
      this.#giveUpFor({cause, since: sinceMs}, now, 'too long');
    else this.#giveUp({kind: 'outage', cause, sinceMs, comeBackMs: now + asked, why: 'asked'});
  }

  #giveUpWhenOverdue(now: number): void {
    const outage = this.#breaker.overdue(now);
    if (outage !== undefined) this.#giveUpFor(outage, now, 'too long');
  }

  /** Stops sending. Advises the user to wait as long as the outage has lasted, and at least `comeBackAfterMs`. */
  #giveUpFor(
    {cause, since: sinceMs}: Pick<Outage, 'cause' | 'since'>,
    now: number,
    why: 'too long' | 'no resends',
  ): void {
    const comeBackMs = now + Math.max(now - sinceMs, numbers.comeBackAfterMs);
    this.#giveUp({kind: 'outage', cause, sinceMs, comeBackMs, why});
  }

  #giveUp(reason: StopReason): void {
    if (this.#stopped) return;
    this.stop();
    this.#options.onStop(reason);
  }

  /** Sets a timer that wakes waiting calls once they may leave. Replaces an earlier timer. */
  #wakeLater(now: number): void {
    this.#notePause(now);
    this.#sleep();
    if (this.#stopped) return;
    const opens = this.#opensAt;
    // Node fires a timer at once if its time exceeds 24 days.
    const waitMs = Math.min(Math.max(0, opens - now) + 1, LONGEST_TIMER_MS);
    if (opens > 0) this.#timer = setTimeout(() => this.#wake(opens), waitMs);
  }

  #sleep(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Time at which the gate opens or the next probe is due, whichever is later; 0 if calls may be sent. */
  get #opensAt(): number {
    return Math.max(this.#throttle.pause?.untilMs ?? 0, this.#breaker.current?.nextProbe ?? 0);
  }

  /** Wakes waiting calls. If the timer fired early by the clock of the run, sets it again instead. */
  #wake(opens: number): void {
    this.#timer = undefined;
    const now = this.#options.now();
    if (now < opens) this.#wakeLater(now);
    else this.#options.onOpen();
  }

  #notePause(now: number): void {
    const standsStill = this.#throttle.pause !== undefined || this.#breaker.current !== undefined;
    this.#pauses.note(!this.#stopped && standsStill, now);
  }
}
