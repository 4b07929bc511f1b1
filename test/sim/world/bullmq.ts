import {equip, type Redis, type RedisJob, redis} from './redis.ts';

/** In place of BullMQ's. */
export class Queue {
  readonly connection: Redis;

  constructor(_: string, {connection}: {readonly connection: Redis}) {
    this.connection = connection;
  }

  toKey = (name: string) => `bulk-enrich:chunks:${name}`;
  add = (_: string, data: RedisJob['data'], {jobId}: {readonly jobId: string}) =>
    this.connection.command('insert', data, jobId, this.connection.process);
}

equip(Queue, ({connection}) => connection, 'remove getJobState getJob getJobs');

export class QueueEvents extends Queue {
  readonly process = this.connection.process;
  readonly hear = new Map<string, (event: object) => void>();

  constructor(name: string, options: {readonly connection: Redis}) {
    super(name, options);
    redis.runs.add(this);
    this.process.handles.add(() => redis.runs.delete(this));
  }

  on = (event: string, handler: (event: object) => void) => this.hear.set(event, handler);
  close = async () => redis.runs.delete(this);
}

type WorkerOptions = {readonly connection: Redis} & Readonly<
  Record<'concurrency' | 'lockDuration' | 'lockRenewTime' | 'stalledInterval', number>
>;

/** Holds as many chunks as it may, until it is closed. */
export class Worker extends Queue {
  readonly process = this.connection.process;
  concurrency: number;
  readonly #options: WorkerOptions;
  readonly #work: (job: object) => Promise<string>;
  readonly #held = new Set<RedisJob>();
  #isFetching = false;
  #isWoken = false;
  #onRest: (() => void) | undefined;

  constructor(name: string, work: (job: object) => Promise<string>, options: WorkerOptions) {
    super(name, options);
    this.#work = work;
    this.#options = options;
    this.concurrency = options.concurrency;
    this.process.handles.add(() => redis.workers.delete(this));
  }

  async run(): Promise<void> {
    const {connection, lockDuration, lockRenewTime, stalledInterval} = this.#options;
    redis.workers.add(this);
    const check = () => connection.command('checkStalled', stalledInterval);
    setInterval(check, stalledInterval);
    setInterval(
      () => this.#held.size > 0 && connection.command('renew', this.#held, lockDuration),
      lockRenewTime,
    );
    await check();
    await this.fetch();
  }

  async fetch(): Promise<void> {
    this.#isWoken = true;
    if (this.#isFetching) return;
    this.#isFetching = true;
    const {connection, lockDuration} = this.#options;
    while (this.#isWoken && redis.workers.has(this) && this.#held.size < this.concurrency) {
      this.#isWoken = false;
      const job = await connection.command<RedisJob | undefined>('take', this.process, lockDuration);
      if (job === undefined) continue;
      this.#isWoken = true;
      this.#held.add(job);
      void this.#carryOut(job);
    }
    this.#isFetching = false;
    if (this.#held.size === 0) this.#onRest?.();
  }

  close = async (isForced = false): Promise<void> => {
    redis.workers.delete(this);
    if (isForced || (this.#held.size === 0 && !this.#isFetching)) return;
    await new Promise<void>(resolve => {
      this.#onRest = resolve;
    });
  };

  async #carryOut(job: RedisJob): Promise<void> {
    const {id, data, isLost} = job;
    const opened = {
      life: data.life,
      get sealed() {
        redis.opened = job;
        return data.sealed;
      },
    };
    const result = isLost ? undefined : await this.#work({id, data: opened}).catch(() => undefined);
    const end = result === undefined ? 'failed' : 'completed';
    await this.#options.connection.command('finish', job, end, result);
    this.#held.delete(job);
    await this.fetch();
  }
}
