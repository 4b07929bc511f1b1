import type {Call} from './api-server.ts';
import {hash} from './api-server-core.mjs';
import {type Reply, reply} from './api-server-reply.ts';

/** Random faults. A later attempt succeeds after each of them but `stall`. */
const faults = {
  500: reply.error(500, 'internal'),
  503: reply.unavailable(1),
  429: reply.throttle(1),
  reset: reply.drop(),
  cut: reply.cut(),
  stall: reply.stall(),
} as const satisfies Readonly<Record<string, Reply>>;

export interface RandomFaults {
  /** Share of the calls that fault, 0 to 1. */
  readonly share: number;
  readonly kinds: readonly (keyof typeof faults)[];
  readonly seed?: number;
}

/** Attempts of one value that may fault; later ones never do. */
const ATTEMPTS = 2;

/** A script by the seed, the value and its attempt alone: the order of calls changes nothing. */
export function randomFaults({share, kinds, seed = 1}: RandomFaults) {
  return ({operation, value, attempt}: Call): Reply | undefined => {
    const id = `${operation} ${value} ${attempt}`;
    if (attempt > ATTEMPTS || hash(id, seed) / 2 ** 32 >= share) return undefined;
    const kind = kinds[hash(id, seed + 1) % kinds.length];
    return kind === undefined ? undefined : faults[kind];
  };
}
