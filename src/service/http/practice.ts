import {setTimeout as sleep} from 'node:timers/promises';
import {type LostReply, ServiceError, STALL_MS} from './reply.ts';

/** Delays, limits and faults, so that users can see how a run copes with them. All are off by default. */
export interface PracticeOptions {
  /** Mean milliseconds until an answer. Each answer takes 0.5 to 1.5 times as long. */
  latencyMs?: number;
  /** Calls per second; further calls get 429. */
  rateLimit?: number;
  /** Share of calls that fail, 0 to 1. */
  errorRate?: number;
  /** The same seed gives the same faults for calls in the same order. */
  seed?: number;
}

/** The fault of one call. If it is an error, the call is free; a call whose reply is lost is charged. */
export type PracticeFault = ServiceError | LostReply;

/** Each fault with its share of all faults, in twentieths. */
const shares: readonly [PracticeFault, number][] = [
  [new ServiceError('practice_error'), 5],
  [new ServiceError('practice_unavailable', {'Retry-After': '1'}), 5],
  [new ServiceError('practice_bad_gateway'), 3],
  ['reset', 3],
  ['cut-off', 3],
  ['stall', 1],
];

const faults = shares.flatMap(([fault, share]) => Array<PracticeFault>(share).fill(fault));

const MOST_OF_LATENCY = 1.5;

/** Maximum milliseconds of an answer: the longest delay and a stall. */
export function longestAnswerMs(latencyMs: number): number {
  return latencyMs * MOST_OF_LATENCY + STALL_MS;
}

export type Practice = ReturnType<typeof createPractice>;

/** Decides at random the faults and delays of one service. */
export function createPractice({latencyMs = 0, errorRate = 0, seed = 1}: PracticeOptions) {
  const random = createRandom(seed);
  return {
    nextFault(): PracticeFault | undefined {
      if (errorRate === 0 || random() >= errorRate) return undefined;
      return faults[Math.floor(random() * faults.length)];
    },
    async wait(): Promise<void> {
      if (latencyMs > 0) await sleep(latencyMs * (MOST_OF_LATENCY - 1 + random()));
    },
  };
}

/** Tommy Ettinger's mulberry32: numbers in [0, 1), random enough for a choice, and the same for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * A token bucket that holds the calls of one second. The headers are those of the draft
 * draft-ietf-httpapi-ratelimit-headers-07.
 */
export class Throttle {
  readonly #perSecond: number;
  readonly #size: number;
  readonly #now: () => number;
  #level: number;
  #filledAt: number;

  /** @param perSecond below 1, the bucket holds one call */
  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#size = Math.max(1, Math.floor(perSecond));
    this.#now = now;
    this.#level = this.#size;
    this.#filledAt = now();
  }

  /** @throws ServiceError `throttled`, with `Retry-After` */
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
