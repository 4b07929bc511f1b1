import type Bottleneck from 'bottleneck';
import type {Redis} from 'ioredis';
import type {Attempt} from '../client/attempt.ts';
import type {Client, Params} from '../client/client.ts';
import type {Operation} from '../client/wire.ts';
import type {LanePacer, LaneSettings, Outlet} from '../lookup/outlet.ts';
import {perSecond, type RateController} from '../lookup/rate-controller.ts';
import type {Pause, StopReason} from '../lookup/traffic.ts';
import {type AskedOf, ChunkQueue} from './chunk-queue.ts';
import {Limiters} from './pacer.ts';
import {CHUNK_VALUES, type Chunk, type ChunkAsk, type ChunkPace} from './protocol.ts';
import {closing, connectRedis, disconnect, type FleetPackages, loadPackages, publicUrl} from './redis.ts';
import {identityClaims, join, type Member, type Membership, members, rateClaim} from './roster.ts';
import {sealWith} from './seal.ts';
import type {WorkerMember} from './worker.ts';

export interface FleetOptions {
  readonly redisUrl: string;
  readonly runId: string;
  readonly scope: string;
  readonly secret: string;
  readonly lanes: readonly LaneSettings[];
  /** The rate as it was asked for: all runs of a fleet share one. */
  readonly rate: string;
  /** Longest time for one call, in milliseconds. */
  readonly timeoutMs: number;
  /** How long the fleet may be unable to ask, in milliseconds, before the run stops. */
  readonly maxOutageMs: number;
  readonly report: () => RunReport;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly warn: (sentence: string) => void;
}

/** What a run tells of itself. */
export interface RunReport {
  readonly job: string | undefined;
  readonly rows: number;
  readonly calls: number;
  readonly spent: number;
  readonly maybeSpent: number;
  readonly limit: number | null;
}

export type RunMember = Member &
  RunReport & {readonly runId: string; readonly out: number; readonly rate: string};

/** What the run wants to hear of its fleet. */
export interface FleetEvents {
  /** So many values may be out from now on. */
  readonly slots: (count: number) => void;
  readonly outage: (reason: Extract<StopReason, {kind: 'outage'}>) => void;
  /** The fleet has become another's. */
  readonly refused: (error: unknown) => void;
}

/** 98% of the rate is used: 2% are for the clocks' difference and for timers that come late. */
const USE = 0.98;
/** A lease holds the permits of about this long, so that one job of bottleneck's paces many calls. */
const LEASE_SECONDS = 0.01;
/** Permits of a lease where only throttling limits the rate. */
const UNLIMITED_LEASE = 5;
/** A change of the rate smaller than this is not worth telling the fleet. */
const NOTICEABLE = 0.02;
/** Twice what the workers can have in flight is out, so that none of them waits for the next chunk. */
const AHEAD = 2;
/** Values that are out before the first worker is known. */
const FIRST_SLOTS = 2 * CHUNK_VALUES;
const WATCH_MS = 1_000;
/** Trouble that lasts this long, in milliseconds, is told. */
const TELL_AFTER_MS = 3_000;

interface Value extends ChunkAsk {
  readonly resolve: (attempt: Attempt) => void;
}

interface Lane {
  readonly settings: LaneSettings;
  readonly permits: number;
  controller: RateController | undefined;
  limiter: Bottleneck | undefined;
  /** The rate that the limiter has been told, in calls a second. */
  told: number;
  gathering: Value[];
}

/** A run's fleet: values that may leave go out in chunks, and workers on other machines ask about them. */
export class Fleet implements Outlet {
  readonly client: Pick<Client, 'send'>;
  readonly #options: FleetOptions;
  readonly #redis: Redis;
  readonly #queue: ChunkQueue;
  readonly #limiters: Limiters;
  readonly #lanes = new Map<Operation, Lane>();
  #membership: Membership | undefined;
  #events: FleetEvents | undefined;
  #watching: NodeJS.Timeout | undefined;
  #workers = 0;
  #trouble: {readonly what: string; readonly since: number; told: boolean} | undefined;
  #flushing = false;

  private constructor(options: FleetOptions, redis: Redis, packages: FleetPackages) {
    this.#options = options;
    this.#redis = redis;
    this.#queue = new ChunkQueue(redis, packages, options.runId, sealWith(options.secret));
    this.#limiters = new Limiters(redis, packages.ioredis.Redis);
    this.client = {send: (operation, params) => this.#send(operation, params)};
    for (const settings of options.lanes) {
      const rate = perSecond(settings.rate);
      const permits = Number.isFinite(rate) ? Math.max(1, Math.floor(rate * LEASE_SECONDS)) : UNLIMITED_LEASE;
      const lane = {
        settings,
        permits,
        controller: undefined,
        limiter: undefined,
        told: Number.NaN,
        gathering: [],
      };
      for (const operation of settings.operations) this.#lanes.set(operation, lane);
    }
  }

  /**
   * Joins the fleet on this Redis, or founds it.
   *
   * @throws {UsageError} when the packages are missing, or the fleet is another's; {@link FleetUnreachableError}.
   */
  static async join(options: FleetOptions): Promise<Fleet> {
    const packages = await loadPackages();
    const redis = await connectRedis(options.redisUrl, packages);
    const fleet = new Fleet(options, redis, packages);
    try {
      const claims = [...identityClaims(options.scope, sealWith(options.secret)), rateClaim(options.rate)];
      fleet.#membership = await join(
        redis,
        'run',
        claims,
        () => ({...options.report(), runId: options.runId, out: fleet.#queue.values, rate: options.rate}),
        error => fleet.#events?.refused(error),
      );
      await fleet.#queue.ready();
      return fleet;
    } catch (error) {
      await fleet.close();
      throw error;
    }
  }

  /** From now on the run hears how its fleet stands. */
  watch(events: FleetEvents): void {
    this.#events = events;
    events.slots(FIRST_SLOTS);
    let looking = false;
    const look = async () => {
      if (looking) return;
      looking = true;
      // Redis going away in the middle is what the next look finds.
      await this.#look().catch(() => {});
      looking = false;
    };
    this.#watching = setInterval(look, WATCH_MS);
    void look();
  }

  /** What became of the values that an earlier session of this run had sent out. */
  collect(): Promise<AskedOf[]> {
    return this.#queue.collect();
  }

  /** Takes back what no worker has begun: nothing new is sent. */
  async withdraw(): Promise<void> {
    await this.#queue.withdraw();
  }

  /** The pace is kept where the calls are sent; here values leave as soon as they may. */
  pacer(settings: LaneSettings, controller: RateController, lease: (permits: number) => void): LanePacer {
    for (const lane of this.#lanes.values()) if (lane.settings === settings) lane.controller = controller;
    let asked: NodeJS.Immediate | undefined;
    return {
      request() {
        asked ??= setImmediate(() => {
          asked = undefined;
          lease(Number.POSITIVE_INFINITY);
        });
      },
      sent() {},
      stop() {
        clearImmediate(asked);
      },
    };
  }

  get pause(): Pause | undefined {
    if (this.#trouble === undefined) return undefined;
    return {reason: 'fleet', detail: this.#trouble.what, untilMs: this.#options.now() + WATCH_MS};
  }

  async close(): Promise<void> {
    clearInterval(this.#watching);
    if (this.#membership !== undefined) await closing(this.#membership.leave());
    await this.#queue.close();
    await this.#limiters.close();
    await disconnect(this.#redis);
  }

  #send(operation: Operation, params: Params): Promise<Attempt> {
    const lane = this.#lanes.get(operation);
    if (lane === undefined) throw new Error(`no lane for ${operation}`);
    return new Promise(resolve => {
      lane.gathering.push({operation, params, resolve});
      if (this.#flushing) return;
      this.#flushing = true;
      setImmediate(() => this.#flush());
    });
  }

  /** What may leave at the same moment goes out together. */
  #flush(): void {
    this.#flushing = false;
    for (const lane of new Set(this.#lanes.values())) {
      const values = lane.gathering;
      lane.gathering = [];
      const groups: Value[][] = [];
      for (let from = 0; from < values.length; from += CHUNK_VALUES)
        groups.push(values.slice(from, from + CHUNK_VALUES));
      if (groups.length === 0) continue;
      const answers = this.#queue.ask(groups.map(group => this.#chunk(lane, group)));
      for (const [index, answer] of answers.entries()) void deliver(groups[index] ?? [], answer);
    }
  }

  #chunk(lane: Lane, values: readonly Value[]): Chunk {
    return {
      lane: lane.settings.name,
      share: 1 / this.#options.lanes.length,
      pace: this.#pace(lane),
      timeoutMs: this.#options.timeoutMs,
      asks: values.map(({operation, params}) => ({operation, params})),
    };
  }

  /** The pace for now; a change of it is told to the limiter that all workers share. */
  #pace(lane: Lane): ChunkPace | undefined {
    const rate = lane.controller?.perSecond(this.#options.now()) ?? perSecond(lane.settings.rate);
    if (!Number.isFinite(rate)) return undefined;
    const minTimeMs = (lane.permits * 1_000) / (USE * rate);
    lane.limiter ??= this.#limiters.open(lane.settings.name, minTimeMs);
    if (!(Math.abs(rate - lane.told) <= NOTICEABLE * rate)) {
      lane.told = rate;
      Promise.resolve(lane.limiter.updateSettings({minTime: minTimeMs})).catch(() => {
        lane.told = Number.NaN;
      });
    }
    return {permits: lane.permits, minTimeMs};
  }

  async #look(): Promise<void> {
    if (this.#redis.status === 'ready') {
      const workers = await members<WorkerMember>(this.#redis, 'worker');
      this.#workers = workers.length;
      const capacity = workers.reduce((sum, {concurrency}) => sum + concurrency, 0);
      this.#events?.slots(Math.max(FIRST_SLOTS, AHEAD * capacity));
    }
    this.#note(this.#whatIsWrong());
  }

  #whatIsWrong(): string | undefined {
    const where = publicUrl(this.#options.redisUrl);
    if (this.#redis.status !== 'ready') return `the fleet's Redis at ${where} can't be reached`;
    const trouble = this.#queue.trouble ?? this.#membership?.trouble;
    if (trouble !== undefined) return `the fleet's Redis at ${where} fails (${trouble})`;
    return this.#workers === 0 ? `no worker is there on ${where}` : undefined;
  }

  #note(what: string | undefined): void {
    const now = this.#options.now();
    if (what === undefined) {
      this.#trouble = undefined;
      return;
    }
    if (this.#trouble?.what !== what) this.#trouble = {what, since: this.#trouble?.since ?? now, told: false};
    const {since, told} = this.#trouble;
    if (!told && now - since >= TELL_AFTER_MS) {
      this.#trouble.told = true;
      this.#options.warn(`${capital(what)}: the run waits. ${this.#advice()}`);
    }
    if (now - since > this.#options.maxOutageMs)
      this.#events?.outage({kind: 'outage', cause: what, sinceMs: since, comeBackMs: now, asked: false});
  }

  #advice(): string {
    return this.#redis.status === 'ready' && this.#workers === 0
      ? 'Start one with: bulk-enrich worker --redis URL'
      : `It goes on by itself, or stops after --max-outage.`;
  }
}

async function deliver(values: readonly Value[], answer: Promise<readonly Attempt[]>): Promise<void> {
  const attempts = await answer;
  for (const [index, {resolve}] of values.entries()) resolve(attempts[index] as Attempt);
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
