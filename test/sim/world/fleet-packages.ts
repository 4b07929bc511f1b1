import {activeRedis} from './install.ts';
import {RedisConnection} from './redis.ts';

/** What those get who ask for `ioredis` in its place. */
export class Redis extends RedisConnection {
  constructor(_url: string, options: {maxRetriesPerRequest?: number | null}) {
    super(activeRedis(), options);
  }
}

export {Queue, QueueEvents, Worker} from './chunks.ts';
