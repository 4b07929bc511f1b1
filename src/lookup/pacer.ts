import Bottleneck from 'bottleneck';
import type {Rate} from '../job/values.ts';
import type {RateController} from './rate-controller.ts';

/** A lease holds the permits of about this long, so that one job of bottleneck's paces many calls. */
const LEASE_SECONDS = 0.01;
/** Leases are spread over a little more than the rate allows, as timers come late in bursts: 99% of it is used. */
const USE = 0.99;
/** A change of the rate smaller than this is not worth a change of the leases. */
const NOTICEABLE = 0.02;

/**
 * Hands out permits to send, in leases: bottleneck spaces the leases out, and a log of the last sends makes the count
 * exact in every sliding window. Permits that a lease does not use expire with it.
 */
export class Pacer {
  readonly #rate: Rate | 'unlimited';
  readonly #controller: RateController;
  readonly #lease: (permits: number) => void;
  readonly #now: () => number;
  readonly #limiter = new Bottleneck({maxConcurrent: 1});
  /** Send times of the last `count` calls, as a ring. */
  readonly #log: Float64Array;
  #next = 0;
  #applied = Number.NaN;
  #scheduled = false;

  /** `lease` is called with the number of calls that may be sent now; it tells of those it sends by `sent`. */
  constructor(
    rate: Rate | 'unlimited',
    controller: RateController,
    lease: (permits: number) => void,
    now: () => number,
  ) {
    this.#rate = rate;
    this.#controller = controller;
    this.#lease = lease;
    this.#now = now;
    this.#log = new Float64Array(rate === 'unlimited' ? 0 : rate.count).fill(Number.NEGATIVE_INFINITY);
  }

  /** Asks for a lease; however often that is done, one is under way at a time. */
  request(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const rate = this.#controller.perSecond(this.#now());
    if (rate === Number.POSITIVE_INFINITY) {
      setImmediate(() => this.#grant(Number.POSITIVE_INFINITY));
      return;
    }
    const permits = Math.max(1, Math.floor(rate * LEASE_SECONDS));
    this.#space(rate, permits);
    void this.#limiter.schedule(async () => this.#grant(Math.min(permits, this.#room())));
  }

  /** Notes that a permit was used now. */
  sent(): void {
    if (this.#log.length === 0) return;
    this.#log[this.#next] = this.#now();
    this.#next = (this.#next + 1) % this.#log.length;
  }

  #grant(permits: number): void {
    this.#scheduled = false;
    this.#lease(permits);
  }

  #space(rate: number, permits: number): void {
    if (Math.abs(rate - this.#applied) <= NOTICEABLE * rate) return;
    this.#applied = rate;
    this.#limiter.updateSettings({minTime: (permits * 1_000) / (USE * rate)});
  }

  /** How many calls may be sent now without more than the rate in any window that ends now. */
  #room(): number {
    if (this.#rate === 'unlimited') return Number.POSITIVE_INFINITY;
    const {length} = this.#log;
    const windowMs = Math.max(1_000, this.#rate.perMs);
    const cutoff = this.#now() - windowMs;
    let room = 0;
    while (room < length && (this.#log[(this.#next + room) % length] as number) <= cutoff) room += 1;
    return room;
  }
}
