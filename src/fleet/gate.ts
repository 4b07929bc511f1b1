import type {Redis} from 'ioredis';
import {PREFIX} from './protocol.ts';

const KEY = `${PREFIX}:gate`;
/** Closes the gate. The longest requested wait holds. */
const CLOSE = `if redis.call('pttl', KEYS[1]) < tonumber(ARGV[1]) then redis.call('set', KEYS[1], '1', 'px', ARGV[1]) end`;

/** The gate that one throttled call closes for the whole fleet; it opens by itself. */
export class Gate {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  /** Milliseconds for which nothing may be sent yet; 0 while it is open. */
  async closedMs(): Promise<number> {
    return Math.max(0, await this.#redis.pttl(KEY));
  }

  async close(ms: number): Promise<void> {
    await this.#redis.eval(CLOSE, 1, KEY, Math.max(1, Math.ceil(ms)));
  }
}
