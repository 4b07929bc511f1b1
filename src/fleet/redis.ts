import type {Redis} from 'ioredis';
import {CHECKED_TLS_OPTIONS} from '../client/http/proxy.ts';
import {BulkEnrichError, exitCodes, UsageError} from '../errors.ts';

/** Redis can't be reached, or takes no writes. Nothing was sent; a retry may help. Exit 5. */
const unreachable = (message: string, cause: unknown) =>
  new BulkEnrichError('fleet_unreachable', exitCodes.temporary, message, {cause});

export interface FleetPackages {
  readonly bullmq: Pick<typeof import('bullmq'), 'Queue' | 'QueueEvents' | 'Worker'>;
  readonly ioredis: Pick<typeof import('ioredis'), 'Redis'>;
}

/** @throws {UsageError} if bullmq or ioredis is not installed. */
export async function loadPackages(): Promise<FleetPackages> {
  try {
    const [bullmq, ioredis] = await Promise.all([import('bullmq'), import('ioredis')]);
    return {bullmq, ioredis};
  } catch (error) {
    throw new UsageError(
      'fleet_packages',
      'A fleet needs two packages that are not installed here: npm install bullmq ioredis',
      {cause: error},
    );
  }
}

const CONNECT_MS = 10_000;
/** Maximum wait between two tries to connect again, in milliseconds. */
const RECONNECT_CAP_MS = 2_000;

/**
 * Once a connection is open, it is kept: commands wait while Redis is away.
 * @throws {BulkEnrichError} with exit code 5 if Redis can't be reached; {@link UsageError} for a wrong password, a
 * certificate that can't be trusted, or a Redis that drops data when its memory is full.
 */
export async function connectRedis(url: string, {ioredis}: FleetPackages): Promise<Redis> {
  let established = false;
  let last: unknown;
  const redis = new ioredis.Redis(url, {
    lazyConnect: true,
    ...(new URL(url).protocol === 'rediss:' ? {tls: CHECKED_TLS_OPTIONS} : {}),
    maxRetriesPerRequest: null,
    connectTimeout: CONNECT_MS,
    retryStrategy: times => (established ? Math.min(100 * times, RECONNECT_CAP_MS) : null),
  });
  // Without a listener, ioredis prints errors to the console. The last error explains a failed connection.
  redis.on('error', error => {
    last = error;
  });
  // BullMQ takes its listeners from its own connections before they are closed.
  const duplicate = redis.duplicate.bind(redis);
  redis.duplicate = options => duplicate(options).on('error', () => {});
  try {
    await redis.connect();
    demandKeeping(await redis.info('memory'), publicUrl(url));
  } catch (error) {
    redis.disconnect();
    if (error instanceof UsageError) throw error;
    throw refusal(publicUrl(url), last ?? error);
  }
  established = true;
  return redis;
}

/** Refuses a Redis that drops data when its memory is short: paid answers would be lost. */
function demandKeeping(memory: string, where: string): void {
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1];
  if (policy === undefined || policy === 'noeviction') return;
  throw new UsageError(
    'redis_eviction',
    `The fleet's Redis at ${where} drops data when its memory is full (maxmemory-policy ${policy}), and with it answers that are paid for. Set maxmemory-policy to noeviction.`,
  );
}

/** The error for a failed connection. A wrong password or certificate needs the user; any other fault may pass. */
function refusal(where: string, error: unknown): BulkEnrichError {
  const reason = replyReason(error);
  if (/^(NOAUTH|WRONGPASS|NOPERM|ERR AUTH)/.test(reason))
    return new UsageError(
      'redis_password',
      `The fleet's Redis at ${where} refuses the user or password: ${reason} Check user and password in BULK_ENRICH_REDIS_URL (redis://USER:PASSWORD@HOST:PORT).`,
      {cause: error},
    );
  if (/certificate|self-signed/i.test(reason))
    return new UsageError(
      'redis_certificate',
      `The certificate of the fleet's Redis at ${where} can't be trusted: ${reason}. Add its authority with NODE_EXTRA_CA_CERTS.`,
      {cause: error},
    );
  return unreachable(`The fleet's Redis at ${where} can't be reached: ${reason}.`, error);
}

/** Turns Redis's refusal of a new member, such as for lack of memory, into an error for the user. */
export function writeRefusedError(url: string, error: unknown): unknown {
  if (!isRedisRefusal(error)) return error;
  return unreachable(
    `The fleet's Redis at ${publicUrl(url)} takes no writes: ${replyReason(error)} Nothing was sent. Fix Redis, then run again.`,
    error,
  );
}

/** True for Redis's own refusal, such as for lack of memory: the command was not carried out. */
export function isRedisRefusal(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

/** Text of the failed command's error. The error of a transaction itself does not give the reason. */
export function replyReason(error: unknown): string {
  const [first] = (error as {previousErrors?: unknown[]}).previousErrors ?? [error];
  return first instanceof Error ? first.message : String(first);
}

/** The URL without user and password. */
export function publicUrl(url: string): string {
  const {protocol, host, pathname} = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}

/** Closes a connection: in good order if Redis answers, else immediately. */
export async function disconnect(redis: Redis): Promise<void> {
  if (redis.status === 'ready') await awaitWithinClosingTime(redis.quit());
  redis.disconnect();
}

/** Maximum milliseconds to wait for a close, which may never end while Redis is away. */
const CLOSING_MS = 2_000;

/** Waits until `work` ends or fails, or {@link CLOSING_MS} pass. */
export async function awaitWithinClosingTime(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise(resolve => {
    timer = setTimeout(resolve, CLOSING_MS);
  });
  await Promise.race([work.catch(() => {}), late]);
  clearTimeout(timer);
}

/** Milliseconds by which this machine's clock is ahead of Redis's. */
export async function clockAheadMs(redis: Redis, now: () => number): Promise<number> {
  const before = now();
  const [seconds, microseconds] = await redis.time();
  return Math.round((before + now()) / 2 - (Number(seconds) * 1_000 + Number(microseconds) / 1_000));
}

/**
 * Names the present life of a Redis: after each start another, with perhaps old data. One with an append-only file
 * loses nothing, and keeps its name.
 */
export class RedisIncarnation {
  readonly #redis: Redis;
  #name: Promise<string> | undefined;

  constructor(redis: Redis) {
    this.#redis = redis;
    redis.on('close', () => {
      this.#name = undefined;
    });
  }

  /** Rejects while Redis refuses commands, such as while it loads its data. The next call then asks again. */
  name(): Promise<string> {
    this.#name ??= this.#ask().catch(error => {
      this.#name = undefined;
      throw error;
    });
    return this.#name;
  }

  async #ask(): Promise<string> {
    const info = await this.#redis.info();
    return /^aof_enabled:1/m.test(info) ? 'append-only' : (/^run_id:(\w+)/m.exec(info)?.[1] ?? '');
  }
}
