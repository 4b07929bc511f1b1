import {EventEmitter} from 'node:events';
import {Killed} from './process.ts';
import type {World} from './world.ts';

/** How long Redis takes to answer. */
const ROUND_TRIP_MS = 1;

/** Redis's own answer, by which it is known that nothing was done. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError';
}

/** From when to when, by the steady clock. */
export interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Commands that a Redis without memory still accepts. */
const FREES = /^(lrem|del|srem|pexpire|remove) ?/;

const NEVER: Span = {fromMs: 0, untilMs: 0};

/** One Redis, in memory, that all processes of a simulation reach. */
export class RedisServer {
  readonly world: World;
  readonly values = new Map<string, unknown>();
  readonly expiries = new Map<string, number>();
  /** Times at which it has no memory, and at which it can't be reached. */
  full: Span = NEVER;
  /** When it takes no writes at all, as after it could not save. */
  readOnly: Span = NEVER;
  away: Span = NEVER;

  constructor(world: World) {
    this.world = world;
  }

  value<T>(key: string): T | undefined {
    const until = this.expiries.get(key);
    if (until !== undefined && until <= this.world.steadyMs) this.remove(key);
    return this.values.get(key) as T | undefined;
  }

  remove(key: string): boolean {
    this.expiries.delete(key);
    return this.values.delete(key);
  }

  set(key: string, value: unknown, forMs?: number): void {
    this.values.set(key, value);
    if (forMs === undefined) this.expiries.delete(key);
    else this.expiries.set(key, this.world.steadyMs + forMs);
  }

  list(key: string): string[] {
    return this.collection(key, () => []);
  }

  members(key: string): Set<string> {
    return this.collection(key, () => new Set());
  }

  collection<T>(key: string, make: () => T): T {
    const found = this.value<T>(key);
    if (found !== undefined) return found;
    const made = make();
    this.values.set(key, made);
    return made;
  }

  expire(key: string, ms: number): boolean {
    if (this.value(key) === undefined) return false;
    this.expiries.set(key, this.world.steadyMs + ms);
    return true;
  }

  /** For how long the first of these to expire is there still, in milliseconds. */
  leastLeft(keys: readonly string[]): number {
    const left = (key: string) =>
      this.value(key) === undefined ? 0 : (this.expiries.get(key) ?? 0) - this.world.steadyMs;
    return Math.min(...keys.map(left));
  }

  isWithin({fromMs, untilMs}: Span): boolean {
    return this.world.steadyMs >= fromMs && this.world.steadyMs < untilMs;
  }

  /** Does `work` there and brings back what it comes to; while Redis is away it waits, or fails where it must not be repeated. */
  ask<T>(what: string, writes: boolean, work: () => T, isOnce = false): Promise<T> {
    const {world} = this;
    return new Promise((resolve, reject) => {
      const leave = () => {
        if (this.isWithin(this.away)) {
          if (isOnce) reject(new Error('Connection is closed.'));
          else world.later(this.away.untilMs - world.steadyMs, leave);
          return;
        }
        try {
          const result = writes
            ? world.step(
                () => `redis ${what}`,
                () => this.#write(what, work),
              )
            : work();
          world.later(ROUND_TRIP_MS, () => resolve(result));
        } catch (error) {
          if (error instanceof Killed) throw error;
          world.later(ROUND_TRIP_MS, () => reject(error));
        }
      };
      world.later(ROUND_TRIP_MS, leave);
    });
  }

  #write<T>(what: string, work: () => T): T {
    if (this.isWithin(this.full) && !FREES.test(what)) throw new ReplyError('OOM command not allowed');
    if (this.isWithin(this.readOnly)) throw new ReplyError('MISCONF it can not persist to disk');
    return work();
  }
}

/** A connection to it, with the commands that a fleet uses, as ioredis has them. */
export class RedisConnection extends EventEmitter {
  readonly server: RedisServer;
  /** True if its commands fail instead of waiting. */
  readonly isOnce: boolean;
  #isOver = false;

  constructor(
    server: RedisServer,
    {maxRetriesPerRequest = null}: {maxRetriesPerRequest?: number | null} = {},
  ) {
    super();
    this.server = server;
    this.isOnce = maxRetriesPerRequest === 0;
    this.setMaxListeners(0);
  }

  get status(): string {
    if (this.#isOver) return 'end';
    return this.server.isWithin(this.server.away) ? 'reconnecting' : 'ready';
  }

  duplicate(options = {}): RedisConnection {
    const other = new RedisConnection(this.server, options);
    this.server.world.later(0, () => other.emit('ready'));
    return other;
  }

  async connect(): Promise<void> {}

  async quit(): Promise<void> {
    this.disconnect();
  }

  disconnect(): void {
    this.#isOver = true;
  }

  /** bottleneck's commands, which lanes without a rate never use. */
  defineCommand(): void {}

  sendCommand(): void {}

  info(): Promise<string> {
    return this.server.ask('info', false, () => 'maxmemory_policy:noeviction\r\naof_enabled:1\r\n');
  }

  time(): Promise<[string, string]> {
    const now = () => this.server.world.wallMs;
    return this.server.ask('time', false, () => [
      String(Math.floor(now() / 1_000)),
      String((now() % 1_000) * 1_000),
    ]);
  }

  get(key: string) {
    return this.server.ask('get', false, () => this.server.value<string>(key) ?? null);
  }

  mget(keys: readonly string[]) {
    return this.server.ask('mget', false, () => keys.map(key => this.server.value<string>(key) ?? null));
  }

  smembers(key: string) {
    return this.server.ask('smembers', false, () => [...this.server.members(key)]);
  }

  scard(key: string) {
    return this.server.ask('scard', false, () => this.server.members(key).size);
  }

  pttl(key: string) {
    const {server} = this;
    return server.ask('pttl', false, () =>
      server.value(key) === undefined ? -2 : (server.expiries.get(key) ?? 0) - server.world.steadyMs,
    );
  }

  set(...given: SetArguments) {
    return this.server.ask(`set ${given[0]}`, true, () => this.#set(...given));
  }

  del(...keys: string[]) {
    return this.server.ask('del', true, () => keys.filter(key => this.server.remove(key)).length);
  }

  srem(key: string, gone: string | readonly string[]) {
    return this.server.ask(
      'srem',
      true,
      () => [gone].flat().filter(one => this.server.members(key).delete(one)).length,
    );
  }

  pexpire(key: string, ms: number) {
    return this.server.ask('pexpire', true, () => this.server.expire(key, ms));
  }

  lrem(key: string, _count: number, value: string) {
    const process = this.server.world.current;
    const removed = this.server.ask(`lrem ${value}`, true, () => {
      const list = this.server.list(key);
      const at = list.indexOf(value);
      if (at >= 0) list.splice(at, 1);
      return at >= 0 ? 1 : 0;
    });
    return removed.then(count => {
      if (count > 0) process?.unheard.delete(value);
      return count;
    });
  }

  /** The two scripts of a fleet: the fence of a chunk that may be on its way, and the gate. */
  eval(script: string, _keys: number, key: string, ms: number) {
    const {server} = this;
    return server.ask('eval', true, () => {
      if (script.includes('fenced')) {
        if (server.value(key) !== undefined) return 1;
        server.set(key, {fenced: true}, ms);
        return 0;
      }
      const left = (server.expiries.get(key) ?? 0) - server.world.steadyMs;
      if (server.value(key) === undefined || left < ms) server.set(key, '1', ms);
      return 1;
    });
  }

  multi() {
    const {server} = this;
    const works: (() => unknown)[] = [];
    const chain = {
      sadd: (key: string, value: string) => add(() => server.members(key).add(value)),
      srem: (key: string, value: string) => add(() => server.members(key).delete(value)),
      del: (key: string) => add(() => server.remove(key)),
      pexpire: (key: string, ms: number) => add(() => server.expire(key, ms)),
      set: (...given: SetArguments) => add(() => this.#set(...given)),
      exec: () => server.ask('transaction', true, () => works.map(work => [null, work()])),
    };
    const add = (work: () => unknown) => {
      works.push(work);
      return chain;
    };
    return chain;
  }

  pipeline() {
    return this.multi();
  }

  #set(key: string, value: string, _px?: 'PX', ms?: number, nx?: 'NX'): 'OK' | null {
    if (nx === 'NX' && this.server.value(key) !== undefined) return null;
    this.server.set(key, value, ms);
    return 'OK';
  }
}

type SetArguments = [key: string, value: string, px?: 'PX', ms?: number, nx?: 'NX'];
