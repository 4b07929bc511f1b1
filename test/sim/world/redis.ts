import {EventEmitter} from 'node:events';
import {Keyspace} from './keyspace.ts';
import {type Reply, runScript} from './lua.mjs';
import {Killed} from './process.ts';
import {commands} from './redis-commands.ts';

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

/** From then on it may go away with any command. */
const SOON_MS = 150;

const NEVER: Span = {fromMs: 0, untilMs: 0};

/** One Redis, in memory, that all processes of a simulation reach. */
export class RedisServer extends Keyspace {
  /** Times at which it has no memory, and at which it can't be reached. */
  full: Span = NEVER;
  /** When it takes no writes at all, as after it could not save. */
  readOnly: Span = NEVER;
  away: Span = NEVER;

  script(source: string, keys: readonly string[], args: readonly string[]): Reply {
    try {
      return runScript(source, keys, args, (name, given) => {
        const command = commands[name];
        if (command === undefined) throw new Error(`The simulated Redis has no ${name}.`);
        return command(this, ...given);
      });
    } catch (error) {
      throw new ReplyError((error as Error).message);
    }
  }

  isWithin({fromMs, untilMs}: Span): boolean {
    return this.world.steadyMs >= fromMs && this.world.steadyMs < untilMs;
  }

  /** Does `work` there and brings back what it comes to; while Redis is away it waits, or fails where it must not be repeated. */
  ask<T>(what: string, writes: boolean, work: () => T, isOnce = false): Promise<T> {
    const {world} = this;
    return new Promise((resolve, reject) => {
      const leave = () => {
        if (writes && this.#goesAwayWith()) this.#doUnheard(what, work);
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

  /** Goes away with a command, at times, a little before it would have: the command is done, and its answer is lost. */
  #goesAwayWith(): boolean {
    const {away, world} = this;
    const beforeMs = away.fromMs - world.steadyMs;
    if (beforeMs <= 0 || beforeMs > SOON_MS || world.random() < 0.7) return false;
    this.away = {fromMs: world.steadyMs, untilMs: away.untilMs};
    return true;
  }

  #doUnheard(what: string, work: () => unknown): void {
    try {
      this.world.step(() => `redis ${what}, unheard`, work);
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error;
    }
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

  /** A script under a name of its own, as bottleneck calls it: with its number of keys first and a callback last. */
  defineCommand(name: string, {lua}: {lua: string}): void {
    const run = (count: number, ...given: [...(string | number)[], Callback]) => {
      const heard = given.pop() as Callback;
      const run = () => this.#script(name, lua, count, given as string[]);
      this.sendCommand({run, resolve: reply => heard(null, reply), reject: error => heard(error)});
    };
    Object.assign(this, {[name]: run});
  }

  sendCommand(command: Command): void {
    command.run().then(
      reply => command.resolve(reply),
      error => command.reject(error),
    );
  }

  subscribe(channel: string, done: () => void): void {
    const process = this.server.world.current;
    const tell = (message: string) =>
      this.server.world.later(1, () => this.emit('message', channel, message), process);
    void this.server
      .ask('subscribe', false, () =>
        this.server.subscribe(channel, message => {
          if (!this.#isOver) tell(message);
        }),
      )
      .then(done);
  }

  async unsubscribe(): Promise<void> {}

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
    return server.ask('pttl', false, () => server.leftMs(key));
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

  eval(script: string, count: number, ...given: (string | number)[]) {
    return this.#script('eval', script, count, given);
  }

  #script(name: string, source: string, count: number, given: readonly (string | number)[]): Promise<Reply> {
    const texts = given.map(String);
    const work = () => this.server.script(source, texts.slice(0, count), texts.slice(count));
    return this.server.ask(name, true, work, this.isOnce);
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

type Callback = (error: Error | null, reply?: Reply) => void;

/** A command on its way, as ioredis has it: who sends it may put something in place of what hears of its end. */
interface Command {
  readonly run: () => Promise<Reply>;
  readonly resolve: (reply: Reply) => void;
  reject: (error: Error) => void;
}

type SetArguments = [key: string, value: string, px?: 'PX', ms?: number, nx?: 'NX'];
