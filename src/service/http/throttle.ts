import {ServiceError} from './error-body.ts';

/**
 * Limits the calls per second with a token bucket: it holds the calls of one second, and
 * fills again at the same rate. The headers are those of the IETF's draft on rate limit
 * header fields (draft-ietf-httpapi-ratelimit-headers-07).
 */
export class Throttle {
  readonly #perSecond: number;
  readonly #size: number;
  readonly #now: () => number;
  #level: number;
  #filledAt: number;

  /**
   * @param perSecond calls per second; below 1, the bucket holds one call
   *
   * @param now a clock in milliseconds
   */
  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#size = Math.max(1, Math.floor(perSecond));
    this.#now = now;
    this.#level = this.#size;
    this.#filledAt = now();
  }

  /**
   * Takes one call from the bucket.
   * @throws ServiceError `throttled`, with `Retry-After`
   */
  take(): void {
    const now = this.#now();
    this.#level = Math.min(this.#size, this.#level + ((now - this.#filledAt) / 1000) * this.#perSecond);
    this.#filledAt = now;
    if (this.#level < 1) {
      const wait = Math.ceil((1 - this.#level) / this.#perSecond);
      throw new ServiceError('throttled', {...this.headers(), 'Retry-After': String(wait)});
    }
    this.#level--;
  }

  /** Response headers: the limit, the calls left, and the seconds until the bucket is full again. */
  headers(): Record<string, string> {
    const window = this.#size / this.#perSecond;
    return {
      'RateLimit-Limit': String(this.#size),
      'RateLimit-Remaining': String(Math.floor(this.#level)),
      'RateLimit-Reset': String(Math.ceil((this.#size - this.#level) / this.#perSecond)),
      'RateLimit-Policy': `${this.#size};w=${Math.ceil(window)}`,
    };
  }
}
