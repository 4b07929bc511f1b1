import {setTimeout as sleep} from 'node:timers/promises';
import {ServiceError} from './error-body.ts';

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

/** The fault of one call. If it is an error, the service answers with that error, and the call is free. */
export type PracticeFault = ServiceError | LosingFault;

/** A call is charged, but its answer is lost: the connection closes, breaks within the body, or falls silent. */
export type LosingFault = 'reset' | 'cut-off' | 'stall';

/** Each fault with its share of all faults, in percent. */
const faults: readonly [PracticeFault, number][] = [
  [new ServiceError('practice_error'), 25],
  [new ServiceError('practice_unavailable', {'Retry-After': '1'}), 25],
  [new ServiceError('practice_bad_gateway'), 15],
  ['reset', 15],
  ['cut-off', 15],
  ['stall', 5],
];

/** Milliseconds for which a stalled answer keeps its connection open: longer than a client should wait. */
export const STALL_MS = 120_000;

/** An answer takes 0.5 to 1.5 times the latency. This is the maximum. */
const MOST_OF_LATENCY = 1.5;

/** Maximum milliseconds that an answer takes: the longest delay and a stall. */
export function longestAnswerMs(latencyMs: number): number {
  return latencyMs * MOST_OF_LATENCY + STALL_MS;
}

/** Decides at random the faults and delays of one service. */
export class Practice {
  readonly #latencyMs: number;
  readonly #errorRate: number;
  readonly #random: () => number;

  constructor({latencyMs = 0, errorRate = 0, seed = 1}: PracticeOptions) {
    this.#latencyMs = latencyMs;
    this.#errorRate = errorRate;
    this.#random = createRandom(seed);
  }

  /** The fault of the next call; undefined if it works. */
  fault(): PracticeFault | undefined {
    if (this.#errorRate === 0 || this.#random() >= this.#errorRate) return undefined;
    let rest = this.#random() * 100;
    for (const [fault, share] of faults) {
      rest -= share;
      if (rest < 0) return fault;
    }
    return undefined;
  }

  /** Delays the next answer. */
  async wait(): Promise<void> {
    if (this.#latencyMs > 0) await sleep(this.#latencyMs * (MOST_OF_LATENCY - 1 + this.#random()));
  }
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
