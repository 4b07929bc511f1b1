import type {Job, Queue, QueueEvents} from 'bullmq';
import type {Redis} from 'ioredis';
import type {Attempt} from '../client/attempt.ts';
import {type Chunk, type ChunkAsk, KEEP_MS, PREFIX, QUEUE, type SealedChunk} from './protocol.ts';
import {closing, type FleetPackages} from './redis.ts';
import type {Seal} from './seal.ts';

/** A chunk that is out, and who waits for it. */
interface Out {
  readonly chunk: Chunk;
  readonly resolve: (attempts: readonly Attempt[]) => void;
  /** Redis knew nothing of it when it was last looked for. */
  missing: boolean;
}

/** One value and what became of it. */
export interface AskedOf {
  readonly ask: ChunkAsk;
  readonly attempt: Attempt;
}

type ChunkJob = Job<SealedChunk, string>;

/** Wait before a chunk that Redis did not take is offered again, in milliseconds. */
const ADD_AGAIN_MS = 1_000;
/** A chunk that came back stays in Redis for this long, in milliseconds: until its outcomes are in the ledger for sure. */
const REMOVE_AFTER_MS = 1_000;
/** News may be missed while Redis is away: chunks that are out are looked up this often, in milliseconds. */
const SWEEP_MS = 5_000;
/** The stream of BullMQ's events is cut to about so many; each run reads them as they come. */
const EVENTS_KEPT = 2_000;

const lost: Attempt = {kind: 'ambiguous', code: 'worker_lost', latencyMs: 0, lost: true};
const withdrawn: Attempt = {kind: 'not_sent', code: 'withdrawn', latencyMs: 0, heldMs: 0};

/** A run's side of the queue: chunks go out, and what became of their values comes back, however that goes. */
export class ChunkQueue {
  readonly #redis: Redis;
  readonly #seal: Seal;
  readonly #queue: Queue<SealedChunk, string>;
  readonly #events: QueueEvents;
  readonly #runId: string;
  readonly #session = Date.now().toString(36);
  readonly #out = new Map<string, Out>();
  /** Chunks that came back and are still in Redis: since a moment ago, and since before that. */
  #back: readonly [recent: string[], older: string[]] = [[], []];
  readonly #timers: readonly NodeJS.Timeout[];
  #next = 0;
  #trouble: string | undefined;
  #closed = false;

  constructor(redis: Redis, {bullmq}: FleetPackages, runId: string, seal: Seal) {
    this.#redis = redis;
    this.#seal = seal;
    this.#runId = runId;
    const options = {connection: redis, prefix: PREFIX};
    this.#queue = new bullmq.Queue(QUEUE, {
      ...options,
      skipVersionCheck: true,
      streams: {events: {maxLen: EVENTS_KEPT}},
      defaultJobOptions: {
        attempts: 1,
        removeOnComplete: {age: KEEP_MS / 1_000},
        removeOnFail: {age: KEEP_MS / 1_000},
      },
    });
    this.#events = new bullmq.QueueEvents(QUEUE, options);
    this.#events.on('completed', ({jobId, returnvalue}) => this.#completed(jobId, returnvalue));
    this.#events.on('failed', ({jobId}) => this.#end(jobId, lost));
    // Redis being away is seen from the connection; commands wait meanwhile.
    this.#queue.on('error', () => {});
    this.#events.on('error', () => {});
    this.#timers = [
      setInterval(() => void this.#sweep().catch(() => {}), SWEEP_MS),
      setInterval(() => this.#removeOlder(), REMOVE_AFTER_MS),
    ];
  }

  async ready(): Promise<void> {
    await Promise.all([this.#queue.waitUntilReady(), this.#events.waitUntilReady()]);
  }

  /** Sends chunks out; each comes back with one attempt for each of its values. */
  ask(chunks: readonly Chunk[]): Promise<readonly Attempt[]>[] {
    const entries = chunks.map(chunk => ({id: this.#newId(), chunk}));
    const answers = entries.map(
      ({id, chunk}) =>
        new Promise<readonly Attempt[]>(resolve => {
          this.#out.set(id, {chunk, resolve, missing: false});
        }),
    );
    void this.#add(entries.map(({id, chunk}) => ({id, data: {sealed: this.#seal.close(chunk)}})));
    return answers;
  }

  /** Values that are out. */
  get values(): number {
    let sum = 0;
    for (const {chunk} of this.#out.values()) sum += chunk.asks.length;
    return sum;
  }

  /** Why Redis does not take chunks; undefined while it does. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Takes back all chunks that no worker has begun. */
  async withdraw(): Promise<void> {
    await Promise.allSettled([...this.#out.keys()].map(id => this.#withdraw(id)));
  }

  /** What became of the values that an earlier session of this run had sent out. Waits for chunks that workers have. */
  async collect(): Promise<AskedOf[]> {
    const jobs = (await this.#queue.getJobs(['waiting', 'active', 'completed', 'failed'])) as ChunkJob[];
    // What has expired in between is listed without its data.
    const own = jobs.filter(job => job?.id?.startsWith(`${this.#runId}.`) && job.data?.sealed !== undefined);
    return (await Promise.all(own.map(job => this.#collect(job)))).flat();
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers) clearInterval(timer);
    if (this.#redis.status === 'ready') await closing(this.#remove(this.#back.flat()));
    await closing(Promise.allSettled([this.#events.close(), this.#queue.close()]));
  }

  #newId(): string {
    this.#next += 1;
    return `${this.#runId}.${this.#session}.${this.#next}`;
  }

  /** The same identifier is never added twice, so a try whose outcome is not known may be made again. */
  async #add(entries: readonly {id: string; data: SealedChunk}[]): Promise<void> {
    const jobs = entries.map(({id, data}) => ({name: 'chunk', data, opts: {jobId: id}}));
    for (;;) {
      try {
        await this.#queue.addBulk(jobs);
        this.#trouble = undefined;
        const expiring = this.#redis.pipeline();
        for (const {id} of entries) expiring.pexpire(this.#queue.toKey(id), KEEP_MS);
        await expiring.pexpire(this.#queue.toKey('events'), KEEP_MS).exec();
        return;
      } catch (error) {
        if (this.#closed) return;
        this.#trouble = error instanceof Error ? error.message : String(error);
        await new Promise(resolve => setTimeout(resolve, ADD_AGAIN_MS));
      }
    }
  }

  #completed(id: string, sealed: string): void {
    const out = this.#out.get(id);
    if (out !== undefined) this.#end(id, this.#opened(out.chunk, sealed) ?? lost);
  }

  /** A chunk has come back: with an attempt for each value, or with the same for all. */
  #end(id: string, outcome: readonly Attempt[] | Attempt): void {
    const out = this.#out.get(id);
    if (out === undefined) return;
    this.#out.delete(id);
    out.resolve('kind' in outcome ? out.chunk.asks.map(() => outcome) : outcome);
    this.#back[0].push(id);
  }

  #removeOlder(): void {
    const [recent, older] = this.#back;
    this.#back = [[], recent];
    void this.#remove(older);
  }

  async #remove(ids: readonly string[]): Promise<void> {
    await Promise.allSettled(ids.map(id => this.#queue.remove(id)));
  }

  #opened({asks}: Chunk, sealed: string): readonly Attempt[] | undefined {
    try {
      const attempts = this.#seal.open(sealed) as readonly Attempt[];
      return attempts.length === asks.length ? attempts : undefined;
    } catch {
      return undefined;
    }
  }

  /** Only what leaves the list of waiting chunks by our hand has certainly not been begun. */
  async #withdraw(id: string): Promise<boolean> {
    const waited = (await this.#redis.lrem(this.#queue.toKey('wait'), 0, id)) > 0;
    if (waited) this.#end(id, withdrawn);
    return waited;
  }

  async #sweep(): Promise<void> {
    if (this.#redis.status !== 'ready') return;
    for (const [id, out] of this.#out) {
      const state = await this.#queue.getJobState(id);
      if (state === 'failed') this.#end(id, lost);
      else if (state === 'completed') this.#completed(id, (await this.#queue.getJob(id))?.returnvalue ?? '');
      else if (state !== 'unknown') out.missing = false;
      // Twice, as it may be on its way there.
      else if (out.missing) this.#end(id, lost);
      else out.missing = true;
    }
  }

  async #collect(job: ChunkJob): Promise<AskedOf[]> {
    const id = job.id as string;
    const chunk = this.#seal.open(job.data.sealed) as Chunk;
    const attempts = new Promise<readonly Attempt[]>(resolve => {
      this.#out.set(id, {chunk, resolve, missing: false});
    });
    if (!(await this.#withdraw(id))) await this.#sweep();
    return (await attempts).map((attempt, index) => ({ask: chunk.asks[index] as ChunkAsk, attempt}));
  }
}
