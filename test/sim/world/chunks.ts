import type {Process} from './process.ts';
import {type RedisConnection, type RedisServer, ReplyError} from './redis.ts';
import type {World} from './world.ts';

/** The part of BullMQ that a run and its workers use, over the simulated Redis. */

interface StoredJob {
  readonly id: string;
  readonly data: unknown;
  readonly timestamp: number;
  state: 'waiting' | 'active' | 'completed' | 'failed';
  returnvalue?: string;
  /** Its owner, and since when the owner has been silent. */
  owner?: Process;
  /** True once its owner knows of it: one whose answer was lost is held by nobody. */
  isHeard?: boolean;
}

interface Options {
  readonly connection: RedisConnection;
  readonly prefix: string;
}

/** Listeners for events of jobs, beside their own process. */
interface Listeners {
  readonly events: Set<QueueEvents>;
  readonly workers: Set<Worker>;
}

const listeners = new WeakMap<RedisServer, Listeners>();

function listenersOf(server: RedisServer): Listeners {
  const found = listeners.get(server) ?? {events: new Set(), workers: new Set()};
  listeners.set(server, found);
  return found;
}

class Base {
  protected readonly redis: RedisConnection;
  protected readonly server: RedisServer;
  protected readonly world: World;
  readonly #prefix: string;

  constructor(name: string, {connection, prefix}: Options) {
    this.redis = connection;
    this.server = connection.server;
    this.world = connection.server.world;
    this.#prefix = `${prefix}:${name}:`;
  }

  toKey(name: string): string {
    return this.#prefix + name;
  }

  async waitUntilReady(): Promise<void> {}

  on(_event: string, _listener: unknown): this {
    return this;
  }

  protected job(id: string): StoredJob | undefined {
    const found = this.server.value<StoredJob>(this.toKey(id));
    return found?.state === undefined ? undefined : found;
  }

  protected jobs(): StoredJob[] {
    const own = [...this.server.values.keys()].filter(key => key.startsWith(this.#prefix));
    return own.flatMap(key => this.job(key.slice(this.#prefix.length)) ?? []);
  }

  /** As BullMQ tells it, by the lists: what was taken off the waiting ones without being begun is in none. */
  protected stateOf({id, state}: StoredJob): string {
    return state === 'waiting' && !this.waiting().includes(id) ? 'unknown' : state;
  }

  protected waiting(): string[] {
    return this.server.list(this.toKey('wait'));
  }
}

export class Queue extends Base {
  add(_name: string, data: unknown, {jobId, timestamp}: {jobId: string; timestamp: number}): Promise<void> {
    const add = () => {
      // A name that exists already, a fence included, is not added again.
      if (this.server.value(this.toKey(jobId)) !== undefined) return;
      this.server.set(this.toKey(jobId), {id: jobId, data, timestamp, state: 'waiting'} satisfies StoredJob);
      this.waiting().push(jobId);
      for (const worker of listenersOf(this.server).workers) worker.wake();
    };
    const process = this.world.current;
    process?.unheard.add(jobId);
    const added = this.server.ask('add chunk', true, add, this.redis.isOnce);
    // A refused add is certainly missing; one whose connection broke may be there.
    added.catch(error => error instanceof ReplyError && process?.unheard.delete(jobId));
    return added;
  }

  remove(id: string): Promise<number> {
    return this.server.ask('remove chunk', true, () => {
      if (this.job(id)?.state === 'active') return 0;
      return this.server.remove(this.toKey(id)) ? 1 : 0;
    });
  }

  getJobs(states: readonly string[]): Promise<StoredJob[]> {
    return this.server.ask('jobs', false, () =>
      this.jobs().filter(job => states.includes(this.stateOf(job))),
    );
  }

  getJobState(id: string): Promise<string> {
    const stateNow = () => {
      const job = this.job(id);
      return job === undefined ? 'unknown' : this.stateOf(job);
    };
    return this.#hearing(id, this.server.ask('state', false, stateNow), state => state === 'failed');
  }

  /** Notes where an answer tells the process what became of a chunk. */
  async #hearing<T>(id: string, asked: Promise<T>, tells: (answer: T) => boolean): Promise<T> {
    const process = this.world.current;
    const answer = await asked;
    if (tells(answer)) process?.unheard.delete(id);
    return answer;
  }

  getJob(id: string): Promise<StoredJob | undefined> {
    return this.#hearing(
      id,
      this.server.ask('job', false, () => this.job(id)),
      job => job?.returnvalue !== undefined,
    );
  }

  async close(): Promise<void> {}
}

type Told = {readonly jobId: string; readonly returnvalue: string};

export class QueueEvents extends Base {
  readonly #process: Process | undefined;
  readonly #told: Record<string, (told: Told) => void> = {};

  constructor(name: string, options: Options) {
    super(name, options);
    this.#process = this.world.current;
    listenersOf(this.server).events.add(this);
  }

  override on(event: string, listener: unknown): this {
    this.#told[event] = listener as (told: Told) => void;
    return this;
  }

  /** News are missed while Redis is away. */
  hear(event: 'completed' | 'failed', told: Told): void {
    if (this.server.isWithin(this.server.away)) return;
    const tell = () => {
      this.#process?.unheard.delete(told.jobId);
      this.#told[event]?.(told);
    };
    this.world.later(1, tell, this.#process);
  }

  async close(): Promise<void> {
    listenersOf(this.server).events.delete(this);
  }
}

interface WorkerOptions extends Options {
  readonly concurrency: number;
  readonly lockDuration: number;
  readonly stalledInterval: number;
}

export class Worker extends Base {
  concurrency: number;
  readonly #work: (job: StoredJob) => Promise<string>;
  readonly #options: WorkerOptions;
  readonly #process: Process | undefined;
  readonly #silentSince = new Map<string, number>();
  #active = 0;
  #closing = false;
  #idle: () => void = () => {};

  constructor(name: string, work: (job: StoredJob) => Promise<string>, options: WorkerOptions) {
    super(name, options);
    this.#work = work;
    this.#options = options;
    this.concurrency = options.concurrency;
    this.#process = this.world.current;
  }

  async run(): Promise<void> {
    listenersOf(this.server).workers.add(this);
    this.world.every(this.#options.stalledInterval, () => this.#lookForStalled(), this.#process);
    this.wake();
  }

  wake(): void {
    this.world.later(1, () => this.#take(), this.#process);
  }

  async close(force = false): Promise<void> {
    this.#closing = true;
    listenersOf(this.server).workers.delete(this);
    if (this.#active > 0 && !force) await new Promise<void>(resolve => (this.#idle = resolve));
  }

  #take(): void {
    if (this.#closing || this.#active >= this.concurrency || this.waiting().length === 0) return;
    this.#active += 1;
    const take = () => {
      const id = this.waiting().shift();
      const job = id === undefined ? undefined : this.job(id);
      if (job === undefined) return undefined;
      job.state = 'active';
      if (this.#process !== undefined) job.owner = this.#process;
      return job;
    };
    const taken = this.server.ask('take chunk', true, take).catch(() => undefined);
    void taken
      .then(job => {
        if (job === undefined) return undefined;
        job.isHeard = true;
        return this.#carryOut(job);
      })
      .finally(() => {
        this.#active -= 1;
        if (this.#active === 0) this.#idle();
        this.wake();
      });
  }

  async #carryOut(job: StoredJob): Promise<void> {
    const ended = await this.#work(job).then(
      returnvalue => ({state: 'completed', returnvalue}) as const,
      () => ({state: 'failed', returnvalue: ''}) as const,
    );
    const finish = () => {
      // One that was taken for stalled meanwhile is another's to tell of.
      if (this.job(job.id)?.owner === this.#process) this.#end(job, ended.state, ended.returnvalue);
    };
    for (let done = false; !done; ) {
      done = await this.server.ask(`finish chunk`, true, finish).then(
        () => true,
        () => false,
      );
      if (!done) await new Promise(resolve => this.world.later(1_000, () => resolve(undefined)));
    }
  }

  #end(job: StoredJob, state: 'completed' | 'failed', returnvalue: string): void {
    job.state = state;
    job.returnvalue = returnvalue;
    for (const events of listenersOf(this.server).events) events.hear(state, {jobId: job.id, returnvalue});
  }

  /** Fails the jobs of a lost worker once it was silent for long enough. */
  #lookForStalled(): void {
    const now = this.world.steadyMs;
    for (const job of this.jobs()) {
      const isHeld = job.owner?.alive !== false && job.isHeard === true;
      if (job.state !== 'active' || isHeld) {
        this.#silentSince.delete(job.id);
        continue;
      }
      const since = this.#silentSince.get(job.id) ?? now;
      this.#silentSince.set(job.id, since);
      if (now - since >= this.#options.lockDuration) this.#end(job, 'failed', '');
    }
  }
}
