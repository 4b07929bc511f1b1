const TICK_MS = 2;

/**
 * Tells how late something may have come that waited for a timer: at most as long as the event loop may have been held
 * up. (A timer does not know when it was due, and the limiter does not tell.)
 */
export class Punctuality {
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
