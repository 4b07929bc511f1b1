const RETRY_EVERY_MS = 1_000;

/** Reading or writing of the file, and since when it fails. */
export class StoreUse {
  /** By the steady clock. */
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
