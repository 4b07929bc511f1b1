/** Values between two attempts, none of which holds a slot meanwhile. */
export class Backoffs<Value> {
  readonly #waiting = new Map<NodeJS.Timeout, Value>();

  /** Calls `then` after `delayMs`, unless the value is taken back by then. */
  add(value: Value, delayMs: number, then: () => void): void {
    const timer = setTimeout(() => {
      this.#waiting.delete(timer);
      then();
    }, delayMs);
    this.#waiting.set(timer, value);
  }

  /** Takes back those for which `isMeant` holds, and returns them. */
  take(isMeant: (value: Value) => boolean): Value[] {
    const taken = [...this.#waiting].filter(([, value]) => isMeant(value));
    for (const [timer] of taken) {
      clearTimeout(timer);
      this.#waiting.delete(timer);
    }
    return taken.map(([, value]) => value);
  }
}
