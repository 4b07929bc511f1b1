import type {Attempt, PaceHeaders} from '../../client/attempt.ts';
import {askedMs, policyNumbers as numbers, throttleMs} from '../policy.ts';
import {quotaOf} from './pace-headers.ts';
import type {Pause} from './pause.ts';

/** While this gate is closed, no call is sent. A throttled call or a used-up quota closes it. */
export class ThrottleGate {
  readonly #random: () => number;
  #pause: Pause | undefined;
  /** Number of times the gate closed for throttled calls, without an answer in between. */
  #streak = 0;
  /** True once a quota above 0 was reported. Until then 0 is not believed: the service may always report 0. */
  #quotaSeen = false;
  /** Time since which the service has throttled calls and answered none; undefined while it answers. */
  throttledSince: number | undefined;

  constructor(random: () => number) {
    this.#random = random;
  }

  /**
   * The reason why the gate is closed, and until when. Undefined once {@link reopen} finds that this time is over.
   */
  get pause(): Pause | undefined {
    return this.#pause;
  }

  reopen(now: number): void {
    if (this.#pause !== undefined && now >= this.#pause.untilMs) this.#pause = undefined;
  }

  close(pause: Pause): void {
    if (this.#pause === undefined || this.#pause.untilMs < pause.untilMs) this.#pause = pause;
  }

  succeeded(): void {
    this.#streak = 0;
    this.throttledSince = undefined;
  }

  throttled(attempt: Extract<Attempt, {kind: 'throttled'}>, now: number): void {
    const untilMs = now + throttleMs(askedMs(attempt, now), this.#streak, this.#random());
    if (this.#pause === undefined) this.#streak += 1;
    this.close({reason: 'throttled', detail: attempt.code, untilMs});
  }

  /** Closes the gate if the calls in flight use up the quota that an answer reports. */
  observeQuota(pace: PaceHeaders, inFlight: number, now: number): void {
    const quota = quotaOf(pace, now);
    if (quota === undefined) return;
    const believed = this.#quotaSeen;
    this.#quotaSeen ||= quota.remaining > 0;
    if (!believed || quota.remaining > inFlight || quota.resetMs === 0) return;
    const untilMs = now + Math.min(quota.resetMs, numbers.quotaPauseMs);
    this.close({reason: 'quota', detail: 'no calls left in this window', untilMs});
  }
}
