import {randomUUID} from 'node:crypto';
import {hostname} from 'node:os';
import type {Redis} from 'ioredis';
import {UsageError} from '../errors.ts';
import {packageVersion} from '../operations/package-files.ts';
import {type Said, say, set} from '../sentence.ts';
import type {Seal} from './encryption.ts';
import {
  FleetLimits,
  KEY_EXPIRY_MS,
  KEY_PREFIX,
  PROTOCOL_VERSION,
  QUEUE_NAME,
  type RunReport,
  type WorkerReport,
} from './protocol.ts';
import {connectRedis, disconnect, loadPackages, replyReason} from './redis.ts';

/** Milliseconds between a member's signs of life. A member without one for `FORGOTTEN_MS` is forgotten. */
const BEAT_MS = 2_000;
const FORGOTTEN_MS = 4 * BEAT_MS;

/** A run or a worker of the fleet, as it describes itself in the roster. */
export interface Member {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

export type RunMember = Member &
  RunReport & {readonly runId: string; readonly out: number; readonly rate: string};

export type WorkerMember = Member & WorkerReport;

/** Facts on which all present members must agree; undefined for what does not concern a member. */
export interface Agreement {
  /** Protocol and endpoint. */
  readonly protocol: string;
  /** The rate of a run, because the whole fleet shares one quota. */
  readonly rate?: string | undefined;
  /**
   * Names the host and state directory in which a run counts the account's credits, because two counts would allow
   * twice the limit. Undefined if the account has no limit per day or month.
   */
  readonly credits?: string | undefined;
}

export function describeProtocol(endpoint: string): string {
  return `protocol ${PROTOCOL_VERSION} and the endpoint ${endpoint}`;
}

/** A member's entry in the roster. */
export type Entry<Report = object> = Member &
  Report & {
    readonly kind: 'worker' | 'run';
    readonly agreed: Agreement;
    /** A sealed text, which opens only with the same API key: Redis has nothing that is equal for equal keys. */
    readonly proof: string;
  };

const PROOF = 'same key';

export interface Membership {
  /**
   * The reason why Redis refuses the member's writes now, such as lack of memory; undefined while it accepts them.
   */
  readonly trouble: string | undefined;
  /** True if Redis accepted a sign of life of this member within `FORGOTTEN_MS`, and has refused none since. */
  readonly isHeard: boolean;
  leave(): Promise<void>;
}

export interface MemberOptions {
  readonly kind: Entry['kind'];
  readonly agreed: Agreement;
  readonly seal: Seal;
  /** The member's present state. */
  readonly report: () => object;
  /** Called with a sentence if the roster has members that can't be read. They are skipped. */
  readonly warn?: ((sentence: string) => void) | undefined;
  /** Called if the member later disagrees with one that came before it, as after a restart of an empty Redis. */
  readonly onRefused: (error: UsageError) => void;
}

/**
 * Enters a member into the fleet's roster and keeps it there.
 *
 * @throws {UsageError} if a present member disagrees, or has another API key.
 */
export async function enterRoster(redis: Redis, options: MemberOptions): Promise<Membership> {
  const {kind, agreed, seal, report, warn, onRefused} = options;
  const own = {
    // The id is random: containers may share host and process id, and one process may have several members.
    id: randomUUID(),
    host: hostname(),
    pid: process.pid,
    version: packageVersion(),
    startedAt: Date.now(),
    kind,
    agreed,
    proof: seal.close(PROOF, PROOF),
  };
  /** Returns the ids of the members that were there before. */
  const beat = async () => {
    const [members] =
      (await redis
        .multi()
        .smembers(ROSTER)
        .sadd(ROSTER, own.id)
        .pexpire(ROSTER, KEY_EXPIRY_MS)
        .set(memberKey(own.id), JSON.stringify({...own, ...report()}), 'PX', FORGOTTEN_MS)
        .exec()) ?? [];
    return new Set(members?.[1] as string[]);
  };
  const withdraw = () => redis.multi().srem(ROSTER, own.id).del(memberKey(own.id)).exec();
  const demandFleet = (present: readonly Entry[]) => {
    demandAgreement(agreed, present);
    if (!present.every(({proof}) => opens(seal, proof)))
      throw refusedError(
        'The fleet on this Redis has another API key: check BULK_ENRICH_API_KEY here and there.',
      );
  };
  const unreadable: string[] = [];
  demandFleet(await listEntries(redis, unreadable));
  if (unreadable.length > 0) warn?.(describeUnreadable(unreadable));
  const before = await beat();
  try {
    // Of two that enter at the same moment, neither has found the other yet.
    demandFleet((await listEntries(redis)).filter(({id}) => before.has(id)));
  } catch (error) {
    await withdraw();
    throw error;
  }
  let heardAt = performance.now();
  let beating = false;
  let trouble: string | undefined;
  /** Of two members that disagree, the one that came later is refused. A member with another key ends no other. */
  const recheck = async () => {
    const order = ({startedAt, id}: Member) => `${startedAt} ${id}`;
    demandAgreement(
      agreed,
      (await listEntries(redis)).filter(entry => order(entry) < order(own) && opens(seal, entry.proof)),
    );
  };
  const timer = setInterval(() => {
    if (beating) return;
    beating = true;
    beat()
      .then(() => {
        heardAt = performance.now();
        trouble = undefined;
        return recheck();
      })
      .catch(error => {
        // A disagreement is final; any other error may pass. While Redis is away, the beat waits and does not fail.
        if (error instanceof UsageError) onRefused(error);
        else trouble = replyReason(error);
      })
      .finally(() => {
        beating = false;
      });
  }, BEAT_MS);
  return {
    get trouble() {
      return trouble;
    },
    get isHeard() {
      return redis.status === 'ready' && trouble === undefined && performance.now() - heardAt < FORGOTTEN_MS;
    },
    async leave() {
      clearInterval(timer);
      if (redis.status === 'ready') await withdraw();
    },
  };
}

/**
 * The entries of all present members. Any program with access to Redis can add one, so an entry may be incomplete. If it
 * is not an object, it is skipped, and its id goes to `unreadable`.
 */
export async function listEntries<Report>(redis: Redis, unreadable: string[] = []): Promise<Entry<Report>[]> {
  const ids = await redis.smembers(ROSTER);
  if (ids.length === 0) return [];
  const texts = await redis.mget(ids.map(memberKey));
  const gone = ids.filter((_, index) => texts[index] === null);
  if (gone.length > 0) await redis.srem(ROSTER, gone);
  return texts.flatMap((text, index) => {
    if (text === null) return [];
    const entry = readEntry<Report>(text);
    if (entry === undefined) unreadable.push(ids[index] as string);
    return entry ?? [];
  });
}

function readEntry<Report>(text: string): Entry<Report> | undefined {
  try {
    const entry = JSON.parse(text) as Entry<Report> | null;
    return typeof entry?.kind === 'string' ? {...entry, agreed: Object(entry.agreed)} : undefined;
  } catch {
    return undefined;
  }
}

export function describeUnreadable(ids: readonly string[]): string {
  const names = ids.slice(0, 3).map(id => JSON.stringify(id.slice(0, 60)));
  return `Skipped members of the fleet that can't be read in Redis: ${names.join(', ')}${ids.length > 3 ? ', …' : ''}.`;
}

/** The present members of a kind. */
export async function listMembers<T extends Member>(redis: Redis, kind: Entry['kind']): Promise<T[]> {
  return membersOf(await listEntries(redis), kind);
}

/** The members of a kind, without what only members compare. */
function membersOf<T extends Member>(entries: readonly Entry[], wanted: Entry['kind']): T[] {
  return entries
    .filter(({kind}) => kind === wanted)
    .map(({kind: _, agreed: __, proof: ___, ...member}) => member as unknown as T);
}

/** For each fact: the message for a member whose own value differs from `theirs`. */
const REFUSALS: Record<keyof Agreement, (theirs: string, own: string) => Said> = {
  protocol: (theirs, own) =>
    `This bulk-enrich (${packageVersion()}) uses ${own}. The fleet on this Redis uses ${theirs}. Use the same endpoint and versions of the same protocol, or another Redis database (redis://HOST/1).`,
  rate: (theirs, own) =>
    say`Another run of this fleet has the rate ${theirs}, this one ${own}. Give both the same ${set('rate')}, or use another Redis database (redis://HOST/1).`,
  credits: () =>
    "Another run of this fleet counts the account's credits of the day and month on another machine, or in another state directory: start all runs there, because two counts would allow twice the limit.",
};

/** @throws {UsageError} if one of the others has another value for a fact that concerns both. */
function demandAgreement(agreed: Agreement, others: readonly Entry[]): void {
  for (const name of ['protocol', 'rate', 'credits'] as const) {
    const own = agreed[name];
    const theirs = others
      .map(other => other.agreed[name])
      .find(value => value !== undefined && value !== own);
    if (own !== undefined && theirs !== undefined) throw refusedError(REFUSALS[name](theirs, own));
  }
}

function refusedError(message: Said): UsageError {
  return new UsageError('fleet_refused', message);
}

function opens(seal: Seal, proof: string): boolean {
  try {
    return seal.open(proof, PROOF) === PROOF;
  } catch {
    return false;
  }
}

const ROSTER = `${KEY_PREFIX}:members`;

function memberKey(id: string): string {
  return `${KEY_PREFIX}:member:${id}`;
}

export interface FleetStatus {
  /** Protocol and endpoint of the fleet; undefined if it has no members. */
  readonly protocol: string | undefined;
  readonly workers: readonly WorkerMember[];
  readonly runs: readonly RunMember[];
  /** Ids of members that can't be read, or lack a part of what they report. */
  readonly unreadable: readonly string[];
  readonly chunks: {readonly waiting: number; readonly active: number};
  /** Milliseconds until calls continue, because the service asked to slow down; otherwise 0. */
  readonly closedMs: number;
}

const reported = {
  worker: ['concurrency', 'inFlight', 'chunks', 'clockAheadMs'],
  run: ['out', 'rows', 'calls', 'spent', 'maybeSpent'],
} as const;

/** True if the entry has all that a status shows. */
function isComplete(entry: Entry): boolean {
  const {kind, id, host, version} = entry;
  if (kind !== 'worker' && kind !== 'run') return false;
  const numbers = ['pid', 'startedAt', ...reported[kind]].map(name => Reflect.get(entry, name));
  const texts = [id, host, version, kind === 'run' ? Reflect.get(entry, 'rate') : ''];
  const calls: unknown = kind === 'worker' ? Reflect.get(entry, 'calls') : {};
  return (
    texts.every(text => typeof text === 'string') &&
    numbers.every(number => typeof number === 'number') &&
    Object(calls) === calls
  );
}

/** @throws as {@link loadPackages} and {@link connectRedis}. */
export async function fleetStatus(redisUrl: string): Promise<FleetStatus> {
  const packages = await loadPackages();
  const redis = await connectRedis(redisUrl, packages);
  const queue = new packages.bullmq.Queue(QUEUE_NAME, {
    connection: redis,
    prefix: KEY_PREFIX,
    skipMetasUpdate: true,
  });
  try {
    const unreadable: string[] = [];
    const [all, counts, closedMs] = await Promise.all([
      listEntries(redis, unreadable),
      queue.getJobCounts('waiting', 'active'),
      new FleetLimits(redis).closedMs(),
    ]);
    const {waiting = 0, active = 0} = counts;
    const entries = all.filter(isComplete);
    unreadable.push(...all.filter(entry => !isComplete(entry)).map(({id}) => String(id)));
    return {
      protocol: entries[0]?.agreed.protocol,
      workers: membersOf<WorkerMember>(entries, 'worker'),
      runs: membersOf<RunMember>(entries, 'run'),
      unreadable,
      chunks: {waiting, active},
      closedMs,
    };
  } finally {
    await queue.close();
    await disconnect(redis);
  }
}
