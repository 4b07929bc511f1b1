import type {Rate} from '../../job/setting-types.ts';

/**
 * Constants of the algorithm CUBIC (RFC 9438), applied to the rate of calls, as in the adaptive mode of AWS's
 * clients. After a throttled call, CUBIC and AWS keep 0.7 of the rate; this program keeps 0.6.
 */
const BETA = 0.6;
const SCALE = 0.4;
/** Lowest rate: one call every ten seconds, however often the service throttles. */
const LOWEST_PER_SECOND = 0.1;
/** Calls per second at which a lowered rate counts as recovered if no rate is set: one core can't send more. */
const UNLIMITED_PER_SECOND = 5_000;

/**
 * A lease has the permits of about this many seconds, but at least one. So at a high rate, one job of the
 * library `bottleneck` paces many calls.
 */
const LEASE_SECONDS = 0.01;
/** Share by which the rate must change before leases are adapted to it. */
const NOTICEABLE = 0.02;

/** Permits of one lease of these seconds at `rate` calls a second. */
export function leaseSize(rate: number, seconds = LEASE_SECONDS): number {
  return Math.max(1, Math.floor(rate * seconds));
}

/** Milliseconds in which `permits` are earned at `rate` calls a second. */
export function earningTimeMs(permits: number, rate: number): number {
  return (permits * 1_000) / rate;
}

/** True if leases for the rate `before` also suit `rate`. False if `before` is NaN: there were none. */
export function areRatesClose(rate: number, before: number): boolean {
  return Math.abs(rate - before) <= NOTICEABLE * rate;
}

/**
 * The rate of calls, up to a ceiling. The rate falls when the service throttles. It then returns to about the rate
 * that was throttled, and climbs ever faster up to the ceiling.
 */
export class RateController {
  readonly #ceiling: number;
  #throttled: {readonly at: number; readonly from: number} | undefined;

  /** `ceiling` in calls per second; infinity without a limit. */
  constructor(ceiling: number) {
    this.#ceiling = ceiling;
  }

  /** Calls per second allowed at `nowMs`. */
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
   * Lowers the rate, since a call that was sent at `sentMs` was throttled. `usedPerSecond` is the actual rate at
   * that time. The rate climbs again from `resumesMs`, when the gate opens. Ignores calls that were sent before the
   * last climb began.
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
