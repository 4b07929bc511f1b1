import type {Process} from './process.ts';
import type {World} from './world.ts';

/** A chunk as BullMQ has it in Redis. */
export interface RedisJob {
  readonly id: string;
  readonly data: {readonly sealed: string; readonly life: string};
  readonly timestamp: number;
  /** The session that sent it out. */
  readonly from: Process;
  state: 'waiting' | 'active' | 'completed' | 'failed' | 'unknown';
  /** The worker that took it first, and when; until when its worker is said to live. */
  holder?: Process;
  takenMs: number;
  lockedUntilMs: number;
  /** True if no answer can come back: its worker was silent, so that another is to mark it as failed, or it failed. */
  isLost: boolean;
  returnvalue: string;
  expiresMs: number;
}

/** Longest way of a command or its reply, in milliseconds; and of news that are late. */
const HOP_MS = 0.5;
const LATE_NEWS_MS = 12_000;

/** The Redis of the simulation under way. */
export let redis: Server;
export function serveRedis(server: Server): void {
  redis = server;
}

type Texts = readonly string[];
export type Given = readonly unknown[];

/** A Redis on a machine of its own: the commands of src by their names, and BullMQ's as its scripts do them. */
export class Server {
  readonly world: World;
  readonly process: Process;
  readonly jobs = new Map<string, RedisJob>();
  /** Who is told of chunks that wait, and of those that end. */
  readonly workers = new Set<{readonly process: Process; fetch(): unknown}>();
  readonly runs = new Set<{readonly process: Process; readonly hear: Map<string, (event: object) => void>}>();
  /** Until when what a process says does not arrive. */
  readonly cutUntilMs = new Map<Process, number>();
  /** The chunk that a worker has opened last: right after, it makes a client for it. */
  opened: RedisJob | undefined;
  readonly #isUnsure: boolean;
  readonly #onEnd: (job: RedisJob) => void;
  #wait: string[] = [];
  #stalling = new Set<RedisJob>();
  #checkedUntilMs = 0;
  readonly #members = new Set<string>();
  readonly #texts = new Map<string, {readonly text: string; readonly untilMs: number}>();
  readonly #paceMs = new Map<string, number>();
  #gateUntilMs = 0;

  /** `isUnsure`: news of chunks may come late, twice or never. `onEnd`: told of chunks that came back, or never will. */
  constructor(world: World, process: Process, isUnsure: boolean, onEnd: (job: RedisJob) => void) {
    this.world = world;
    this.process = process;
    this.#isUnsure = isUnsure;
    this.#onEnd = onEnd;
  }

  info = () => 'maxmemory_policy:noeviction\naof_enabled:1';
  time = () => [this.world.wallMs / 1_000, 0];
  pttl = () => Math.ceil(this.#gateUntilMs - this.world.nowMs);
  llen = () => this.#wait.length;
  smembers = () => [...this.#members];
  sadd = (_: string, id: string) => this.#members.add(id);
  srem = (_: string, ids: string | Texts) => [ids].flat().map(id => this.#members.delete(id));
  del = (key: string) => this.#texts.delete(key);
  set = (key: string, text: string, _: string, ms: number) =>
    this.#texts.set(key, {text, untilMs: this.world.nowMs + ms});
  mget = (keys: Texts) =>
    keys.map(key => {
      const {text, untilMs = 0} = this.#texts.get(key) ?? {};
      return untilMs > this.world.nowMs ? text : null;
    });
  pexpire = (key: string, ms: number) => {
    const job = this.#at(key);
    if (job !== undefined) job.expiresMs = this.world.nowMs + ms;
  };
  /** Of a chunk, src asks when a worker took it, and for its data. */
  hmget = (key: string) => {
    const job = this.#at(key);
    return [job?.holder && job.takenMs, job && JSON.stringify(job.data)].map(field => field ?? null);
  };
  /** Takes a chunk off the list of waiting ones, and leaves all else of it. */
  lrem = (_: string, __: number, id: string) => {
    const job = this.jobs.get(id);
    if (job?.state !== 'waiting') return 0;
    this.#wait = this.#wait.filter(one => one !== id);
    job.state = 'unknown';
    return 1;
  };
  /** The scripts of src: the one that closes the gate has one key, the one that takes a lease two. */
  eval = (_: string, keys: number, ...given: readonly (string | number)[]) => {
    const {nowMs} = this.world;
    const [lane, ms] = [String(given[1]), Number(given[keys])];
    if (keys === 1) this.#gateUntilMs = Math.max(this.#gateUntilMs, nowMs + ms);
    if (this.#gateUntilMs > nowMs) return [this.pttl(), 0];
    const beginMs = Math.max(nowMs, this.#paceMs.get(lane) ?? 0);
    this.#paceMs.set(lane, beginMs + ms);
    return [0, Math.ceil(beginMs - nowMs)];
  };
  exec = (steps: readonly (readonly [string, Given])[]) =>
    steps.map(([name, given]) => [null, this.carryOut(name, given)]);

  insert = (data: RedisJob['data'], id: string, from: Process) => {
    const never = Number.POSITIVE_INFINITY;
    const untaken = {takenMs: never, lockedUntilMs: 0, isLost: false, returnvalue: '', expiresMs: never};
    this.jobs.set(id, {id, data, from, timestamp: this.world.wallMs, state: 'waiting', ...untaken});
    this.#wait.push(id);
    this.#wake();
  };
  remove = (id: string) => this.lrem('', 0, id) >= 0 && this.jobs.delete(id);
  getJobState = (id: string) => this.jobs.get(id)?.state ?? 'unknown';
  getJob = (id: string) => {
    const job = this.jobs.get(id);
    return job !== undefined && job.expiresMs > this.world.nowMs ? {...job} : undefined;
  };
  getJobs = (states: Texts) =>
    [...this.jobs.values()].filter(({state}) => states.includes(state)).map(({id}) => this.getJob(id));
  take = (holder: Process, lockMs: number) => {
    const {nowMs} = this.world;
    const job = this.jobs.get(this.#wait.shift() ?? '');
    if (job?.holder === undefined) Object.assign(job ?? {}, {holder, takenMs: nowMs});
    return job && Object.assign(job, {state: 'active', lockedUntilMs: nowMs + lockMs});
  };
  renew = (held: Iterable<RedisJob>, lockMs: number) => {
    for (const job of held) {
      if (job.lockedUntilMs <= this.world.nowMs) continue;
      job.lockedUntilMs = this.world.nowMs + lockMs;
      this.#stalling.delete(job);
    }
  };
  /** Ends a chunk, unless the lock of its worker has expired. */
  finish = (job: RedisJob, state: 'completed' | 'failed', returnvalue: string) => {
    const isLate = job.lockedUntilMs <= this.world.nowMs || (job.isLost && state === 'completed');
    if (isLate || job.state !== 'active') return;
    Object.assign(job, {state, returnvalue, lockedUntilMs: 0, isLost: state === 'failed'});
    this.#onEnd(job);
    this.#tell(state, job);
  };
  /** Puts chunks whose workers are silent back on the list: who takes one then, marks it as failed. */
  checkStalled = (everyMs: number) => {
    const {nowMs} = this.world;
    if (nowMs < this.#checkedUntilMs) return;
    this.#checkedUntilMs = nowMs + everyMs;
    for (const job of this.#stalling)
      if (job.state === 'active' && job.lockedUntilMs <= nowMs) {
        Object.assign(job, {state: 'waiting', isLost: true});
        this.#wait.unshift(job.id);
        this.#onEnd(job);
        this.#wake();
      }
    this.#stalling = new Set([...this.jobs.values()].filter(({state}) => state === 'active'));
  };

  carryOut(name: string, given: Given): unknown {
    return (this as unknown as Record<string, (...given: Given) => unknown>)[name]?.(...given);
  }

  hopMs(): number {
    return this.world.random() * HOP_MS;
  }

  #at(key: string): RedisJob | undefined {
    return this.jobs.get(key.slice(key.lastIndexOf(':') + 1));
  }

  #wake(): void {
    for (const worker of this.workers) this.world.later(this.hopMs(), () => worker.fetch(), worker.process);
  }

  #tell(event: string, {id: jobId, returnvalue}: RedisJob): void {
    for (const {process, hear} of this.runs) {
      const luck = this.#isUnsure ? this.world.random() : 1;
      const lateMs = this.world.random() * LATE_NEWS_MS;
      const all = luck < 0.1 ? [] : luck < 0.2 ? [0, lateMs] : [luck < 0.3 ? lateMs : 0];
      for (const ms of all)
        this.world.later(this.hopMs() + ms, () => hear.get(event)?.({jobId, returnvalue}), process);
    }
  }
}

/** A connection, in place of ioredis. Commands and replies keep their order. */
export class Redis {
  readonly process = redis.world.current as Process;
  readonly status = 'ready';
  #arrivesMs = 0;
  #repliesMs = 0;

  duplicate() {
    return new Redis();
  }

  /** A step of the process, which may be killed at it. */
  command<Result>(name: string, ...given: Given): Promise<Result> {
    const {world, process: machine, cutUntilMs} = redis;
    const {process} = this;
    return new Promise(done => {
      const arrive = () => {
        const result = redis.carryOut(name, given) as Result;
        this.#repliesMs = Math.max(this.#repliesMs, world.nowMs + redis.hopMs());
        world.later(this.#repliesMs - world.nowMs, () => done(result), process);
      };
      const leave = () => {
        const soonMs = Math.max(world.nowMs + redis.hopMs(), cutUntilMs.get(process) ?? 0);
        this.#arrivesMs = Math.max(this.#arrivesMs, soonMs);
        world.later(this.#arrivesMs - world.nowMs, arrive, machine);
      };
      const id = given.find(one => typeof one === 'string') ?? '';
      world.step(
        `redis ${name} ${name === 'eval' ? given.slice(2).join(' ') : id}`,
        leave,
        () => world.random() < 0.5 && leave(),
      );
    });
  }

  multi() {
    const steps: [string, Given][] = [];
    const add =
      (name: string) =>
      (...given: Given) =>
        steps.push([name, given]) && chain;
    const chain: object = new Proxy(this, {
      get: (_, name: string) => (name === 'exec' ? () => this.command('exec', steps) : add(name)),
    });
    return chain;
  }
}

/** Gives a class what is no work here, and the commands that have the same name there. */
export function equip<Home extends object>(
  home: {readonly prototype: Home},
  connectionOf: (own: Home) => Redis,
  commands: string,
): void {
  for (const name of 'connect quit disconnect close waitUntilReady'.split(' '))
    Object.assign(home.prototype, {[name]: async () => {}});
  Object.assign(home.prototype, {
    on(this: Home) {
      return this;
    },
  });
  for (const name of commands.split(' ')) {
    const command = function (this: Home, ...given: Given) {
      return connectionOf(this).command(name, ...given);
    };
    Object.assign(home.prototype, {[name]: command});
  }
}
equip(Redis, own => own, 'info time pttl llen smembers srem mget pexpire hmget lrem eval');
