import {type FleetGate, type OpenLimiter, RETRY_MS} from '../limits.ts';
import {type ChunkPace, RATE_SHARE} from '../protocol.ts';

/**
 * Minimum delay, in milliseconds, for which a lease (a number of permits) is given up. Its calls would come
 * close to those of a later second, and together exceed the rate.
 */
const TOO_LATE_MS = 10;

/** Hands out permits in leases, which all workers of a fleet take from one limiter. */
export class WorkerPacer {
  readonly #open: OpenLimiter;
  readonly #gate: FleetGate;
  #permits = 1;
  #tooLateMs = TOO_LATE_MS;
  readonly #lease: (permits: number) => void;
  readonly #closed: (ms: number) => void;
  readonly #punctuality = new Punctuality();
  #scheduled = false;

  /** Calls `lease` with the number of calls that may be sent now, or `closed` with the milliseconds to wait. */
  constructor(
    open: OpenLimiter,
    gate: FleetGate,
    lease: (permits: number) => void,
    closed: (ms: number) => void,
  ) {
    this.#open = open;
    this.#gate = gate;
    this.#lease = lease;
    this.#closed = closed;
  }

  /**
   * Sets the size of leases and their maximum delay. The maximum is the part of a lease's time that
   * {@link RATE_SHARE} leaves unused, but at least {@link TOO_LATE_MS}.
   */
  pace({permits, minTimeMs}: ChunkPace): void {
    this.#permits = permits;
    this.#tooLateMs = Math.max(TOO_LATE_MS, (1 - RATE_SHARE) * minTimeMs);
  }

  /** Requests a lease. Further requests share this lease until it is granted. */
  request(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#take().catch(() => this.#again());
  }

  async #take(): Promise<void> {
    const closedMs = await this.#gate.closedMs();
    if (closedMs > 0) {
      this.#scheduled = false;
      this.#closed(closedMs);
      return;
    }
    const limiter = await this.#open();
    this.#punctuality.start();
    limiter.once('scheduled', () => this.#punctuality.timerSet());
    await limiter.schedule(async () => this.#granted(this.#punctuality.stop()));
  }

  /** Requests again after Redis refused: the refusal may pass. */
  #again(): void {
    setTimeout(() => {
      this.#scheduled = false;
      this.request();
    }, RETRY_MS).unref();
  }

  #granted(lateMs: number): void {
    this.#scheduled = false;
    if (lateMs > this.#tooLateMs) this.request();
    else this.#lease(this.#permits);
  }
}

const TICK_MS = 2;

/**
 * Measures the maximum delay of a timed event: the time for which the event loop was blocked. The delay
 * itself is unknown: a timer does not know when it was due, and the limiter does not report it.
 */
class Punctuality {
  /** Time at which the loop was last known to be free. */
  #free = 0;
  #ticking: NodeJS.Timeout | undefined;
  #beforeTimer = 0;

  /** Begins to measure. Must be called before the timed event is requested. */
  start(): void {
    this.#free = performance.now();
    this.#beforeTimer = 0;
    this.#ticking ??= setInterval(() => this.#tick(), TICK_MS);
  }

  /**
   * Notes that the event's timer is set. Redis chose the event's time before its reply arrived here, so the
   * time until now may be delay, too.
   */
  timerSet(): void {
    this.#beforeTimer = performance.now() - this.#free;
  }

  /** Ends the measuring. Returns the milliseconds by which the event can be late at most. */
  stop(): number {
    clearInterval(this.#ticking);
    this.#ticking = undefined;
    return this.#beforeTimer + performance.now() - this.#free;
  }

  /**
   * Notes that the event loop is free, but only at the end of its current round. If the loop was blocked, the
   * measured event's timer may run later in this round: {@link stop} must then still count the blockage.
   */
  #tick(): void {
    const now = performance.now();
    setImmediate(() => {
      this.#free = now;
    });
  }
}
