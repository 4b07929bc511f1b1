import {activeRedis} from './install.ts';
import {RedisConnection} from './redis.ts';

/** Replaces `ioredis` for those who import it. */
export class Redis extends RedisConnection {
  constructor(_url: string, options: {maxRetriesPerRequest?: number | null}) {
    super(activeRedis(), options);
  }
}

export {Queue, QueueEvents, Worker} from './chunks.ts';
