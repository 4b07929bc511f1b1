const RETRY_EVERY_MS = 1_000;

/** The state of one use of the store's file (reading or writing): since when it fails, and when to try it again. */
export class StoreUse {
  /** Time of the first failure since the last success, by `performance.now`; undefined after a success. */
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
