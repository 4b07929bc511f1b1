/** Counts calls in flight, and measures how long the service had them. Times are in milliseconds, by one clock. */
export class InFlight {
  #count = 0;
  #ms = 0;
  #countedAt: number;
  /**
   * Time at which this turn of the event loop read its first answer. The turn's other answers had arrived by
   * then, so their calls count only until this time.
   */
  #readFrom: number | undefined;

  constructor(now: number) {
    this.#countedAt = now;
  }

  get count(): number {
    return this.#count;
  }

  /** Sum, over all calls, of the milliseconds that the service had the call until `now`. */
  msUntil(now: number): number {
    this.#add(0, now);
    return this.#ms;
  }

  sent(now: number): void {
    this.#add(1, now);
  }

  ended(now: number): void {
    this.#add(-1, now);
    if (this.#readFrom === undefined) {
      this.#readFrom = now;
      setImmediate(() => {
        this.#readFrom = undefined;
      });
    }
    this.#ms -= now - this.#readFrom;
  }

  #add(more: number, now: number): void {
    this.#ms += this.#count * (now - this.#countedAt);
    this.#countedAt = now;
    this.#count += more;
  }
}
