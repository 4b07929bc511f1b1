/** Values that wait before their next attempt: for a time, or held until an outage is over. */
export class Waits {
  /** Ends of the waits for a time, with their timers. */
  readonly #timed = new Map<() => void, NodeJS.Timeout>();
  readonly #held = new Set<() => void>();

  get held(): number {
    return this.#held.size;
  }

  until(delayMs: number): Promise<void> {
    return new Promise(resolve => {
      const end = () => {
        this.#timed.delete(end);
        resolve();
      };
      this.#timed.set(end, setTimeout(end, delayMs));
    });
  }

  hold(): Promise<void> {
    return new Promise(resolve => this.#held.add(resolve));
  }

  endHeld(): void {
    const held = [...this.#held];
    this.#held.clear();
    for (const end of held) end();
  }

  endAll(): void {
    for (const [end, timer] of this.#timed) {
      clearTimeout(timer);
      end();
    }
    this.endHeld();
  }
}
