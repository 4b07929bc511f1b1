import Bottleneck from 'bottleneck';
import PQueue from 'p-queue';
import type {Call, LaneSettings} from './call.ts';
import {areRatesClose, earningTimeMs, leaseSize, perSecond, RateController} from './pace/rate-controller.ts';
import type {UnsentStep} from './retry-policy.ts';

/** Calls per slot that may wait in a lane's queue: enough to keep the lane busy, without using much memory. */
const QUEUED_PER_SLOT = 4;
/** Leases use only this share of the rate. The rest is room for leases that a late timer bunches. */
const USE = 0.995;
/** Seconds of a lease. The library bottleneck grants one in a turn of the event loop: a busy turn takes no longer. */
const LEASE_SECONDS = 0.025;
/**
 * Leases are planned for this time ahead. So those of a moment in which the machine was busy all come after it: no
 * throughput is lost, and the burst is small.
 */
const AHEAD_MS = 250;

/**
 * The slots (library p-queue) and the rate of operations that share one rate, and the calls that wait to leave. The
 * library bottleneck spaces leases, each of some calls. A log of the last calls makes sure that no sliding window as
 * long as the rate's period has too many.
 */
export class Lane {
  readonly settings: LaneSettings;
  readonly controller: RateController;
  readonly slots: PQueue;
  /** Calls in a slot that wait to leave, in order. Each function ends a wait: the call leaves, or is refused. */
  readonly waiting = new Map<Call, (refusal?: UnsentStep) => void>();
  /** Time of the last call, in milliseconds since the epoch; 0 at first. It may be older than the window. */
  lastSent = 0;
  readonly #isPaced: boolean;
  readonly #now: () => number;
  readonly #onPermits: () => void;
  readonly #limiter = new Bottleneck();
  /** The rate for which bottleneck is set up; NaN at first. */
  #applied = Number.NaN;
  /** Number of leases so far, by which bottleneck tells them apart, and of those that it has not granted yet. */
  #leases = 0;
  #planned = 0;
  /** Number of calls that leases let leave in the next admission. */
  #permits = 0;
  readonly #most: number;
  readonly #windowMs: number;
  /** Times of the calls in the last window: the rate's, and at least a second. */
  readonly #sent: number[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** `onPermits` is called when calls may leave. `isPaced`: false if the dispatcher keeps the rate. */
  constructor(settings: LaneSettings, isPaced: boolean, now: () => number, onPermits: () => void) {
    const {rate, concurrency} = settings;
    this.settings = settings;
    this.controller = new RateController(perSecond(rate));
    this.slots = new PQueue({concurrency});
    this.#isPaced = isPaced;
    this.#now = now;
    this.#onPermits = onPermits;
    this.#most = rate === 'unlimited' || !isPaced ? Number.POSITIVE_INFINITY : rate.count;
    this.#windowMs = rate === 'unlimited' ? 1_000 : Math.max(1_000, rate.perMs);
  }

  /** Resolves when the queue may take more calls; undefined if it may now. It takes many at once: a wait costs CPU. */
  room(): Promise<void> | undefined {
    const {size, concurrency} = this.slots;
    const most = concurrency * QUEUED_PER_SLOT;
    return size < most ? undefined : this.slots.onSizeLessThan(most - Math.floor(concurrency / 2));
  }

  /** Waits until the call may leave. Resolves with a refusal if it may not. `wake` is called once it waits. */
  mayLeave(call: Call, wake: () => void): Promise<UnsentStep | undefined> {
    return new Promise(resolve => {
      this.waiting.set(call, resolve);
      wake();
    });
  }

  end(call: Call, refusal?: UnsentStep): void {
    const leave = this.waiting.get(call);
    this.waiting.delete(call);
    leave?.(refusal);
  }

  /** Plans leases while calls wait. Without a rate, all of them may leave. */
  wake(): void {
    if (this.waiting.size === 0) return;
    const rate = this.#rate;
    if (rate === Number.POSITIVE_INFINITY) {
      this.#grant(rate);
      return;
    }
    const permits = leaseSize(rate, LEASE_SECONDS);
    const minTime = earningTimeMs(permits, USE * rate);
    if (!areRatesClose(rate, this.#applied)) {
      this.#applied = rate;
      void this.#limiter.updateSettings({minTime});
    }
    const isEnough = () =>
      this.#planned * minTime >= AHEAD_MS || this.#planned * permits >= this.waiting.size;
    while (this.#planned === 0 || !isEnough()) {
      this.#planned += 1;
      const lease = async () => {
        this.#planned -= 1;
        // The rate may have fallen since.
        this.#grant(Math.min(permits, leaseSize(this.#rate, LEASE_SECONDS)));
      };
      this.#limiter.schedule({id: String(++this.#leases)}, lease).catch(refuseAllButDropped);
    }
  }

  /**
   * The number of calls that may leave now. Permits that are not used expire. Those for which the sliding window has
   * no room wait for it: the next lease may come long after.
   */
  takePermits(): number {
    const now = this.#now();
    while ((this.#sent[0] ?? now) <= now - this.#windowMs) this.#sent.shift();
    const permits = this.waiting.size > 0 ? this.#permits : 0;
    const taken = Math.min(permits, this.#most - this.#sent.length);
    this.#permits = permits === taken ? 0 : permits - taken;
    if (this.#permits > 0 && this.#timer === undefined)
      this.#timer = setTimeout(
        () => {
          this.#timer = undefined;
          this.#onPermits();
        },
        Math.ceil((this.#sent[0] ?? now) + this.#windowMs - now),
      );
    return taken;
  }

  /** Notes that a call was sent. Call this after the sending: an earlier time would let later calls leave too early. */
  sent(): void {
    this.lastSent = this.#now();
    this.#sent.push(this.lastSent);
  }

  /** Lowers the rate: the service throttled a call that was sent at `sentAt`. Sending resumes at `resumes`. */
  slowDown(sentAt: number, resumes: number): void {
    const since = this.lastSent - 1_000;
    this.controller.throttled(sentAt, resumes, this.#sent.filter(time => time >= since).length);
  }

  stop(): void {
    clearTimeout(this.#timer);
    // Jobs that wait are dropped: their timers would keep the process alive.
    this.#limiter.stop({dropWaitingJobs: true}).catch(refuseAllButDropped);
  }

  get #rate(): number {
    return this.#isPaced ? this.controller.perSecond(this.#now()) : Number.POSITIVE_INFINITY;
  }

  #grant(permits: number): void {
    this.#permits += permits;
    this.#onPermits();
  }
}

/** Calls per second of all lanes together; undefined without a limit. */
export function sumOfRates(lanes: readonly Lane[], rateOf: (lane: Lane) => number): number | undefined {
  const sum = lanes.reduce((soFar, lane) => soFar + rateOf(lane), 0);
  return Number.isFinite(sum) ? sum : undefined;
}

function refuseAllButDropped(error: unknown): void {
  if (!(error instanceof Bottleneck.BottleneckError)) throw error;
}
