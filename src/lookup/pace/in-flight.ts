/** Calls in flight, and for how long the service had them. */
export class InFlight {
  readonly #now: () => number;
  #count = 0;
  #ms = 0;
  #countedAt: number;
  /** When the answers began to be read that are read in this turn of the event loop: all of them had come by then. */
  #readFrom: number | undefined;

  constructor(now: () => number) {
    this.#now = now;
    this.#countedAt = now();
  }

  get count(): number {
    return this.#count;
  }

  /** Each call for as many milliseconds as the service had it, from the start until now. */
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
