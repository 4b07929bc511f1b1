/** Calls in flight, and how long the service had them. */
export class InFlight {
  readonly #now: () => number;
  #count = 0;
  #ms = 0;
  #countedAt: number;
  /** Start of the reading of answers in this turn of the event loop: all of them had arrived by then. */
  #readFrom: number | undefined;

  constructor(now: () => number) {
    this.#now = now;
    this.#countedAt = now();
  }

  get count(): number {
    return this.#count;
  }

  /** Milliseconds that the service had calls, summed over all calls. */
  get ms(): number {
    this.#add(0);
    return this.#ms;
  }

  sent(): void {
    this.#add(1);
  }

  ended(): void {
    this.#add(-1);
    const now = this.#now();
    if (this.#readFrom === undefined) {
      this.#readFrom = now;
      setImmediate(() => {
        this.#readFrom = undefined;
      });
    }
    this.#ms -= now - this.#readFrom;
  }

  #add(more: number): void {
    const now = this.#now();
    this.#ms += this.#count * (now - this.#countedAt);
    this.#countedAt = now;
    this.#count += more;
  }
}
