import {randomUUID} from 'node:crypto';
import {hostname} from 'node:os';
import type {Redis} from 'ioredis';
import {UsageError} from '../errors.ts';
import {packageVersion} from '../operations/package-files.ts';
import {type Said, say, setting} from '../sentence.ts';
import {
  KEY_EXPIRY_MS,
  KEY_PREFIX,
  PROTOCOL_VERSION,
  type RunReport,
  type Seal,
  type WorkerReport,
} from './protocol.ts';
import {awaitWithinClosingTime, replyReason} from './redis.ts';

/** Milliseconds between a member's signs of life. A member without one for `FORGOTTEN_MS` is forgotten. */
const BEAT_MS = 2_000;
const FORGOTTEN_MS = 4 * BEAT_MS;

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
  readonly protocol: string;
  /** The rate of a run, because the whole fleet shares one quota. */
  readonly rate?: string | undefined;
  /**
   * Host and state directory in which a run counts the credits: two counts would allow twice the limit. Undefined
   * without a limit per day or month.
   */
  readonly credits?: string | undefined;
}

export function describeProtocol(endpoint: string): string {
  return `protocol ${PROTOCOL_VERSION} and the endpoint ${endpoint}`;
}

export type Entry<Report = object> = Member &
  Report & {
    readonly kind: 'worker' | 'run';
    readonly agreed: Agreement;
    /** A sealed text, which opens only with the same API key: Redis has nothing that is equal for equal keys. */
    readonly proof: string;
  };

const PROOF = 'same key';

export interface MemberOptions {
  readonly kind: Entry['kind'];
  readonly agreed: Agreement;
  readonly seal: Seal;
  readonly report: () => object;
  /** Called with a sentence if the roster has members that can't be read. They are skipped. */
  readonly warn?: ((sentence: string) => void) | undefined;
  /** Called if the member later disagrees with one that came before it, as after a restart of an empty Redis. */
  readonly onRefused: (error: UsageError) => void;
}

/** A member's place in the fleet's roster. It stays there by a sign of life each two seconds. */
export class Membership {
  readonly #redis: Redis;
  readonly #options: MemberOptions;
  readonly #own: Entry;
  #timer: NodeJS.Timeout | undefined;
  #isBeating = false;
  #heardAt = Number.NEGATIVE_INFINITY;
  #trouble: string | undefined;

  private constructor(redis: Redis, options: MemberOptions) {
    const {kind, agreed, seal} = options;
    this.#redis = redis;
    this.#options = options;
    this.#own = {
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
  }

  /** @throws {UsageError} if a present member disagrees, or has another API key. */
  static async enter(redis: Redis, options: MemberOptions): Promise<Membership> {
    const member = new Membership(redis, options);
    const unreadable: string[] = [];
    member.#demandFleet(await listEntries(redis, unreadable));
    if (unreadable.length > 0) options.warn?.(describeUnreadable(unreadable));
    const before = await member.#beat();
    try {
      // Of two that enter at the same moment, neither has found the other yet.
      member.#demandFleet((await listEntries(redis)).filter(({id}) => before.has(id)));
    } catch (error) {
      await member.#withdraw();
      throw error;
    }
    member.#timer = setInterval(() => void member.#renew(), BEAT_MS);
    return member;
  }

  /** The reason why Redis refuses writes, such as lack of memory; undefined while it accepts them. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** True if Redis accepted a sign of life of this member within `FORGOTTEN_MS`, and has refused none since. */
  get isHeard(): boolean {
    const isRecent = performance.now() - this.#heardAt < FORGOTTEN_MS;
    return this.#redis.status === 'ready' && this.#trouble === undefined && isRecent;
  }

  async leave(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#redis.status === 'ready') await awaitWithinClosingTime(this.#withdraw());
  }

  /** Gives a sign of life. Returns the ids of the members that were there before. */
  async #beat(): Promise<ReadonlySet<string>> {
    const {id} = this.#own;
    const entry = JSON.stringify({...this.#own, ...this.#options.report()});
    const [members] =
      (await this.#redis
        .multi()
        .smembers(ROSTER)
        .sadd(ROSTER, id)
        .pexpire(ROSTER, KEY_EXPIRY_MS)
        .set(memberKey(id), entry, 'PX', FORGOTTEN_MS)
        .exec()) ?? [];
    this.#heardAt = performance.now();
    return new Set(members?.[1] as string[]);
  }

  async #renew(): Promise<void> {
    if (this.#isBeating) return;
    this.#isBeating = true;
    try {
      await this.#beat();
      this.#trouble = undefined;
      await this.#demandEarlierAgree();
    } catch (error) {
      // A disagreement is final; any other error may pass. While Redis is away, the beat waits and does not fail.
      if (error instanceof UsageError) this.#options.onRefused(error);
      else this.#trouble = replyReason(error);
    } finally {
      this.#isBeating = false;
    }
  }

  async #withdraw(): Promise<void> {
    const {id} = this.#own;
    await this.#redis.multi().srem(ROSTER, id).del(memberKey(id)).exec();
  }

  #demandFleet(present: readonly Entry[]): void {
    demandAgreement(this.#options.agreed, present);
    if (!present.every(entry => this.#hasSameKey(entry)))
      throw refusedError(
        'The fleet on this Redis has another API key: check BULK_ENRICH_API_KEY here and there.',
      );
  }

  /** Of two members that disagree, the one that came later is refused. A member with another key ends no other. */
  async #demandEarlierAgree(): Promise<void> {
    const order = ({startedAt, id}: Member) => `${startedAt} ${id}`;
    const earlier = (await listEntries(this.#redis)).filter(entry => order(entry) < order(this.#own));
    demandAgreement(
      this.#options.agreed,
      earlier.filter(entry => this.#hasSameKey(entry)),
    );
  }

  #hasSameKey({proof}: Entry): boolean {
    return this.#options.seal.open(proof, PROOF) === PROOF;
  }
}

/**
 * All present members. Any program with access to Redis can add one, so an entry may be incomplete. If it is not an
 * object, it is skipped, and its id goes to `unreadable`.
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

/** The present members of a kind, without what only members compare. */
export async function listMembers<T extends Member>(redis: Redis, kind: Entry['kind']): Promise<T[]> {
  return membersOf(await listEntries(redis), kind);
}

export function membersOf<T extends Member>(entries: readonly Entry[], wanted: Entry['kind']): T[] {
  return entries
    .filter(({kind}) => kind === wanted)
    .map(({kind: _, agreed: __, proof: ___, ...member}) => member as unknown as T);
}

/** For each fact: the message for a member whose own value differs from `theirs`. */
const REFUSALS: Record<keyof Agreement, (theirs: string, own: string) => Said> = {
  protocol: (theirs, own) =>
    `This bulk-enrich (${packageVersion()}) uses ${own}. The fleet on this Redis uses ${theirs}. Use the same endpoint and versions of the same protocol, or another Redis database (redis://HOST/1).`,
  rate: (theirs, own) =>
    say`Another run of this fleet has the rate ${theirs}, this one ${own}. Give both the same ${setting('rate')}, or use another Redis database (redis://HOST/1).`,
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

const ROSTER = `${KEY_PREFIX}:members`;

function memberKey(id: string): string {
  return `${KEY_PREFIX}:member:${id}`;
}
