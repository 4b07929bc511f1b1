import type {Attempt} from '../../client/attempt.ts';
import type {RefusalTally} from '../../ledger/run/tally.ts';
import {INVALID_TOKEN} from '../../operations/operation.ts';
import {type Operation, operations} from '../../operations/table.ts';
import {type Call, isKnownRejection} from '../call.ts';
import {askedMs, type Blame, policyNumbers as numbers} from '../policy.ts';
import {Canary, type Streak} from './canary.ts';
import {type BreakerOptions, CircuitBreaker, type Outage} from './circuit-breaker.ts';
import {type Pause, PauseLog, type StopReason} from './pause.ts';
import {ThrottleGate} from './throttle-gate.ts';

export interface ServiceHealthOptions extends BreakerOptions {
  /** True if refused values never end the run, however many come in a row. */
  readonly mayAllFail?: boolean | undefined;
  /** True if an answer of this operation is known, from this run or an earlier one. */
  readonly isAnswered: (operation: Operation) => boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly refusals: (operation: Operation) => RefusalTally;
  /** Called when calls may be sent again. */
  readonly onOpen: () => void;
  /** Called when no call can succeed for now. */
  readonly onStop: (reason: StopReason) => void;
  /** Called once per session and streak, when so many values were refused in a row that they are not to blame. */
  readonly onStreak: (operation: Operation, streak: Streak) => void;
}

const LONGEST_TIMER_MS = 3_600_000;

type AttemptThatIs<Kind extends Attempt['kind']> = Extract<Attempt, {readonly kind: Kind}>;

/** The state of the service, from the ends of calls. {@link ThrottleGate}, {@link CircuitBreaker} and {@link Canary} decide. */
export class ServiceHealth {
  readonly breaker: CircuitBreaker;
  readonly #options: ServiceHealthOptions;
  readonly #canaries = new Map<Operation, Canary>();
  readonly #throttle: ThrottleGate;
  readonly #pauses = new PauseLog();
  /** True after the first answer, which proves the key. A later `invalid_token` is about a session token. */
  #isKeyAccepted = false;
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ServiceHealthOptions) {
    this.#options = options;
    this.breaker = new CircuitBreaker(options);
    this.#throttle = new ThrottleGate(options.random);
  }

  /** Number of further calls that may be sent now. If it is 0, wakes the waiting calls later. */
  room(now: number, inFlight: number): number {
    this.#throttle.reopen(now);
    this.#notePause(now);
    const room = this.#throttle.pause === undefined ? this.breaker.room(now, inFlight) : 0;
    if (room <= 0 && this.#timer === undefined && this.#opensAt > now) this.#wakeLater(now);
    return room;
  }

  canaryOf(operation: Operation): Canary {
    let canary = this.#canaries.get(operation);
    if (canary === undefined) {
      const {isAnswered, refusals} = this.#options;
      canary = new Canary(() => isAnswered(operation), refusals(operation));
      this.#canaries.set(operation, canary);
    }
    return canary;
  }

  /** Notes the end of a call. `inFlight`: number of the others. Returns who is to blame if it failed. */
  ended(call: Call, attempt: Attempt, now: number, inFlight: number): Blame {
    const {operation, params} = call;
    const value = params[operations[operation].field] ?? '';
    const streak = this.canaryOf(operation).ended(attempt, value, isKnownRejection(call, attempt));
    this.#isKeyAccepted ||= attempt.kind === 'answered';
    const blame = this.#judge(call, attempt, now, inFlight);
    if (streak !== undefined) this.#refused(operation, streak);
    const outage = this.breaker.overdue(now);
    if (outage !== undefined) this.#giveUpFor(outage, now, 'too long');
    this.#wakeLater(now);
    return blame;
  }

  /** Stops the timer while no call waits, so that a process whose rows are all done can end. */
  rest(): void {
    if (this.#options.unsettled.count === 0) this.#sleep();
  }

  /** Ends the run in an outage in which no value has a send left: no call can test if it is over. */
  endWithoutResends(): void {
    const outage = this.breaker.current;
    if (outage !== undefined) this.#giveUpFor(outage, this.#options.now(), 'no resends');
  }

  stop(): void {
    this.#isStopped = true;
    this.#sleep();
    this.#notePause(this.#options.now());
  }

  /** The reason to send nothing now; undefined while sending. */
  get pause(): Pause | undefined {
    const {pause} = this.#throttle;
    if (pause !== undefined && pause.untilMs > this.#options.now()) return pause;
    const outage = this.breaker.current;
    return outage && {reason: 'outage', detail: outage.cause, untilMs: outage.nextProbe};
  }

  report() {
    const {count: pauses, ms: pausedMs} = this.#pauses.total(this.#options.now());
    return {pause: this.pause, pauses, pausedMs};
  }

  #judge({key}: Call, attempt: Attempt, now: number, inFlight: number): Blame {
    switch (attempt.kind) {
      case 'answered':
      case 'unreadable':
      case 'rejected':
        this.breaker.succeeded();
        this.#throttle.succeeded();
        this.#throttle.observeQuota(attempt.pace ?? {limits: {}}, inFlight, now);
        return 'value';
      case 'throttled':
        this.breaker.inconclusive(key);
        this.#onThrottled(attempt, now);
        return 'value';
      case 'ambiguous':
        // If a fleet's worker was lost with the call, the service is not to blame.
        if (attempt.lost !== true) return this.breaker.failed(key, attempt, now);
        this.breaker.inconclusive(key);
        return 'value';
      case 'not_sent':
        return this.#notSent(key, attempt, now);
      case 'fatal':
        this.#giveUp({kind: 'fatal', attempt});
        return 'value';
      default:
        return attempt satisfies never;
    }
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

  /** Notes an unsent call. If a fleet's worker gave it back (`closedMs` is set), the call did not fail. */
  #notSent(key: string, {code, closedMs}: AttemptThatIs<'not_sent'>, now: number): Blame {
    if (closedMs === undefined) return this.breaker.notSent(key, code, now);
    this.breaker.inconclusive(key);
    if (closedMs > 0) this.#throttle.close({reason: 'throttled', detail: code, untilMs: now + closedMs});
    return 'service';
  }

  #onThrottled(attempt: AttemptThatIs<'throttled'>, now: number): void {
    this.#throttle.throttledSince ??= this.breaker.current?.since ?? now;
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
    if (this.#isStopped) return;
    this.stop();
    this.#options.onStop(reason);
  }

  /** Sets a timer that wakes waiting calls once they may leave. Replaces an earlier timer. */
  #wakeLater(now: number): void {
    this.#notePause(now);
    this.#sleep();
    const opens = this.#opensAt;
    if (this.#isStopped || opens === 0) return;
    // Node fires a timer at once if its time exceeds 24 days.
    const waitMs = Math.min(Math.max(0, opens - now) + 1, LONGEST_TIMER_MS);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const time = this.#options.now();
      // The timer may fire early by the clock of the run.
      if (time < opens) this.#wakeLater(time);
      else this.#options.onOpen();
    }, waitMs);
  }

  #sleep(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Time at which the throttle opens or the next probe is due, whichever is later; 0 if calls may be sent. */
  get #opensAt(): number {
    return Math.max(this.#throttle.pause?.untilMs ?? 0, this.breaker.current?.nextProbe ?? 0);
  }

  #notePause(now: number): void {
    const standsStill = this.#throttle.pause !== undefined || this.breaker.current !== undefined;
    this.#pauses.note(!this.#isStopped && standsStill, now);
  }
}
