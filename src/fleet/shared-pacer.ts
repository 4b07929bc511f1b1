import Bottleneck from 'bottleneck';
import type {Redis} from 'ioredis';
import type {Gate} from './gate.ts';
import {type ChunkPace, PREFIX} from './protocol.ts';
import {Punctuality} from './worker/punctuality.ts';

/** A lease that may come later than this, in milliseconds, is given up: a late one would crowd into a later second. */
const TOO_LATE_MS = 10;

/** After an error of Redis, such as no memory, leases are asked for again after so many milliseconds. */
const AGAIN_MS = 1_000;

/** The limiters of one process's lanes: bottleneck keeps their state in Redis, and one connection serves them all. */
export class Limiters {
  readonly #connection: Bottleneck.IORedisConnection;

  constructor(redis: Redis, RedisClass: typeof Redis) {
    this.#connection = new Bottleneck.IORedisConnection({
      // bottleneck waits for connections that it does not open.
      client: recognizable(redis.duplicate({lazyConnect: false})),
      Redis: RedisClass,
    } as Bottleneck.IORedisConnectionOptions);
    // Redis being away is seen from the connection itself; its commands wait meanwhile.
    this.#connection.on('error', () => {});
  }

  /** The limiter that all processes share under this name. `minTime` is used if it does not exist yet. */
  open(lane: string, minTime: number): Bottleneck {
    const limiter = new Bottleneck({id: `${PREFIX}:${lane}`, minTime, connection: this.#connection});
    // A caller that waits for a lease would then wait for ever, unless something makes bottleneck look again.
    limiter.on('error', () => {
      setTimeout(() => void limiter.schedule(async () => {}).catch(() => {}), AGAIN_MS).unref();
    });
    return limiter;
  }

  async close(): Promise<void> {
    await this.#connection.disconnect(false);
  }
}

/** Errors after which bottleneck 2.19 recreates a limiter, or one of its clients, that Redis has forgotten. */
const FORGOTTEN = /SETTINGS_KEY_NOT_FOUND|UNKNOWN_CLIENT/;

/** bottleneck goes by the whole text of these errors, and Redis 7 adds to it: `ERR` before, the script's name after. */
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

/** Hands out permits to send, in leases that all workers of a fleet take from one limiter. */
export class SharedPacer {
  readonly #limiter: Bottleneck;
  readonly #gate: Gate;
  readonly #permits: number;
  readonly #lease: (permits: number) => void;
  readonly #held: (ms: number) => void;
  readonly #punctuality = new Punctuality();
  #scheduled = false;

  /** `lease` is called with the number of calls that may be sent now, or `held` with how long none may be. */
  constructor(
    limiter: Bottleneck,
    gate: Gate,
    {permits}: ChunkPace,
    lease: (permits: number) => void,
    held: (ms: number) => void,
  ) {
    this.#limiter = limiter;
    this.#gate = gate;
    this.#permits = permits;
    this.#lease = lease;
    this.#held = held;
  }

  /** Asks for a lease; however often that is done, one is under way at a time. */
  request(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#take().catch(() => this.#again());
  }

  async #take(): Promise<void> {
    const closedMs = await this.#gate.closedMs();
    if (closedMs > 0) {
      this.#scheduled = false;
      this.#held(closedMs);
      return;
    }
    this.#punctuality.start();
    this.#limiter.once('scheduled', () => this.#punctuality.timerSet());
    await this.#limiter.schedule(async () => this.#granted(this.#punctuality.stop()));
  }

  /** Redis has refused: it may not the next time. */
  #again(): void {
    setTimeout(() => {
      this.#scheduled = false;
      this.request();
    }, AGAIN_MS).unref();
  }

  #granted(lateMs: number): void {
    this.#scheduled = false;
    if (lateMs > TOO_LATE_MS) this.request();
    else this.#lease(this.#permits);
  }
}
