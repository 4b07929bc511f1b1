import type {Redis} from 'ioredis';

/** Margin in milliseconds, since Redis gives its uptime in whole seconds. */
const ROUNDING_MS = 1_000;

/**
 * Detects chunks that Redis may have restored from a snapshot: those added before Redis started. Workers may
 * have carried them out already, and the run may have their results.
 */
export class Snapshot {
  readonly #redis: Redis;
  #start: Promise<number> | undefined;

  constructor(redis: Redis) {
    this.#redis = redis;
    redis.on('close', this.#forget);
  }

  /** True if Redis may have restored a chunk that was added at this time, by its clock, from a snapshot. */
  async mayHold(addedMs: number): Promise<boolean> {
    this.#start ??= startOf(this.#redis);
    try {
      return addedMs < (await this.#start);
    } catch (error) {
      // Redis refuses commands while it loads its data or is busy. The next chunk asks for the start again.
      this.#forget();
      throw error;
    }
  }

  readonly #forget = () => {
    this.#start = undefined;
  };
}

/**
 * Start of Redis, in milliseconds since the epoch by its own clock: older data may be from a snapshot. 0 if Redis
 * keeps an append-only file instead of snapshots.
 */
async function startOf(redis: Redis): Promise<number> {
  const persistence = await redis.info('persistence');
  if (/^aof_enabled:1/m.test(persistence)) return 0;
  const [server, [seconds]] = await Promise.all([redis.info('server'), redis.time()]);
  // If Redis's clock was set back to before its start, Redis gives a negative uptime. `up` is then NaN, and
  // no chunk counts as old.
  const up = Number(/^uptime_in_seconds:(\d+)/m.exec(server)?.[1]);
  return (Number(seconds) - up) * 1_000 - ROUNDING_MS;
}
