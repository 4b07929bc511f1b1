import type {Attempt, PaceHeaders} from '../../client/attempt.ts';
import {INVALID_TOKEN_CODE} from '../../operations/operation.ts';
import {type Operation, operations} from '../../operations/table.ts';
import type {Call, LookupOptions, Pause, StopReason} from '../call.ts';
import {type Blame, policyNumbers as numbers, requestedWaitMs, throttleMs} from '../retry-policy.ts';
import {Canary, type LongRefusalStreak} from './canary.ts';
import {CircuitBreaker, type OpenTasks} from './circuit-breaker.ts';
import {parseQuota} from './pace-headers.ts';

type AttemptThatIs<Kind extends Attempt['kind']> = Extract<Attempt, {readonly kind: Kind}>;

const LONGEST_TIMER_MS = 3_600_000;

/**
 * The state of the service, from the ends of calls: if it throttles, is down ({@link CircuitBreaker}), or refuses
 * everything ({@link Canary}).
 */
export class ServiceHealth {
  readonly breaker: CircuitBreaker;
  readonly #options: LookupOptions;
  readonly #onOpen: () => void;
  readonly #onStop: (reason: StopReason) => void;
  readonly #canaries = new Map<Operation, Canary>();
  /** The last pause for which throttled calls and used-up quotas let nothing leave. It may be over. */
  #throttle: Pause | undefined;
  /** Number of pauses for throttled calls without an answer in between. */
  #throttles = 0;
  /** Time since which the service throttles calls and answers none; undefined while it answers. */
  #throttledSince: number | undefined;
  /** True once the service reported a quota above 0. Before, ignores a 0: some services always report 0. */
  #quotaSeen = false;
  /** True after the first answer, which proves the key. A later `invalid_token` is about a session token. */
  #isKeyAccepted = false;
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;
  #pauses = 0;
  #pausedMs = 0;
  #pausedSince: number | undefined;

  /** `onOpen` is called when calls may be sent again, `onStop` when no call can succeed for now. */
  constructor(
    options: LookupOptions,
    open: OpenTasks,
    onOpen: () => void,
    onStop: (reason: StopReason) => void,
  ) {
    this.#options = options;
    this.#onOpen = onOpen;
    this.#onStop = onStop;
    this.breaker = new CircuitBreaker(options, open);
  }

  /** Number of further calls that may be sent now. */
  room(now: number, inFlight: number): number {
    this.#notePause(now);
    return this.isOpen(now) ? this.breaker.room(now, inFlight) : 0;
  }

  /**
   * False until the throttle opens, and in an outage until the next probe is due. Then `onOpen` is called: it wakes the
   * calls that wait.
   */
  isOpen(now: number): boolean {
    const opensAt = Math.max(this.#throttle?.untilMs ?? 0, this.breaker.current?.nextProbe ?? 0);
    if (opensAt <= now) return true;
    clearTimeout(this.#timer);
    // Node fires a timer at once if its time exceeds 24 days. A timer that is early by the run's clock is set again.
    this.#timer = setTimeout(this.#onOpen, Math.min(opensAt - now + 1, LONGEST_TIMER_MS));
    return false;
  }

  canaryOf(operation: Operation): Canary {
    let canary = this.#canaries.get(operation);
    if (canary === undefined) {
      const {isAnswered, ledger} = this.#options;
      canary = new Canary(() => isAnswered(operation), ledger.tally.refusals[operation]);
      this.#canaries.set(operation, canary);
    }
    return canary;
  }

  /** Notes the end of a call. `isKnown`: see {@link Canary.ended}. Returns who is to blame if it failed. */
  ended({operation, key, params}: Call, attempt: Attempt, isKnown: boolean, now: number): Blame {
    const value = params[operations[operation].field] ?? '';
    const streak = this.canaryOf(operation).ended(attempt, value, isKnown);
    this.#isKeyAccepted ||= attempt.kind === 'answered';
    const blame = this.#judge(key, attempt, now);
    if (streak !== undefined) this.#refused(operation, streak);
    const outage = this.breaker.overdue(now);
    if (outage !== undefined) this.#giveUpFor(outage.cause, outage.since, 'too long');
    this.#notePause(now);
    return blame;
  }

  /** Stops the timer while no call waits, so that a process whose rows are all done can end. */
  rest(): void {
    clearTimeout(this.#timer);
  }

  /** Ends the run in an outage in which no value has a send left: no call can test if it is over. */
  endWithoutResends(): void {
    const outage = this.breaker.current;
    if (outage !== undefined) this.#giveUpFor(outage.cause, outage.since, 'no resends');
  }

  stop(): void {
    this.#isStopped = true;
    this.rest();
    this.#notePause(this.#options.now());
  }

  /** The reason to send nothing now; undefined while sending. */
  get pause(): Pause | undefined {
    const outage = this.breaker.current;
    return (
      this.#throttleAt(this.#options.now()) ??
      (outage && {reason: 'outage', detail: outage.cause, untilMs: outage.nextProbe})
    );
  }

  report() {
    const now = this.#options.now();
    const open = this.#pausedSince === undefined ? 0 : now - this.#pausedSince;
    return {pause: this.pause, pauses: this.#pauses, pausedMs: Math.round(this.#pausedMs + open)};
  }

  #throttleAt(now: number): Pause | undefined {
    return this.#throttle !== undefined && now < this.#throttle.untilMs ? this.#throttle : undefined;
  }

  #judge(key: string, attempt: Attempt, now: number): Blame {
    switch (attempt.kind) {
      case 'answered':
      case 'unreadable':
      case 'rejected':
        this.breaker.succeeded();
        this.#throttles = 0;
        this.#throttledSince = undefined;
        if (attempt.pace !== undefined) this.#observeQuota(attempt.pace, now);
        return 'value';
      case 'throttled':
        this.breaker.inconclusive(key);
        this.#throttled(attempt, now);
        return 'value';
      case 'ambiguous':
        // If a fleet's worker was lost with the call, the service is not to blame.
        if (attempt.lost !== true) return this.breaker.failed(key, attempt, now);
        this.breaker.inconclusive(key);
        return 'value';
      case 'not_sent':
        if (attempt.closedMs === undefined) return this.breaker.notSent(key, attempt.code, now);
        // The call did not fail: a fleet's worker gave it back.
        this.breaker.inconclusive(key);
        this.#close('throttled', attempt.code, now + attempt.closedMs);
        return 'service';
      case 'fatal':
        // Also of a run that sends nothing new: the value stays open.
        this.#onStop({kind: 'fatal', attempt});
        return 'value';
      default:
        return attempt satisfies never;
    }
  }

  #refused(operation: Operation, streak: LongRefusalStreak): void {
    const {events, mayAllFail} = this.#options;
    if (streak.isNew) events.refused(operation, streak);
    if (streak.isKnownToAnswer && (streak.count < numbers.longestRefusalStreak || mayAllFail === true))
      return;
    // Once the key was accepted, `invalid_token` is about a session token, and not about the key.
    const credentials = streak.credentials && !(streak.code === INVALID_TOKEN_CODE && this.#isKeyAccepted);
    this.#giveUp({kind: 'refused', operation, streak: {...streak, credentials}});
  }

  /** Lets nothing leave for a while, or ends the run if the service throttles for longer than an outage may last. */
  #throttled(attempt: AttemptThatIs<'throttled'>, now: number): void {
    const {maxOutageMs, random} = this.#options;
    this.#throttledSince ??= this.breaker.current?.since ?? now;
    const sinceMs = this.#throttledSince;
    const {code: cause} = attempt;
    const asked = requestedWaitMs(attempt, now);
    if (asked !== undefined && asked > maxOutageMs)
      this.#giveUp({kind: 'outage', cause, sinceMs, comeBackMs: now + asked, why: 'asked'});
    else if (now - sinceMs > maxOutageMs) this.#giveUpFor(cause, sinceMs, 'too long');
    else {
      const isNew = this.#throttleAt(now) === undefined;
      this.#close('throttled', cause, now + throttleMs(asked, this.#throttles, random()));
      // However many calls are throttled at once, they are one pause.
      if (isNew) this.#throttles += 1;
    }
  }

  /** Lets nothing leave if the calls in flight use up the quota that an answer reported. */
  #observeQuota(pace: PaceHeaders, now: number): void {
    const quota = parseQuota(pace, now);
    if (quota === undefined) return;
    const believed = this.#quotaSeen;
    this.#quotaSeen ||= quota.remaining > 0;
    // The call that ended is not booked yet.
    if (!believed || quota.remaining >= this.#options.ledger.inFlight) return;
    const untilMs = now + Math.min(quota.resetMs, numbers.quotaPauseMs);
    this.#close('quota', 'no calls left in this window', untilMs);
  }

  #close(reason: Pause['reason'], detail: string, untilMs: number): void {
    if ((this.#throttle?.untilMs ?? 0) < untilMs) this.#throttle = {reason, detail, untilMs};
  }

  /** Stops sending. Advises the user to wait as long as the outage has lasted, and at least `comeBackAfterMs`. */
  #giveUpFor(cause: string, sinceMs: number, why: 'too long' | 'no resends'): void {
    const now = this.#options.now();
    const comeBackMs = now + Math.max(now - sinceMs, numbers.comeBackAfterMs);
    this.#giveUp({kind: 'outage', cause, sinceMs, comeBackMs, why});
  }

  #giveUp(reason: StopReason): void {
    if (this.#isStopped) return;
    this.stop();
    this.#onStop(reason);
  }

  /** Counts a pause at its beginning, and its time at its end. */
  #notePause(now: number): void {
    const pauses =
      !this.#isStopped && (this.#throttleAt(now) !== undefined || this.breaker.current !== undefined);
    if (pauses && this.#pausedSince === undefined) {
      this.#pausedSince = now;
      this.#pauses += 1;
    } else if (!pauses && this.#pausedSince !== undefined) {
      this.#pausedMs += now - this.#pausedSince;
      this.#pausedSince = undefined;
    }
  }
}
