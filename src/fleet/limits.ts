import type {Redis} from 'ioredis';
import {KEY_PREFIX} from './protocol.ts';

const GATE_KEY = `${KEY_PREFIX}:gate`;

/** Script that closes the gate for some milliseconds. If several callers close it, the longest time counts. */
const CLOSE_GATE = `if redis.call('pttl', KEYS[1]) < tonumber(ARGV[1]) then redis.call('set', KEYS[1], '1', 'px', ARGV[1]) end`;

/**
 * Script that takes the next lease of a lane. Returns for how many milliseconds the gate is closed, and in how many
 * the lease begins. The lane's key has the time, by the clock of Redis, at which the lease after it may begin.
 */
const TAKE_LEASE = `local closed = redis.call('pttl', KEYS[1])
if closed > 0 then return {closed, 0} end
local time = redis.call('time')
local now = time[1] * 1000 + time[2] / 1000
local begin = math.max(now, tonumber(redis.call('get', KEYS[2]) or 0))
local free = begin + ARGV[1]
redis.call('set', KEYS[2], string.format('%.3f', free), 'px', math.ceil(free - now))
return {0, math.ceil(begin - now)}`;

/** A number of calls that may be sent together, `inMs` milliseconds after Redis gave it. */
export interface Lease {
  /** Milliseconds for which nothing may be sent. If above 0, there is no lease. */
  readonly closedMs: number;
  readonly inMs: number;
}

/**
 * Limits that all workers of a fleet share: the pace of each lane, and the gate. A throttled call closes the gate
 * for some time, in which no worker sends a call. Then it opens by itself.
 */
export class FleetLimits {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  /** Milliseconds for which nothing may be sent yet; 0 while the gate is open. */
  async closedMs(): Promise<number> {
    return Math.max(0, await this.#redis.pttl(GATE_KEY));
  }

  async close(ms: number): Promise<void> {
    await this.#redis.eval(CLOSE_GATE, 1, GATE_KEY, Math.max(1, Math.ceil(ms)));
  }

  /** Takes the lane's next lease. The one after it begins `minTimeMs` later. */
  async lease(lane: string, minTimeMs: number): Promise<Lease> {
    const keys = [GATE_KEY, `${KEY_PREFIX}:pace:${lane}`];
    const [closedMs = 0, inMs = 0] = (await this.#redis.eval(TAKE_LEASE, 2, ...keys, minTimeMs)) as number[];
    return {closedMs, inMs};
  }
}
