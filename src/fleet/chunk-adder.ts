import {setTimeout as sleep} from 'node:timers/promises';
import type {Queue} from 'bullmq';
import type {Redis} from 'ioredis';
import {KEY_EXPIRY_MS, KEY_PREFIX, QUEUE_NAME, type SealedChunk} from './protocol.ts';
import {
  awaitWithinClosingTime,
  type FleetPackages,
  isRedisRefusal,
  RedisIncarnation,
  replyReason,
} from './redis.ts';

/** Milliseconds until a chunk that Redis refused is offered to it again. */
const ADD_AGAIN_MS = 1_000;

/** Adds a run's chunks (groups of values) to the queue, each at most once, whatever happens to Redis. */
export class ChunkAdder {
  readonly #redis: Redis;
  /** A connection that never repeats commands: an add without a reply may have run, and must not run again. */
  readonly #unrepeated: Redis;
  readonly #queue: Queue<SealedChunk, string>;
  readonly #incarnation: RedisIncarnation;
  #trouble: string | undefined;
  #stopped = false;

  constructor(redis: Redis, {bullmq}: FleetPackages) {
    this.#redis = redis;
    this.#unrepeated = redis.duplicate({lazyConnect: false, maxRetriesPerRequest: 0});
    this.#incarnation = new RedisIncarnation(this.#unrepeated);
    this.#queue = new bullmq.Queue(QUEUE_NAME, {
      connection: this.#unrepeated,
      prefix: KEY_PREFIX,
      skipVersionCheck: true,
      skipMetasUpdate: true,
      defaultJobOptions: {
        attempts: 1,
        removeOnComplete: {age: KEY_EXPIRY_MS / 1_000},
        removeOnFail: {age: KEY_EXPIRY_MS / 1_000},
      },
    });
    this.#queue.on('error', () => {});
  }

  async ready(): Promise<void> {
    await this.#queue.waitUntilReady();
    await this.#incarnation.name().catch(() => {});
  }

  /** The reason why Redis refuses chunks; undefined while it accepts them. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /**
   * Offers a chunk to Redis until it accepts it, or `stop` ends all adds. Returns false if the chunk never reached
   * Redis. After an add without a reply, Redis may lack it: it never came, or was carried out before Redis lost it.
   */
  async add(id: string, sealed: string): Promise<boolean> {
    for (; !this.#stopped; await sleep(ADD_AGAIN_MS)) {
      const life = await this.#incarnation.name().catch(() => undefined);
      // Without a connection, the add would wait in this process. If it failed later, its error would not say if
      // the chunk had been sent.
      if (life === undefined || this.#unrepeated.status !== 'ready') continue;
      try {
        await this.#queue.add('chunk', {sealed, life}, {jobId: id});
        this.#expire(id);
      } catch (error) {
        if (isRedisRefusal(error)) {
          this.#trouble = replyReason(error);
          continue;
        }
      }
      this.#trouble = undefined;
      return true;
    }
    return false;
  }

  /** Ends all adds. Those whose chunk was not offered yet, or was refused by Redis, resolve with false. */
  stop(): void {
    this.#stopped = true;
  }

  async close(): Promise<void> {
    this.stop();
    await awaitWithinClosingTime(this.#queue.close());
    this.#unrepeated.disconnect();
  }

  /** Redis deletes the chunk after a day, and the stream of events after a day without chunks. */
  #expire(id: string): void {
    // A failure is ignored: the worker that takes the chunk also sets the chunk's expiry.
    for (const key of [id, 'events'])
      this.#redis.pexpire(this.#queue.toKey(key), KEY_EXPIRY_MS).catch(() => {});
  }
}
