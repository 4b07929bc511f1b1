import type Bottleneck from 'bottleneck';
import {AGAIN_MS, type FleetGate} from '../limits.ts';
import type {ChunkPace} from '../protocol.ts';

/** A lease that may come later than this, in milliseconds, is given up: a late one would crowd into a later second. */
const TOO_LATE_MS = 10;

/** Hands out permits to send, in leases that all workers of a fleet take from one limiter. */
export class WorkerPacer {
  readonly #limiter: Bottleneck;
  readonly #gate: FleetGate;
  readonly #permits: number;
  readonly #lease: (permits: number) => void;
  readonly #closed: (ms: number) => void;
  readonly #punctuality = new Punctuality();
  #scheduled = false;

  /** `lease` is called with the number of calls that may be sent now, or `closed` with how long none may be. */
  constructor(
    limiter: Bottleneck,
    gate: FleetGate,
    {permits}: ChunkPace,
    lease: (permits: number) => void,
    closed: (ms: number) => void,
  ) {
    this.#limiter = limiter;
    this.#gate = gate;
    this.#permits = permits;
    this.#lease = lease;
    this.#closed = closed;
  }

  /** Asks for a lease; however often that is done, one is under way at a time. */
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
    this.#punctuality.start();
    this.#limiter.once('scheduled', () => this.#punctuality.timerSet());
    await this.#limiter.schedule(async () => this.#granted(this.#punctuality.stop()));
  }

  /** Redis has refused: it may not the next time. */
  #again(): void {
    setTimeout(() => {
      this.#scheduled = false;
      this.request();
    }, AGAIN_MS).unref();
  }

  #granted(lateMs: number): void {
    this.#scheduled = false;
    if (lateMs > TOO_LATE_MS) this.request();
    else this.#lease(this.#permits);
  }
}

const TICK_MS = 2;

/**
 * Tells how late something may have come that waited for a timer: at most as long as the event loop may have been held
 * up. (A timer does not know when it was due, and the limiter does not tell.)
 */
class Punctuality {
  /** When the loop was last known to go round freely. */
  #free = 0;
  #ticking: NodeJS.Timeout | undefined;
  #beforeTimer = 0;

  /** From now on something is awaited. */
  start(): void {
    this.#free = performance.now();
    this.#beforeTimer = 0;
    this.#ticking ??= setInterval(() => this.#tick(), TICK_MS);
  }

  /** The timer is being set, for a moment that was decided elsewhere: the news of it may have come late already. */
  timerSet(): void {
    this.#beforeTimer = performance.now() - this.#free;
  }

  /** It has come. Returns how late it may be, in milliseconds. */
  stop(): number {
    clearInterval(this.#ticking);
    this.#ticking = undefined;
    return this.#beforeTimer + performance.now() - this.#free;
  }

  /** Timers that were due together run together: only the round after proves that none of them is still to come. */
  #tick(): void {
    const now = performance.now();
    setImmediate(() => {
      this.#free = now;
    });
  }
}
