const RETRY_EVERY_MS = 1_000;

/** State of reading the store's file, or of writing it: the time of the first failure, and when to try again. */
export class StoreUse {
  /** Time of the first failure by the steady clock (`performance.now`); undefined while all is well. */
  since: number | undefined;
  #retryAt = 0;

  get isDue(): boolean {
    return performance.now() >= this.#retryAt;
  }

  succeeded(): void {
    this.since = undefined;
    this.#retryAt = 0;
  }

  failed(): void {
    const now = performance.now();
    this.since ??= now;
    this.#retryAt = now + RETRY_EVERY_MS;
  }
}
