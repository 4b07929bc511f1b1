import type {Redis} from 'ioredis';
import type {TimestampedAttempt} from '../client/attempt.ts';
import type {Dispatcher, LaneSettings, Pause} from '../lookup/call.ts';
import {leaseOf} from '../lookup/leases.ts';
import type {Operation} from '../operations/table.ts';
import {type BookAttempt, ChunkQueue} from './chunk-queue.ts';
import {FleetMonitor, type FleetMonitorOptions} from './monitor.ts';
import {
  CHUNK_SIZE_RANGE,
  type Chunk,
  type ChunkReply,
  type ChunkValue,
  chooseChunkSize,
  createSeal,
  RATE_SHARE,
  type RunReport,
  type Seal,
} from './protocol.ts';
import {
  connectRedis,
  disconnect,
  type FleetPackages,
  loadPackages,
  publicUrl,
  writeRefusedError,
} from './redis.ts';
import {describeProtocol, Membership} from './roster.ts';

export interface FleetOptions extends Pick<FleetMonitorOptions, 'maxOutageMs' | 'now' | 'warn'> {
  readonly redisUrl: string;
  readonly runId: string;
  readonly endpoint: string;
  readonly secret: string;
  readonly lanes: readonly LaneSettings[];
  /** All runs of a fleet must have the same rate. */
  readonly rate: string;
  /** The `credits` of the {@link Agreement}. */
  readonly creditsAt: string | undefined;
  readonly timeoutMs: number;
  readonly report: () => RunReport;
  /** Milliseconds since the epoch by the computer's clock, which may jump. For the dates of answers. */
  readonly date: () => number;
}

/** Events that the fleet reports to the run. */
export interface FleetEvents {
  /** Called with the new maximum number of values that may be out (sent and not returned). */
  readonly slots: (count: number) => void;
  readonly outage: FleetMonitorOptions['onOutage'];
  /** Called when this run no longer agrees with the other members. */
  readonly refused: (error: unknown) => void;
}

/** Maximum number of values out, in multiples of the calls that all workers can have in flight: no worker is idle. */
const AHEAD = 2;
/** Minimum number of values that may be out, even while no worker is known. */
const FEWEST_SLOTS = 2 * CHUNK_SIZE_RANGE.least;

/** A run's fleet. Sends values out in chunks, and gets the attempts back from workers on other machines. */
export class Fleet implements Dispatcher {
  /** The workers keep the rate. */
  readonly keepsPace = true;
  readonly #options: FleetOptions;
  readonly #redis: Redis;
  readonly #queue: ChunkQueue;
  readonly #lanes = new Map<Operation, FleetLane>();
  #membership: Membership | undefined;
  #events: FleetEvents | undefined;
  #monitor: FleetMonitor | undefined;
  #chunkValues = CHUNK_SIZE_RANGE.least;
  /** Attempts that came back since the time `since`, in milliseconds. */
  #returned = {count: 0, since: 0};

  private constructor(options: FleetOptions, redis: Redis, packages: FleetPackages, seal: Seal) {
    this.#options = options;
    this.#redis = redis;
    this.#queue = new ChunkQueue(redis, packages, options.runId, seal, options.date);
    const {lanes, timeoutMs} = options;
    for (const {name, operations} of lanes) {
      const lane = new FleetLane({
        lane: name,
        share: 1 / lanes.length,
        timeoutMs,
        chunkValues: () => this.#chunkValues,
        send: (chunk, values) => void this.#deliver(values, this.#queue.ask(chunk)),
      });
      for (const operation of operations) this.#lanes.set(operation, lane);
    }
  }

  /**
   * @throws as {@link loadPackages} and {@link connectRedis}; {UsageError} if it does not agree with the members; an
   * error with exit code 5 if Redis takes no writes.
   */
  static async join(options: FleetOptions): Promise<Fleet> {
    const packages = await loadPackages();
    const redis = await connectRedis(options.redisUrl, packages);
    const seal = createSeal(options.secret);
    const fleet = new Fleet(options, redis, packages, seal);
    try {
      fleet.#membership = await fleet.#enterRoster(seal);
      await fleet.#queue.ready();
      return fleet;
    } catch (error) {
      await fleet.close();
      throw writeRefusedError(options.redisUrl, error);
    }
  }

  watch(events: FleetEvents): void {
    this.#events = events;
    events.slots(FEWEST_SLOTS);
    this.#returned = {count: 0, since: this.#options.now()};
    this.#monitor = new FleetMonitor({
      ...this.#options,
      redis: this.#redis,
      where: publicUrl(this.#options.redisUrl),
      refused: () => this.#queue.trouble ?? this.#membership?.trouble,
      onCapacity: (workers, calls) => events.slots(this.#slots(workers, calls)),
      onOutage: events.outage,
    });
  }

  collect(book: BookAttempt): Promise<void> {
    return this.#queue.collect(book);
  }

  withdraw(): Promise<void> {
    return this.#queue.withdraw();
  }

  send(
    {operation, params, dispatch, cost}: Parameters<Dispatcher['send']>[0],
    perSecond: number,
  ): Promise<TimestampedAttempt> {
    const lane = this.#lanes.get(operation);
    if (lane === undefined) throw new Error(`no lane for ${operation}`);
    return new Promise(resolve => lane.add({dispatch, operation, params, cost, resolve}, perSecond));
  }

  get pause(): Pause | undefined {
    return this.#monitor?.pause;
  }

  async close(): Promise<void> {
    this.#monitor?.stop();
    await this.#membership?.leave();
    await this.#queue.close();
    await disconnect(this.#redis);
  }

  #enterRoster(seal: Seal): Promise<Membership> {
    const {endpoint, rate, creditsAt, runId, report} = this.#options;
    return Membership.enter(this.#redis, {
      kind: 'run',
      agreed: {protocol: describeProtocol(endpoint), rate, credits: creditsAt},
      seal,
      report: () => ({...report(), runId, out: this.#queue.values, rate}),
      warn: this.#options.warn,
      onRefused: error => this.#events?.refused(error),
    });
  }

  async #deliver(values: readonly LeavingValue[], answer: Promise<ChunkReply>): Promise<void> {
    const attempts = await answer;
    this.#returned.count += attempts.length;
    for (const [index, {resolve}] of values.entries()) resolve(attempts[index] as TimestampedAttempt);
  }

  /**
   * Sets the size of chunks by the workers' pace. Returns the number of values that may be out: so many that no
   * worker is idle, and at least two chunks for each.
   */
  #slots(workers: number, calls: number): number {
    const now = this.#options.now();
    const {count, since} = this.#returned;
    if (now > since) {
      this.#returned = {count: 0, since: now};
      this.#chunkValues = chooseChunkSize(count / (now - since), workers);
    }
    return Math.max(FEWEST_SLOTS, AHEAD * Math.max(calls, workers * this.#chunkValues));
  }
}

/** Milliseconds that values wait for others to fill a chunk. */
const GATHER_MS = 5;

/** A value that may be sent out. `resolve` gives its attempt to the waiting caller. */
export interface LeavingValue extends ChunkValue {
  readonly resolve: (attempt: TimestampedAttempt) => void;
}

export interface FleetLaneOptions extends Pick<Chunk, 'lane' | 'share' | 'timeoutMs'> {
  /** Number of values in a full chunk now. */
  readonly chunkValues: () => number;
  /** Sends a chunk to the workers. `values`: the values that the chunk asks for, in the same order. */
  readonly send: (chunk: Chunk, values: readonly LeavingValue[]) => void;
}

/** A run's side of a lane (operations that share one rate). Gathers values into chunks, which name the pace. */
export class FleetLane {
  readonly #options: FleetLaneOptions;
  #gathered: LeavingValue[] = [];
  /** The rate that the service allows now, in calls per second; infinite without a limit. */
  #rate = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FleetLaneOptions) {
    this.#options = options;
  }

  /** Adds a value. A full chunk is sent at once, a partial one after `GATHER_MS`. */
  add(value: LeavingValue, perSecond: number): void {
    this.#rate = perSecond;
    this.#gathered.push(value);
    if (this.#gathered.length >= this.#options.chunkValues()) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const {lane, share, timeoutMs, send} = this.#options;
    const values = this.#gathered.splice(0);
    const pace = Number.isFinite(this.#rate) ? leaseOf(this.#rate, RATE_SHARE) : undefined;
    const asks = values.map(({resolve: _, ...ask}) => ask);
    send({lane, share, pace, timeoutMs, asks}, values);
  }
}
