import Bottleneck from 'bottleneck';
import type {Redis} from 'ioredis';
import {PREFIX} from './protocol.ts';

/** Milliseconds after an error of Redis, such as no memory, until leases are requested again. */
export const AGAIN_MS = 1_000;

/** Returns the limiter. Fails if Redis refuses to open it; the next call then tries to open it anew. */
export type OpenLimiter = () => Promise<Bottleneck>;

/** The limiters of one process's lanes: bottleneck keeps their state in Redis, over one connection. */
export class Limiters {
  readonly #connection: Bottleneck.IORedisConnection;

  constructor(redis: Redis, RedisClass: typeof Redis) {
    this.#connection = new Bottleneck.IORedisConnection({
      // This connection opens at once: bottleneck waits for a connection that it is given, but does not open it.
      client: recognizable(redis.duplicate({lazyConnect: false})),
      Redis: RedisClass,
    } as Bottleneck.IORedisConnectionOptions);
    // This error is not handled: the connection's state shows if Redis is away, and commands wait meanwhile.
    this.#connection.on('error', () => {});
  }

  /** The limiter that all processes share under this name. `minTime` is used if the limiter is new. */
  open(lane: string, minTime: number): OpenLimiter {
    let opened: Promise<Bottleneck> | undefined;
    return () => {
      opened ??= this.#open(lane, minTime).catch(error => {
        opened = undefined;
        throw error;
      });
      return opened;
    };
  }

  async #open(lane: string, minTime: number): Promise<Bottleneck> {
    const limiter = new Bottleneck({id: `${PREFIX}:${lane}`, minTime, connection: this.#connection});
    // After an error, callers would wait for their leases forever. A new request makes bottleneck look again.
    limiter.on('error', () => {
      setTimeout(() => void limiter.schedule(async () => {}).catch(() => {}), AGAIN_MS).unref();
    });
    await limiter.ready();
    return limiter;
  }

  async close(): Promise<void> {
    await this.#connection.disconnect(false);
  }
}

/** Errors for a limiter or a client that Redis has lost. After such an error, bottleneck 2.19 creates it again. */
const FORGOTTEN = /SETTINGS_KEY_NOT_FOUND|UNKNOWN_CLIENT/;

/** Shortens {@link FORGOTTEN} errors: bottleneck compares whole texts, but Redis 7 adds `ERR` and a script's name. */
function recognizable(client: Redis): Redis {
  const send = client.sendCommand.bind(client);
  client.sendCommand = (command, stream) => {
    const {reject} = command;
    command.reject = error => {
      error.message = FORGOTTEN.exec(error.message)?.[0] ?? error.message;
      reject(error);
    };
    return send(command, stream);
  };
  return client;
}

const GATE_KEY = `${PREFIX}:gate`;
/** Closes the gate for some milliseconds. If several callers close it, the longest time counts. */
const CLOSE_GATE = `if redis.call('pttl', KEYS[1]) < tonumber(ARGV[1]) then redis.call('set', KEYS[1], '1', 'px', ARGV[1]) end`;

/** The gate of the whole fleet. One throttled call closes it for some time, after which it opens by itself. */
export class FleetGate {
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
}
