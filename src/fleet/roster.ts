import {randomUUID} from 'node:crypto';
import {hostname} from 'node:os';
import type {Redis} from 'ioredis';
import {UsageError} from '../errors.ts';
import {packageVersion} from '../job/version.ts';
import {type Said, say, set} from '../sentence.ts';
import {KEEP_MS, KEY_PREFIX, PROTOCOL_VERSION} from './protocol.ts';
import {replyReason} from './redis.ts';
import type {Seal} from './seal.ts';

/** Milliseconds between a member's signs of life. A member without one for `FORGOTTEN_MS` is forgotten. */
const BEAT_MS = 2_000;
const FORGOTTEN_MS = 4 * BEAT_MS;

export type MemberKind = 'worker' | 'run';

/** A run or a worker of the fleet, as it describes itself in the roster. */
export interface Member {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

export interface Membership {
  /**
   * The reason why Redis refuses the member's writes now, such as lack of memory; undefined while it accepts them.
   */
  readonly trouble: string | undefined;
  /** True if Redis accepted a sign of life of this member within `FORGOTTEN_MS`, and has refused none since. */
  readonly isHeard: boolean;
  leave(): Promise<void>;
}

/**
 * Enters a member (a run or a worker) into the fleet's roster and keeps it there. `claims`: facts on which
 * all members must agree. `report` returns the member's state. `onRefused` is called if a claim later differs
 * from another member's.
 */
export async function enterRoster(
  redis: Redis,
  kind: MemberKind,
  claims: readonly Claim[],
  report: () => object,
  onRefused: (error: UsageError) => void,
): Promise<Membership> {
  const startedAt = Date.now();
  // The id is random: containers may share host and process id, and one process may have several members.
  const id = randomUUID();
  const own: Member = {id, host: hostname(), pid: process.pid, version: packageVersion(), startedAt};
  let isPresent = false;
  const beat = async () => {
    for (const claim of claims) await hold(redis, claim, isPresent);
    await redis
      .multi()
      .sadd(rosterKey(kind), id)
      .pexpire(rosterKey(kind), KEEP_MS)
      .set(memberKey(kind, id), JSON.stringify({...own, ...report()}), 'PX', FORGOTTEN_MS)
      .exec();
  };
  await beat();
  isPresent = true;
  let heardAt = performance.now();
  let beating = false;
  let trouble: string | undefined;
  const timer = setInterval(() => {
    if (beating) return;
    beating = true;
    beat()
      .then(() => {
        heardAt = performance.now();
        trouble = undefined;
      })
      .catch(error => {
        // UsageError: another member now holds a claim with another value. This is final; any other error may
        // pass. While Redis is away, the beat waits and does not fail.
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
      if (redis.status !== 'ready') return;
      await redis.multi().srem(rosterKey(kind), id).del(memberKey(kind, id)).exec();
      await release(redis);
    },
  };
}

/** All present members of a kind. */
export async function listMembers<T extends Member>(redis: Redis, kind: MemberKind): Promise<T[]> {
  const ids = await redis.smembers(rosterKey(kind));
  if (ids.length === 0) return [];
  const texts = await redis.mget(ids.map(id => memberKey(kind, id)));
  const gone = ids.filter((_, index) => texts[index] === null);
  if (gone.length > 0) await redis.srem(rosterKey(kind), gone);
  return texts.flatMap(text => (text === null ? [] : [JSON.parse(text) as T]));
}

/** A fact on which all present members must agree. */
export interface Claim {
  readonly name: 'protocol' | 'key' | 'rate' | 'credits';
  readonly value: string;
  /** True if the fleet's value, `theirs`, agrees with this one; by default if both are the same text. */
  readonly agrees?: (theirs: string) => boolean;
  /** Called if another value replaced that of a present member, who then puts its own back. */
  readonly onReplaced?: () => void;
  /** The message for a member whose own value differs from `theirs`, the fleet's. */
  readonly refusal: (theirs: string) => Said;
}

/** The claims of every member: all members have the same protocol, endpoint and API key. */
export function fleetClaims(endpoint: string, seal: Seal, warn: (sentence: string) => void): Claim[] {
  let isTold = false;
  const own = `protocol ${PROTOCOL_VERSION} and the endpoint ${endpoint}`;
  return [
    {
      name: 'protocol',
      value: own,
      refusal: theirs =>
        `This bulk-enrich (${packageVersion()}) uses ${own}. The fleet on this Redis uses ${theirs}. Use the same endpoint and versions of the same protocol, or another Redis database (redis://HOST/1).`,
    },
    {
      name: 'key',
      // A sealed text, which opens only with the same key: Redis has nothing that is equal for equal keys.
      value: seal.close(SAME_KEY, SAME_KEY),
      agrees: theirs => opens(seal, theirs),
      // Anybody who may write to Redis could end the fleet with this value, so it ends nothing.
      onReplaced: () => {
        if (!isTold) warn(REPLACED);
        isTold = true;
      },
      refusal: () => `The fleet on this Redis has another API key: check BULK_ENRICH_API_KEY here and there.`,
    },
  ];
}

const SAME_KEY = 'same key';
const REPLACED =
  "The fleet's proof of the API key in Redis was replaced: another fleet or another program writes to this Redis. It was put back. Check who can write to this Redis.";

function opens(seal: Seal, text: string): boolean {
  try {
    return seal.open(text, SAME_KEY) === SAME_KEY;
  } catch {
    return false;
  }
}

/** The whole fleet shares one quota, so all its runs must have the same rate. */
export function rateClaim(rate: string): Claim {
  return {
    name: 'rate',
    value: rate,
    refusal: theirs =>
      say`Another run of this fleet has the rate ${theirs}, this one ${rate}. Give both the same ${set('rate')}, or use another Redis database (redis://HOST/1).`,
  };
}

/**
 * `counter` identifies the state directory that counts the account's credits. All runs of a fleet must share
 * it, because two counts would allow twice the limit.
 */
export function creditsClaim(counter: string): Claim {
  return {
    name: 'credits',
    value: counter,
    refusal: () =>
      "Another run of this fleet counts the account's credits of the day and month on another machine, or in another state directory: start all runs there, because two counts would allow twice the limit.",
  };
}

/**
 * Takes or renews a claim. The claim expires when no member renews it. `isPresent`: true if the member entered before.
 *
 * @throws {UsageError} if the fleet has another value.
 */
async function hold(redis: Redis, claim: Claim, isPresent: boolean): Promise<void> {
  const {name, value, refusal, agrees = theirs => theirs === value, onReplaced} = claim;
  const key = claimKey(name);
  await redis.set(key, value, 'PX', FORGOTTEN_MS, 'NX');
  const theirs = await redis.get(key);
  if (theirs !== null && !agrees(theirs)) {
    if (!isPresent || onReplaced === undefined) throw new UsageError('fleet_refused', refusal(theirs));
    onReplaced();
    await redis.set(key, value);
  }
  await redis.pexpire(key, FORGOTTEN_MS);
}

/** Releases claims that no remaining member holds, so that the next member need not wait until they expire. */
async function release(redis: Redis): Promise<void> {
  const [runs, workers] = await Promise.all([
    redis.scard(rosterKey('run')),
    redis.scard(rosterKey('worker')),
  ]);
  if (runs === 0) await redis.del(claimKey('rate'), claimKey('credits'));
  if (runs + workers === 0) await redis.del(claimKey('protocol'), claimKey('key'));
}

function claimKey(name: Claim['name']): string {
  return `${KEY_PREFIX}:${name}`;
}

/** The value that the present members agreed on; undefined if no member holds this claim. */
export async function currentClaim(redis: Redis, name: Claim['name']): Promise<string | undefined> {
  return (await redis.get(claimKey(name))) ?? undefined;
}

function rosterKey(kind: MemberKind): string {
  return `${KEY_PREFIX}:${kind}s`;
}

function memberKey(kind: MemberKind, id: string): string {
  return `${KEY_PREFIX}:${kind}:${id}`;
}
