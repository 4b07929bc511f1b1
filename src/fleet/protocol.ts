import {createCipheriv, createDecipheriv, hkdfSync, randomBytes} from 'node:crypto';
import type {Redis} from 'ioredis';
import type {Attempt, TimestampedAttempt} from '../client/attempt.ts';
import type {Params} from '../client/client.ts';
import {UsageError} from '../errors.ts';
import {readKey} from '../job/api-key.ts';
import type {Endpoint, Env} from '../job/endpoint.ts';
import type {Operation} from '../operations/table.ts';
import {say, setting} from '../sentence.ts';
import type {RedisIncarnation} from './redis.ts';

/**
 * Covers the keys and chunks in this file, the kinds of attempts, the encryption and the names of lanes. Programs
 * with the same number work together, so a fleet can be upgraded without a stop: messages only gain fields that the
 * other side can ignore.
 */
export const PROTOCOL_VERSION = 1;

export const KEY_PREFIX = 'bulk-enrich';
export const QUEUE_NAME = 'chunks';

/**
 * Values in a full chunk. A large one costs the run and Redis less a value, and a small one leaves few values in
 * doubt if its worker is lost.
 */
export const CHUNK_SIZE_RANGE = {least: 8, most: 128};
/** Milliseconds in which a worker makes the calls of a full chunk. */
const CHUNK_MS = 75;

/** Number of values in a full chunk, if all workers together make so many calls a millisecond. */
export function chooseChunkSize(callsPerMs: number, workers: number): number {
  const values = Math.round((callsPerMs / Math.max(1, workers)) * CHUNK_MS);
  return Math.min(CHUNK_SIZE_RANGE.most, Math.max(CHUNK_SIZE_RANGE.least, values));
}
/** Milliseconds after which keys expire if a crash left them in Redis: one day. */
export const KEY_EXPIRY_MS = 86_400_000;

export interface ChunkValue {
  /** The value's reservation in the ledger. It ties the outcome to this sending of the value. */
  readonly dispatch: number;
  readonly operation: Operation;
  readonly params: Params;
  /** Thousandths of a credit that the ledger has reserved for it. A later session may have another price. */
  readonly cost: number;
}

/** Share of the rate that a fleet uses. The other 2% allow for differences between clocks and for late timers. */
export const RATE_SHARE = 0.98;

/** A lane (operations that share one rate) makes `permits` calls per `minTimeMs`, all workers together. */
export interface LanePace {
  readonly permits: number;
  readonly minTimeMs: number;
}

/** Work for a worker: some values to look up. Their operations share one rate (a lane). */
export interface Chunk {
  readonly lane: string;
  /** The share of a worker's calls in flight that the lane may use. */
  readonly share: number;
  /** Undefined without a rate limit. */
  readonly pace: LanePace | undefined;
  readonly timeoutMs: number;
  readonly asks: readonly ChunkValue[];
}

/** A worker's answer to a chunk: an attempt for each of its values, in their order. */
export type ChunkReply = readonly TimestampedAttempt[];

/** A chunk in Redis. Only holders of the sealing secret can read its content. */
export interface SealedChunk {
  readonly sealed: string;
  /**
   * The {@link RedisIncarnation} in which the chunk was added. In another, it may be from a snapshot: workers may
   * have carried it out already, and the run may have their results.
   */
  readonly life: string;
}

/**
 * Sealed data opens only for its own purpose, so it can't be passed off as another chunk's or run's. The answers of
 * a chunk are sealed as one list, so they can't change places within it.
 */
export const sealPurposes = {
  asks: (chunkId: string) => `asks of ${chunkId}`,
  answers: (chunkId: string) => `answers of ${chunkId}`,
} as const;

const GATE_KEY = `${KEY_PREFIX}:gate`;

/** Closes the gate for some milliseconds. If several callers close it, the longest time counts. */
const CLOSE_GATE = `if redis.call('pttl', KEYS[1]) < tonumber(ARGV[1]) then redis.call('set', KEYS[1], '1', 'px', ARGV[1]) end`;

/**
 * Takes the next lease of a lane: for how many milliseconds the gate is closed, and in how many the lease begins.
 * The lane's key has the time, by the clock of Redis, at which the lease after it may begin.
 */
const TAKE_LEASE = `local closed = redis.call('pttl', KEYS[1])
if closed > 0 then return {closed, 0} end
local time = redis.call('time')
local now = time[1] * 1000 + time[2] / 1000
local begin = math.max(now, tonumber(redis.call('get', KEYS[2]) or 0))
local free = begin + ARGV[1]
redis.call('set', KEYS[2], string.format('%.3f', free), 'px', math.ceil(free - now))
return {0, math.ceil(begin - now)}`;

/** A number of calls that may be sent together, `inMs` milliseconds after Redis gave it. */
export interface PaceLease {
  /** Milliseconds for which nothing may be sent. If above 0, there is no lease. */
  readonly closedMs: number;
  readonly inMs: number;
}

/**
 * The pace of each lane, and the gate, for all workers. A throttled call closes the gate for some time, in which no
 * worker sends a call.
 */
export class FleetLimits {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  /** Milliseconds for which nothing may be sent yet; 0 while the gate is open. */
  async closedMs(): Promise<number> {
    return Math.max(0, await this.#redis.pttl(GATE_KEY));
  }

  async close(ms: number): Promise<void> {
    await this.#redis.eval(CLOSE_GATE, 1, GATE_KEY, Math.max(1, Math.ceil(ms)));
  }

  async lease(lane: string, minTimeMs: number): Promise<PaceLease> {
    const keys = [GATE_KEY, `${KEY_PREFIX}:pace:${lane}`];
    const [closedMs = 0, inMs = 0] = (await this.#redis.eval(TAKE_LEASE, 2, ...keys, minTimeMs)) as number[];
    return {closedMs, inMs};
  }
}

/** A run's current state, which the fleet's other members can read. */
export interface RunReport {
  readonly job: string | undefined;
  readonly rows: number;
  readonly calls: number;
  readonly spent: number;
  readonly maybeSpent: number;
  readonly limit: number | null;
}

export interface WorkerReport {
  readonly concurrency: number;
  readonly inFlight: number;
  readonly chunks: number;
  /** Milliseconds by which this machine's clock is ahead of Redis's. Answers are dated by this machine's clock. */
  readonly clockAheadMs: number;
  readonly calls: Readonly<Partial<Record<Attempt['kind'], number>>>;
}

/** Encrypts ("seals") messages about rows between a fleet's members, so that Redis holds nothing readable. */
export interface Seal {
  /** Seals a value for the purpose `as`. The sealed text opens for no other purpose. */
  close(value: unknown, as: string): string;
  /** Returns undefined for a text that was changed, or sealed with another key or for another purpose. */
  open(sealed: string, as: string): unknown;
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
/** The length that NIST SP 800-38D recommends for GCM. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Minimum length of a secret: who reads a sealed text in Redis can try secrets on it. */
const SHORTEST_SECRET = 16;

/**
 * The API key, which every member has in its own environment. The embedded service has none, but its values are just
 * as private.
 * @throws {UsageError} if there is no secret, or a short one
 */
export function sealingSecret(endpoint: Endpoint, env: Env): string {
  const secret = endpoint.kind === 'live' ? endpoint.apiKey : readKey(env);
  if (secret !== undefined && secret.length >= SHORTEST_SECRET) return secret;
  if (endpoint.kind === 'live')
    throw new UsageError(
      'fleet_secret',
      say`A fleet encrypts the values in Redis with the API key, and a key of less than ${SHORTEST_SECRET} characters can be guessed. Run without ${setting('fleet')}.`,
    );
  throw new UsageError(
    'fleet_secret',
    `A fleet encrypts the values in Redis with the API key, but the embedded service needs no key, so there is none. Set BULK_ENRICH_API_KEY to a secret of at least ${SHORTEST_SECRET} characters, the same for the run and its workers (openssl rand -hex 32 makes one).`,
  );
}

/** All members derive the same key from the secret, which is never sent. */
export function createSeal(secret: string): Seal {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'bulk-enrich fleet seal', KEY_BYTES));
  return {
    close(value, as) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(as));
      const text = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64');
    },
    open(sealed, as) {
      try {
        const bytes = Buffer.from(sealed, 'base64');
        const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), {
          authTagLength: TAG_BYTES,
        });
        decipher.setAAD(Buffer.from(as)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
        const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
        return JSON.parse(Buffer.concat([text, decipher.final()]).toString('utf8'));
      } catch {
        return undefined;
      }
    },
  };
}
