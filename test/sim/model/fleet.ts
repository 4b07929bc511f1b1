import {pino} from 'pino';
import {openClient} from '../../../src/client/client.ts';
import {type Chunk, createSeal, sealPurposes} from '../../../src/fleet/protocol.ts';
import {FleetWorker} from '../../../src/fleet/worker/worker.ts';
import {Process} from '../world/process.ts';
import {type RedisJob, Server} from '../world/redis.ts';
import type {Asker, Service} from '../world/service.ts';
import type {World} from '../world/world.ts';
import {ENDPOINT, FLEET, keys} from './places.ts';
import type {FleetSpec} from './sequences.ts';

/** Silence after which a worker counts as lost, and the longest time until one that ended starts again. */
const LOST_AFTER_MS = 4_000;
const RESTART_MS = 5_000;

const log = pino({level: 'silent'});
const seal = createSeal(keys[0]);

/** The values that a chunk is for. */
export const asksOf = ({id, data}: RedisJob) => (seal.open(data.sealed, sealPurposes.asks(id)) as Chunk).asks;

/** A Redis and workers on machines of their own, which outlive the runs. */
export class Fleet {
  readonly redis: Server;
  /** Chunks whose worker was lost. */
  readonly lost = new Set<RedisJob>();
  /** Concurrency of each worker. */
  readonly workers = new Map<Process, number>();
  /** The error that a worker could not go on with. */
  crash: unknown;
  readonly #spec: FleetSpec;
  readonly #world: World;
  readonly #service: Service;
  readonly #askerOf: (session: Process) => Asker;
  readonly #places: (Process | undefined)[];

  constructor(spec: FleetSpec, world: World, service: Service, askerOf: (session: Process) => Asker) {
    this.#spec = spec;
    this.#world = world;
    this.#service = service;
    this.#askerOf = askerOf;
    this.#places = spec.workers.map(() => undefined);
    this.redis = new Server(world, new Process('redis', undefined), spec.isUnsure, job => {
      if (job.isLost) this.lost.add(job);
      service.deliver(job);
    });
  }

  /** Starts the workers that do not run, and plans what befalls them during the sequence's n-th command. */
  begin(nth: number): void {
    for (const place of this.#places.keys()) if (this.#places[place]?.alive !== true) this.#start(place, 0);
    const {cutUntilMs, process: machine} = this.redis;
    for (const {command, worker, how, step, moment, seconds} of this.#spec.troubles) {
      const process = this.#places[worker % this.#places.length];
      if (command !== nth || process === undefined || cutUntilMs.has(process)) continue;
      const untilMs = this.#world.nowMs + 10 * step + seconds * 1_000;
      if (how !== 'cut') process.fate = {how, step: process.steps + step, moment};
      else this.#world.later(10 * step, () => cutUntilMs.set(process, untilMs), machine);
    }
  }

  /** Lets it finish most of what it has, and ends it: a long time passes then, in which nothing happens. */
  async end(ms: number): Promise<void> {
    await this.#world.idle(ms);
    const ending = [...this.#places];
    this.#places.fill(undefined);
    for (const process of ending) process?.end();
  }

  #start(place: number, afterMs: number): void {
    const process = new Process(`worker ${this.workers.size + 1}`, undefined);
    const {concurrency = 1, slowness = 1} = this.#spec.workers[place] ?? {};
    this.#places[place] = process;
    this.workers.set(process, concurrency);
    process.handles.add(() => {
      if (this.#places[place] === process) this.#start(place, this.#world.random() * RESTART_MS);
    });
    const service = {baseUrl: ENDPOINT, apiKey: keys[0]};
    const main = async () => {
      const worker = await FleetWorker.start({
        ...{redisUrl: FLEET, endpoint: ENDPOINT, secret: keys[0], concurrency, log},
        lostAfterMs: LOST_AFTER_MS,
        clientFor: timeoutMs => {
          const chunk = this.redis.opened as RedisJob;
          const asker = () => this.#askerOf(chunk.from);
          return openClient({...service, timeoutMs}, this.#service.transportFor(asker, {chunk, slowness}));
        },
        onFatal: error => {
          if (process.alive) this.crash ??= error;
        },
      });
      process.onTerm = () => void worker.drain().then(() => process.end());
    };
    this.#world.spawn(process, main, afterMs);
  }
}
