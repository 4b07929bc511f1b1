import Bottleneck from 'bottleneck';
import type {Redis} from 'ioredis';
import {KEY_PREFIX} from './protocol.ts';

/** Milliseconds after an error of Redis, such as no memory, until permits are requested again. */
export const RETRY_MS = 1_000;

/** Returns a lane's limiter. Rejects if Redis refuses to open the limiter; the next call then tries again. */
export type OpenLimiter = () => Promise<Bottleneck>;

/**
 * One process's limiters, one for each lane (operations that share one rate). bottleneck keeps their state in
 * Redis, over one connection.
 */
export class Limiters {
  readonly #connection: Bottleneck.IORedisConnection;

  constructor(redis: Redis, RedisClass: typeof Redis) {
    this.#connection = new Bottleneck.IORedisConnection({
      // Opens this connection immediately: bottleneck does not open a given connection, but waits for it.
      client: recognizable(redis.duplicate({lazyConnect: false})),
      Redis: RedisClass,
    } as Bottleneck.IORedisConnectionOptions);
    // Errors need no handling here: the connection's state shows if Redis is away, and commands wait meanwhile.
    this.#connection.on('error', () => {});
  }

  /**
   * Returns a function that opens the limiter which all processes share under this name. `minTime` is used if the
   * limiter is new.
   */
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
    const limiter = new Bottleneck({id: `${KEY_PREFIX}:${lane}`, minTime, connection: this.#connection});
    // After an error, callers would wait forever for their permits. A new request makes bottleneck check again.
    limiter.on('error', () => {
      setTimeout(() => void limiter.schedule(async () => {}).catch(() => {}), RETRY_MS).unref();
    });
    await limiter.ready();
    return limiter;
  }

  async close(): Promise<void> {
    await this.#connection.disconnect(false);
  }
}

/** Redis's errors for a limiter or a client that it has lost. bottleneck 2.19 then creates the lost one again. */
const FORGOTTEN = /SETTINGS_KEY_NOT_FOUND|UNKNOWN_CLIENT/;

/**
 * Shortens the texts of {@link FORGOTTEN} errors to the bare error code. bottleneck compares whole texts, but
 * Redis 7 adds `ERR` and a script's name to the code.
 */
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

const GATE_KEY = `${KEY_PREFIX}:gate`;
/** Script that closes the gate for some milliseconds. If several callers close it, the longest time counts. */
const CLOSE_GATE = `if redis.call('pttl', KEYS[1]) < tonumber(ARGV[1]) then redis.call('set', KEYS[1], '1', 'px', ARGV[1]) end`;

/**
 * The gate of the whole fleet. A throttled call closes it for some time, in which no worker sends a call. Then it
 * opens by itself.
 */
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
