import type {Rate} from '../../job/values.ts';

/** The numbers of CUBIC (RFC 9438, as in the adaptive mode of AWS's clients), with the rate in place of the window. */
const BETA = 0.6;
const SCALE = 0.4;
/** However often a service says no, it is asked about once in ten seconds. */
const LOWEST_PER_SECOND = 0.1;
/** An unlimited rate that has grown back to this is unlimited again: got does not reach it on one core. */
const UNLIMITED_PER_SECOND = 5_000;

/** A lease holds the permits of about this long, so that one job of bottleneck's paces many calls. */
const LEASE_SECONDS = 0.01;
/** A change of the rate smaller than this is not worth a change of the leases. */
const NOTICEABLE = 0.02;

/** Permits of one lease at `rate` calls a second. */
export function leaseAt(rate: number): number {
  return Math.max(1, Math.floor(rate * LEASE_SECONDS));
}

/** Milliseconds in which this many permits are earned. */
export function earnedIn(permits: number, rate: number): number {
  return (permits * 1_000) / rate;
}

/** True if leases that were made for the rate `before` do for `rate` too; NaN is no rate. */
export function isAbout(rate: number, before: number): boolean {
  return Math.abs(rate - before) <= NOTICEABLE * rate;
}

/**
 * The rate to use below a ceiling: it falls when the service throttles, holds near the rate at which that happened,
 * and, where nothing happens, climbs past it ever faster until the ceiling is back.
 */
export class RateController {
  readonly #ceiling: number;
  #throttled: {readonly at: number; readonly from: number} | undefined;

  /** `ceiling` in calls a second; infinity where there is none. */
  constructor(ceiling: number) {
    this.#ceiling = ceiling;
  }

  /** Calls a second that may be sent at `nowMs`. */
  perSecond(nowMs: number): number {
    if (this.#throttled === undefined) return this.#ceiling;
    const {at, from} = this.#throttled;
    const seconds = Math.max(0, nowMs - at) / 1_000;
    const plateau = Math.cbrt((from * (1 - BETA)) / SCALE);
    const rate = SCALE * (seconds - plateau) ** 3 + from;
    const recovered = this.#ceiling === Number.POSITIVE_INFINITY ? UNLIMITED_PER_SECOND : this.#ceiling;
    if (rate >= recovered) {
      this.#throttled = undefined;
      return this.#ceiling;
    }
    return Math.min(this.#ceiling, Math.max(LOWEST_PER_SECOND, rate));
  }

  /**
   * The service throttled a call sent at `sentMs`; `usedPerSecond` is the rate that it really saw. Calls sent before
   * the last fall say nothing new. The climb begins once the gate opens again, at `resumesMs`.
   */
  throttled(sentMs: number, resumesMs: number, usedPerSecond: number): void {
    if (this.#throttled !== undefined && sentMs < this.#throttled.at) return;
    const from = Math.min(this.perSecond(sentMs), Math.max(usedPerSecond, LOWEST_PER_SECOND));
    this.#throttled = {at: resumesMs, from};
  }
}

export function perSecond(rate: Rate | 'unlimited'): number {
  return rate === 'unlimited' ? Number.POSITIVE_INFINITY : (rate.count * 1_000) / rate.perMs;
}
