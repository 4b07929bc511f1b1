import {setTimeout as sleep} from 'node:timers/promises';
import type {Job} from 'bullmq';
import type {Redis} from 'ioredis';
import type {Attempt} from '../../client/attempt.ts';
import type {Sender} from '../../client/client.ts';
import {type EventLog, logEvent} from '../../job/log-events.ts';
import {
  CHUNK_SIZE_RANGE,
  type Chunk,
  createSeal,
  FleetLimits,
  KEY_EXPIRY_MS,
  KEY_PREFIX,
  QUEUE_NAME,
  type Seal,
  type SealedChunk,
  sealPurposes,
  type WorkerReport,
} from '../protocol.ts';
import {
  clockAheadMs,
  connectRedis,
  disconnect,
  type FleetPackages,
  loadPackages,
  RedisIncarnation,
  writeRefusedError,
} from '../redis.ts';
import {describeProtocol, Membership} from '../roster.ts';
import {WorkerLane} from './worker-lane.ts';

export interface WorkerOptions {
  readonly redisUrl: string;
  /** The service's endpoint. A fleet refuses a worker that has another endpoint or another key. */
  readonly endpoint: string;
  readonly secret: string;
  readonly concurrency: number;
  /** Milliseconds of silence after which a worker counts as lost. */
  readonly lostAfterMs: number;
  readonly clientFor: (timeoutMs: number) => Sender;
  readonly log: EventLog;
  readonly warn?: ((sentence: string) => void) | undefined;
  /** Receives the error after which the worker can't continue. */
  readonly onFatal: (error: unknown) => void;
}

/** The state of a worker's fleet. */
export interface FleetQueueState {
  /** Milliseconds until the fleet sends calls again, if the service throttled; otherwise 0. */
  readonly closedMs: number;
  /** Chunks that no worker has taken yet. */
  readonly waiting: number;
}

/**
 * Values that a worker takes for each call that it can have in flight: above 1, so that no call waits for a chunk.
 */
const AHEAD = 1.5;
/** Milliseconds between two checks of a stopping worker for calls in flight. */
const CHECK_MS = 250;
/** Milliseconds of silence after which Redis counts as away. */
const SILENT_MS = 2_000;
/** Weight of the latest chunk in the average size of chunks. */
const LATEST_WEIGHT = 0.1;

/** A fleet's worker: takes chunks, looks up their values at the fleet's pace, and returns the outcomes. */
export class FleetWorker {
  readonly #options: WorkerOptions;
  readonly #redis: Redis;
  readonly #seal: Seal;
  readonly #limits: FleetLimits;
  readonly #incarnation: RedisIncarnation;
  readonly #lanes = new Map<string, WorkerLane>();
  readonly #calls: Partial<Record<Attempt['kind'], number>> = {};
  readonly #queue: import('bullmq').Worker<SealedChunk, string>;
  #membership: Membership | undefined;
  #clockAheadMs = 0;
  #inFlight = 0;
  #chunks = 0;
  /** Average number of values in recent chunks. */
  #chunkSize = CHUNK_SIZE_RANGE.least;
  #draining = false;

  private constructor(options: WorkerOptions, redis: Redis, {bullmq}: FleetPackages) {
    this.#options = options;
    this.#redis = redis;
    this.#seal = createSeal(options.secret);
    this.#limits = new FleetLimits(redis);
    this.#incarnation = new RedisIncarnation(redis);
    this.#queue = new bullmq.Worker(QUEUE_NAME, job => this.#work(job), {
      connection: redis,
      prefix: KEY_PREFIX,
      autorun: false,
      concurrency: this.#chunksAtOnce(),
      lockDuration: options.lostAfterMs,
      lockRenewTime: options.lostAfterMs / 4,
      stalledInterval: options.lostAfterMs / 2,
      // BullMQ must not give a lost worker's chunk to another worker, since its values may have been sent. The run
      // decides about them.
      maxStalledCount: 0,
    });
    this.#queue.on('error', error => logEvent(options.log, 'fleet_redis_error', {error}, 'redis'));
  }

  /**
   * @throws as {@link loadPackages} and {@link connectRedis}; {UsageError} if the members have another endpoint, key
   * or protocol; an error with exit code 5 if Redis takes no writes.
   */
  static async start(options: WorkerOptions): Promise<FleetWorker> {
    const packages = await loadPackages();
    const redis = await connectRedis(options.redisUrl, packages);
    const worker = new FleetWorker(options, redis, packages);
    try {
      worker.#clockAheadMs = await clockAheadMs(redis, Date.now);
      worker.#membership = await Membership.enter(redis, {
        kind: 'worker',
        agreed: {protocol: describeProtocol(options.endpoint)},
        seal: worker.#seal,
        report: () => worker.report,
        warn: options.warn,
        onRefused: options.onFatal,
      });
    } catch (error) {
      await worker.#disconnect();
      throw writeRefusedError(options.redisUrl, error);
    }
    worker.#queue.run().catch(options.onFatal);
    return worker;
  }

  get report(): WorkerReport {
    return {
      concurrency: this.#options.concurrency,
      inFlight: this.#inFlight,
      chunks: this.#chunks,
      clockAheadMs: this.#clockAheadMs,
      calls: this.#calls,
    };
  }

  /** True while the fleet knows of this worker, and the worker takes chunks. */
  get isReady(): boolean {
    return !this.#draining && this.hasRedis;
  }

  get hasRedis(): boolean {
    return this.#membership?.isHeard === true;
  }

  /** The fleet's state; undefined while Redis does not answer. */
  async fleet(): Promise<FleetQueueState | undefined> {
    if (!this.hasRedis) return undefined;
    const silent = sleep(SILENT_MS, undefined, {ref: false});
    const view = Promise.all([this.#limits.closedMs(), this.#redis.llen(this.#queue.toKey('wait'))]);
    const [closedMs, waiting] = (await Promise.race([view, silent])) ?? [];
    return closedMs === undefined || waiting === undefined ? undefined : {closedMs, waiting};
  }

  /**
   * Takes no new chunks, gives back unsent values, waits for calls in flight, and leaves the fleet. Resolves with
   * false if results are lost because Redis stayed away. The caller must then end the process: BullMQ still waits
   * for Redis.
   */
  async drain(): Promise<boolean> {
    this.#draining = true;
    for (const lane of this.#lanes.values()) lane.drain();
    const closed = this.#queue.close().then(() => true);
    if (!(await Promise.race([closed, this.#loseAnswers()]))) return false;
    await this.#membership?.leave();
    await this.#disconnect();
    return true;
  }

  async #work({id = '', data}: Job<SealedChunk, string>): Promise<string> {
    // The run may never collect the results.
    this.#redis.pexpire(this.#queue.toKey(id), KEY_EXPIRY_MS).catch(() => {});
    // The chunk fails, and a run that waits for it counts it as lost.
    if (data.life !== (await this.#incarnation.name())) throw new Error('perhaps from a snapshot');
    const chunk = this.#seal.open(data.sealed, sealPurposes.asks(id)) as Chunk | undefined;
    if (chunk === undefined) throw new Error('sealed with another secret, or as something else');
    this.#chunkSize += LATEST_WEIGHT * (chunk.asks.length - this.#chunkSize);
    this.#queue.concurrency = this.#chunksAtOnce();
    const client = this.#countCalls(this.#options.clientFor(chunk.timeoutMs));
    const attempts = await this.#lane(chunk).ask(chunk, client);
    this.#chunks += 1;
    return this.#seal.close(attempts, sealPurposes.answers(id));
  }

  /** Resolves with false once no call was in flight for `lostAfterMs`: what Redis has not taken by then is lost. */
  async #loseAnswers(): Promise<false> {
    const {lostAfterMs} = this.#options;
    for (let waitedMs = 0; waitedMs < lostAfterMs; waitedMs = this.#inFlight > 0 ? 0 : waitedMs + CHECK_MS)
      await sleep(CHECK_MS, undefined, {ref: false});
    return false;
  }

  #chunksAtOnce(): number {
    const fewest = this.#chunkSize > CHUNK_SIZE_RANGE.least ? 2 : 1;
    return Math.max(fewest, Math.ceil((AHEAD * this.#options.concurrency) / this.#chunkSize));
  }

  #lane({lane: name, share}: Chunk): WorkerLane {
    const known = this.#lanes.get(name);
    if (known !== undefined) return known;
    const slots = Math.max(1, Math.floor(this.#options.concurrency * share));
    const lane = new WorkerLane(name, slots, this.#limits);
    if (this.#draining) lane.drain();
    this.#lanes.set(name, lane);
    return lane;
  }

  #countCalls(client: Sender): Sender {
    return {
      send: async (operation, params) => {
        this.#inFlight += 1;
        const attempt = await client.send(operation, params);
        this.#inFlight -= 1;
        this.#calls[attempt.kind] = (this.#calls[attempt.kind] ?? 0) + 1;
        return attempt;
      },
    };
  }

  async #disconnect(): Promise<void> {
    await this.#queue.close(true);
    await disconnect(this.#redis);
  }
}
