import {randomBytes} from 'node:crypto';
import type {Job, Queue, QueueEvents} from 'bullmq';
import type {Redis} from 'ioredis';
import {isObject} from '../client/answer-fields.ts';
import type {Attempt, TimestampedAttempt} from '../client/attempt.ts';
import {ChunkAdder} from './chunk-adder.ts';
import {
  type Chunk,
  type ChunkReply,
  type ChunkValue,
  KEY_PREFIX,
  QUEUE_NAME,
  type Seal,
  type SealedChunk,
  sealPurposes,
} from './protocol.ts';
import {awaitWithinClosingTime, type FleetPackages, isRedisRefusal, RedisIncarnation} from './redis.ts';

/** A chunk that was sent and has not returned. `resolve` gives its attempts to the waiting caller. */
interface SentChunk {
  readonly chunk: Chunk;
  readonly resolve: (attempts: ChunkReply) => void;
  /** Milliseconds since the epoch at which the chunk was sent. All its answers were bought later. */
  readonly leftAt: number;
  /** True once the chunk was added. Until then its absence proves nothing. */
  isAdded: boolean;
  /** True if the last look at Redis found no trace of the chunk. */
  isMissing: boolean;
}

export type BookAttempt = (ask: ChunkValue, attempt: TimestampedAttempt) => void;

type ChunkJob = Job<SealedChunk, string>;

/** Minimum milliseconds for which a returned chunk stays in Redis. By then, the ledger has its outcomes. */
const REMOVE_AFTER_MS = 1_000;
/** Milliseconds between two checks of chunks that are out: events may be missed while Redis is away. */
const SWEEP_MS = 5_000;
/** Number of events that BullMQ keeps. Each run reads them as they come. */
const EVENTS_KEPT = 2_000;
const SESSION_BYTES = 6;

const lost: Attempt = {kind: 'ambiguous', code: 'worker_lost', latencyMs: 0, lost: true};
const withdrawn: Attempt = {kind: 'not_sent', code: 'withdrawn', latencyMs: 0, closedMs: 0};

/** A run's side of the queue. Sends out chunks (groups of values), and always returns an attempt for each value. */
export class ChunkQueue {
  readonly #redis: Redis;
  readonly #seal: Seal;
  readonly #incarnation: RedisIncarnation;
  readonly #queue: Queue<SealedChunk, string>;
  readonly #adder: ChunkAdder;
  readonly #events: QueueEvents;
  readonly #runId: string;
  readonly #now: () => number;
  /** Random part of this session's chunk identifiers. A start time could repeat if the clock is set back. */
  readonly #session = randomBytes(SESSION_BYTES).toString('hex');
  readonly #sent = new Map<string, SentChunk>();
  /** Identifiers of returned chunks that are still in Redis. The older ones are removed next. */
  #returned: readonly [recent: string[], older: string[]] = [[], []];
  readonly #timers: readonly NodeJS.Timeout[];
  #next = 0;
  #withdrawing = false;

  /** `now` is in milliseconds since the epoch. */
  constructor(
    redis: Redis,
    packages: FleetPackages,
    runId: string,
    seal: Seal,
    now: () => number,
    sweepMs = SWEEP_MS,
  ) {
    const {bullmq} = packages;
    this.#redis = redis;
    this.#incarnation = new RedisIncarnation(redis);
    this.#seal = seal;
    this.#runId = runId;
    this.#now = now;
    const options = {connection: redis, prefix: KEY_PREFIX};
    this.#queue = new bullmq.Queue(QUEUE_NAME, {
      ...options,
      skipVersionCheck: true,
      streams: {events: {maxLen: EVENTS_KEPT}},
    });
    this.#adder = new ChunkAdder(redis, packages);
    this.#events = new bullmq.QueueEvents(QUEUE_NAME, options);
    this.#events.on('completed', ({jobId, returnvalue}) => this.#completed(jobId, returnvalue));
    this.#events.on('failed', ({jobId}) => this.#end(jobId, lost));
    // Errors need no handling here: the connection's state shows if Redis is away, and commands wait meanwhile.
    this.#queue.on('error', () => {});
    this.#events.on('error', () => {});
    this.#timers = [
      setInterval(() => void this.#sweep().catch(() => {}), sweepMs),
      setInterval(() => this.#removeOlder(), REMOVE_AFTER_MS),
    ];
  }

  async ready(): Promise<void> {
    await Promise.all([this.#queue.waitUntilReady(), this.#events.waitUntilReady(), this.#adder.ready()]);
  }

  ask(chunk: Chunk): Promise<ChunkReply> {
    this.#next += 1;
    const id = `${this.#runId}.${this.#session}.${this.#next}`;
    void this.#add(id, this.#seal.close(chunk, sealPurposes.asks(id)));
    const answer = this.#track(id, chunk, this.#now(), false);
    void answer.then(() => this.#returned[0].push(id));
    return answer;
  }

  get values(): number {
    return [...this.#sent.values()].reduce((sum, {chunk}) => sum + chunk.asks.length, 0);
  }

  get trouble(): string | undefined {
    return this.#adder.trouble;
  }

  async withdraw(): Promise<void> {
    this.#withdrawing = true;
    this.#adder.stop();
    await Promise.allSettled([...this.#sent.keys()].map(id => this.#withdraw(id)));
  }

  /**
   * Collects the results of chunks that an earlier session of this run sent, but withdraws those that no worker has
   * begun. Each is booked as it comes, and only then removed from Redis.
   */
  async collect(book: BookAttempt): Promise<void> {
    const jobs = (await this.#queue.getJobs(['waiting', 'active', 'completed', 'failed'])) as ChunkJob[];
    // Leaves out jobs that expired meanwhile: they are listed without their data.
    const ownJobs = jobs.filter(
      job => job?.id?.startsWith(`${this.#runId}.`) && job.data?.sealed !== undefined,
    );
    await Promise.all(ownJobs.map(job => this.#collect(job, book)));
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    if (this.#redis.status === 'ready') await awaitWithinClosingTime(this.#remove(this.#returned.flat()));
    await awaitWithinClosingTime(
      Promise.allSettled([this.#adder.close(), this.#events.close(), this.#queue.close()]),
    );
  }

  #track(id: string, chunk: Chunk, leftAt: number, isAdded: boolean): Promise<ChunkReply> {
    return new Promise(resolve => {
      this.#sent.set(id, {chunk, resolve, leftAt, isAdded, isMissing: false});
    });
  }

  async #add(id: string, sealed: string): Promise<void> {
    if (!(await this.#adder.add(id, sealed))) return this.#end(id, withdrawn);
    const sent = this.#sent.get(id);
    if (sent !== undefined) sent.isAdded = true;
    if (this.#withdrawing) await this.#withdraw(id).catch(() => {});
  }

  #completed(id: string, sealed: string): void {
    const sent = this.#sent.get(id);
    if (sent !== undefined) this.#end(id, this.#openReply(id, sent, sealed) ?? lost);
  }

  /** Ends the wait for a chunk. `outcome`: an attempt for each value, or one attempt for all its values. */
  #end(id: string, outcome: ChunkReply | Attempt): void {
    const sent = this.#sent.get(id);
    if (sent === undefined) return;
    this.#sent.delete(id);
    const forAll = (attempt: Attempt) => sent.chunk.asks.map(() => ({boughtAt: this.#now(), ...attempt}));
    sent.resolve('kind' in outcome ? forAll(outcome) : outcome);
  }

  #removeOlder(): void {
    const [recent, older] = this.#returned;
    this.#returned = [[], recent];
    void this.#remove(older);
  }

  async #remove(ids: readonly string[]): Promise<void> {
    await Promise.allSettled(ids.map(id => this.#queue.remove(id)));
  }

  #openReply(id: string, {chunk, leftAt}: SentChunk, sealed: string): ChunkReply | undefined {
    const attempts = this.#seal.open(sealed, sealPurposes.answers(id));
    if (!isReplyTo(chunk, attempts)) return undefined;
    const now = this.#now();
    // A worker's clock may be wrong. So a date before the chunk was sent, or in the future, is corrected.
    const within = (at: number) => Math.min(now, Math.max(leftAt, at));
    return attempts.map(attempt => ({...attempt, boughtAt: within(attempt.boughtAt)}));
  }

  /**
   * Takes back a chunk that waits in Redis: unsent; or lost, if BullMQ (its worker was lost) or a snapshot put it
   * back there. Returns false if a worker may have it, or if Redis refuses writes.
   */
  async #withdraw(id: string): Promise<boolean> {
    const removed = await this.#redis.lrem(this.#queue.toKey('wait'), 0, id).catch(error => {
      if (isRedisRefusal(error)) return 0;
      throw error;
    });
    if (removed === 0) return false;
    const [begun, data] = await this.#redis.hmget(this.#queue.toKey(id), 'processedOn', 'data');
    const {life}: Partial<SealedChunk> = JSON.parse(data ?? '{}');
    // Asked for after the removal: Redis may have started again just before it.
    const isUnsent = begun === null && life === (await this.#incarnation.name());
    this.#end(id, isUnsent ? withdrawn : lost);
    return true;
  }

  async #sweep(): Promise<void> {
    if (this.#redis.status !== 'ready') return;
    for (const id of this.#sent.keys()) await this.#check(id);
  }

  /**
   * Looks in Redis for what became of a chunk. It is lost only if two looks in a row, some seconds apart, miss it.
   */
  async #check(id: string): Promise<void> {
    const sent = this.#sent.get(id);
    if (sent?.isAdded !== true) return;
    const state = await this.#queue.getJobState(id);
    if (state === 'failed') this.#end(id, lost);
    else if (state === 'completed') this.#completed(id, (await this.#queue.getJob(id))?.returnvalue ?? '');
    else if (state === 'unknown' && sent.isMissing) this.#end(id, lost);
    else sent.isMissing = state === 'unknown';
  }

  async #collect(job: ChunkJob, book: BookAttempt): Promise<void> {
    const id = job.id as string;
    // Undefined if this run did not seal it, even if its identifier names this run.
    const chunk = this.#seal.open(job.data.sealed, sealPurposes.asks(id)) as Chunk | undefined;
    if (chunk === undefined) return;
    const attempts = this.#track(id, chunk, job.timestamp, true);
    if (!(await this.#withdraw(id))) await this.#check(id);
    for (const [index, attempt] of (await attempts).entries()) book(chunk.asks[index] as ChunkValue, attempt);
    this.#returned[0].push(id);
  }
}

/** True if a worker's text has an attempt for each value of the chunk. */
function isReplyTo({asks}: Chunk, attempts: unknown): attempts is ChunkReply {
  return Array.isArray(attempts) && attempts.length === asks.length && attempts.every(isObject);
}
