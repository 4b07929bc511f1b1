import Bottleneck from 'bottleneck';
import {type Rate, windowOf} from '../../job/values.ts';
import {earnedIn, isAbout, leaseAt, type RateController} from './rate-controller.ts';

/** Leases use only this share of the rate. The rest is room for leases that a late timer bunches. */
const USE = 0.995;
/**
 * A late lease also gets the permits that were earned meanwhile, but at most those of this time. So a busy
 * machine loses no throughput, and sends no large burst.
 */
const CATCH_UP_SECONDS = 0.25;
/**
 * Maximum wait, in milliseconds, that this class leaves to the library `bottleneck`. It times longer waits
 * itself. So if bottleneck is silent for much longer, that is a fault.
 */
const LONGEST_SPACING_MS = 100;
/**
 * Milliseconds without a permit after which the limiter of the library `bottleneck` is replaced. Its own waits
 * are shorter, so a longer one shows that the computer's clock was set back.
 */
const LATE_MS = 500;

/**
 * Hands out permits in leases. The library bottleneck spaces the leases. A log of the last calls makes sure that no
 * sliding window as long as the rate's period has too many calls. Unused permits expire.
 */
export class Pacer {
  readonly #windowMs: number;
  readonly #controller: RateController;
  readonly #lease: (permits: number) => void;
  readonly #now: () => number;
  #limiter = new Bottleneck({maxConcurrent: 1});
  /** Ring buffer of the times of the last calls: as many as the rate allows in its period. */
  readonly #log: Float64Array;
  /** Index in `#log` of the oldest time, which the next call replaces. */
  #next = 0;
  /** The rate for which bottleneck is set up; NaN at first. */
  #applied = Number.NaN;
  /**
   * Time at which the next lease is due, counted from when the last one was due. So one late lease delays no other.
   */
  #due = Number.NEGATIVE_INFINITY;
  #scheduled = false;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;
  #late: NodeJS.Timeout | undefined;

  /** `lease` must call `sent` for each call that it sends. */
  constructor(
    rate: Rate | 'unlimited',
    controller: RateController,
    lease: (permits: number) => void,
    now: () => number,
  ) {
    this.#windowMs = rate === 'unlimited' ? 0 : windowOf(rate);
    this.#controller = controller;
    this.#lease = lease;
    this.#now = now;
    this.#log = new Float64Array(rate === 'unlimited' ? 0 : rate.count).fill(Number.NEGATIVE_INFINITY);
  }

  /** Requests a lease; repeated requests share one. */
  request(): void {
    const rate = this.#controller.perSecond(this.#now());
    if (this.#scheduled) return;
    if (rate === Number.POSITIVE_INFINITY) {
      this.#grant(rate);
      return;
    }
    this.#scheduled = true;
    const permits = leaseAt(rate);
    this.#space(rate, permits);
    // A lease gets extra permits for the time that it is late. Idle time is not lateness, so it earns less
    // than one permit.
    this.#due = Math.max(this.#due, this.#now() - earnedIn(0.9, USE * rate));
    this.#whenSpaced(() => this.#grantWithin(rate, permits));
  }

  /**
   * Runs `grant` when bottleneck allows it. bottleneck uses the computer's clock: if the clock is set back by an
   * hour, bottleneck would wait for an hour. So after {@link LATE_MS} a new limiter replaces the silent one.
   */
  #whenSpaced(grant: () => void): void {
    const limiter = this.#limiter;
    let isOver = false;
    const once = () => {
      if (isOver) return;
      isOver = true;
      clearTimeout(this.#late);
      grant();
    };
    this.#late = setTimeout(() => {
      drop(limiter);
      this.#limiter = new Bottleneck({maxConcurrent: 1});
      this.#applied = Number.NaN;
      once();
    }, LATE_MS);
    limiter.schedule(async () => once()).catch(refuseAllButDropped);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#late);
    drop(this.#limiter);
  }

  /**
   * Grants a lease once it is due and the sliding window has room. Until then it sets a timer of its own: the next
   * lease of bottleneck may come long after the window has room.
   */
  #grantWithin(rate: number, permits: number): void {
    if (this.#stopped) return;
    const room = this.#room();
    const waitMs = Math.max(room > 0 ? 0 : this.#fullForMs(), this.#due - this.#now());
    if (waitMs >= 1) {
      this.#grantLater(waitMs, rate, permits);
      return;
    }
    const granted = Math.min(this.#withMissed(rate, permits), room);
    this.#due += earnedIn(granted, USE * rate);
    this.#grant(granted);
  }

  #grantLater(waitMs: number, rate: number, permits: number): void {
    this.#timer = setTimeout(() => this.#grantWithin(rate, permits), Math.ceil(waitMs));
  }

  /** Milliseconds until the sliding window has room. */
  #fullForMs(): number {
    const oldest = this.#log[this.#next] ?? Number.NEGATIVE_INFINITY;
    return Math.max(1, oldest + this.#windowMs - this.#now());
  }

  /** Number of permits of a lease, with those that were earned while it was late. */
  #withMissed(rate: number, permits: number): number {
    const lateMs = Math.min(this.#now() - this.#due, CATCH_UP_SECONDS * 1_000);
    return permits + Math.max(0, Math.floor((lateMs * USE * rate) / 1_000));
  }

  /** Notes that a permit was used now. */
  sent(): void {
    if (this.#log.length === 0) return;
    this.#log[this.#next] = this.#now();
    this.#next = (this.#next + 1) % this.#log.length;
  }

  #grant(permits: number): void {
    this.#scheduled = false;
    if (!this.#stopped) this.#lease(permits);
  }

  /** Sets bottleneck's spacing for leases of `permits` calls at `rate`, unless the rate is about the same. */
  #space(rate: number, permits: number): void {
    if (isAbout(rate, this.#applied)) return;
    this.#applied = rate;
    const minTime = Math.min(earnedIn(permits, USE * rate), LONGEST_SPACING_MS);
    this.#limiter.updateSettings({minTime});
  }

  /** Number of calls that may be sent now without exceeding the rate in any window that ends now. */
  #room(): number {
    const {length} = this.#log;
    if (length === 0) return Number.POSITIVE_INFINITY;
    const cutoff = this.#now() - this.#windowMs;
    let room = 0;
    while (room < length && (this.#log[(this.#next + room) % length] as number) <= cutoff) room += 1;
    return room;
  }
}

/** Stops a limiter, and drops its waiting jobs: their timers would keep the process alive. */
function drop(limiter: Bottleneck): void {
  limiter.stop({dropWaitingJobs: true}).catch(refuseAllButDropped);
}

function refuseAllButDropped(error: unknown): void {
  if (!(error instanceof Bottleneck.BottleneckError)) throw error;
}
