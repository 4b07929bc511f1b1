import type {Attempt, PaceHeaders} from '../../client/attempt.ts';
import {askedMs, policyNumbers as numbers, throttleMs} from '../policy.ts';
import {quotaOf} from './pace-headers.ts';
import type {Pause} from './pause.ts';

/** While this gate is closed, no call is sent. Throttled calls and used-up quotas close it. */
export class ThrottleGate {
  readonly #random: () => number;
  #pause: Pause | undefined;
  /** Number of times that throttled calls closed the gate, without an answer in between. */
  #streak = 0;
  /** True once the service reported a quota above 0. Before, ignores a 0: some services always report 0. */
  #quotaSeen = false;
  /** Time since which the service throttles calls and answers none; undefined while it answers. */
  throttledSince: number | undefined;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Why and until when the gate is closed. Undefined once {@link reopen} finds that this time is over. */
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

  /** Closes the gate if the calls in flight use up the quota that an answer reported. */
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
