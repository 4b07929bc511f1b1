import crypto from 'node:crypto';
import {syncBuiltinESMExports} from 'node:module';
import timers from 'node:timers/promises';
import {RealDatabase} from './contents.ts';
import {Connection, type Databases} from './databases.ts';
import type {Files} from './files.ts';
import {patchFs, ROOT} from './patched-fs.ts';
import type {RedisServer} from './redis.ts';
import type {World} from './world.ts';

/** Of the simulation that is under way in this process; there is one at a time. */
let active: Databases | undefined;
let redis: RedisServer | undefined;

export function activeRedis(): RedisServer {
  if (redis === undefined) throw new Error('no simulation is under way');
  return redis;
}

/** Replaces `libsql`: files of the simulation's disk get a simulated connection, all others the driver's own. */
export const SimulatedDatabase = new Proxy(RealDatabase, {
  construct(target, [path, ...more]: [string, ...unknown[]]) {
    if (active !== undefined && path.startsWith(ROOT)) return new Connection(active, path);
    return Reflect.construct(target, [path, ...more]);
  },
});

/** Puts a world's disk, clock, timers and luck in place of the real ones; returns what takes that back. */
export function install(world: World, files: Files, databases: Databases, server: RedisServer): () => void {
  active = databases;
  redis = server;
  const undo = [patchFs(files, world), patchTime(world), patchLuck(world), patchProcess(world)];
  return () => {
    active = undefined;
    redis = undefined;
    for (const restore of undo) restore();
  };
}

function patchTime(world: World): () => void {
  const RealDate = globalThis.Date;
  const now = () => world.wallMs;
  const SimulatedDate = new Proxy(RealDate, {
    construct: (target, given) => Reflect.construct(target, given.length === 0 ? [now()] : given),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
  const own = {
    Date: SimulatedDate,
    setTimeout: (work: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) =>
      world.later(ms, () => work(...given)),
    setInterval: (work: () => void, ms = 0) => world.every(ms, work),
    setImmediate: (work: (...given: unknown[]) => void, ...given: unknown[]) =>
      world.later(0, () => work(...given), world.current, 'check'),
    clearTimeout: (timer: unknown) => world.events.cancel(timer),
    clearInterval: (timer: unknown) => world.events.cancel(timer),
    clearImmediate: (timer: unknown) => world.events.cancel(timer),
  };
  const before = new Map(Object.keys(own).map(name => [name, (globalThis as Record<string, unknown>)[name]]));
  Object.assign(globalThis, own);
  const realNow = performance.now;
  performance.now = () => world.steadyMs;
  const sleep = timers.setTimeout;
  timers.setTimeout = ((ms = 0, value?: unknown) =>
    new Promise<unknown>(resolve => world.later(ms, () => resolve(value)))) as typeof sleep;
  syncBuiltinESMExports();
  return () => {
    Object.assign(globalThis, Object.fromEntries(before));
    performance.now = realNow;
    timers.setTimeout = sleep;
    syncBuiltinESMExports();
  };
}

/** Its identity, the other processes, and the machine's clock. */
function patchProcess(world: World): () => void {
  const real = {pid: process.pid, kill: process.kill, bigint: process.hrtime.bigint};
  const pidIs = (get: () => number) => Object.defineProperty(process, 'pid', {get, configurable: true});
  pidIs(() => world.current?.pid ?? real.pid);
  process.kill = pid => {
    if (!world.isAlive(pid)) throw Object.assign(new Error('ESRCH'), {code: 'ESRCH'});
    return true;
  };
  process.hrtime.bigint = () => BigInt(Math.round(world.steadyMs * 1e6));
  return () => {
    pidIs(() => real.pid);
    process.kill = real.kill;
    process.hrtime.bigint = real.bigint;
  };
}

function patchLuck(world: World): () => void {
  const {randomBytes, randomInt, randomUUID} = crypto;
  const bytes = (count: number) => {
    const words = new Uint32Array(Math.ceil(count / 4));
    for (let at = 0; at < words.length; at++) words[at] = world.random() * 2 ** 32;
    return Buffer.from(words.buffer, 0, count);
  };
  const own = {
    randomBytes: bytes,
    randomInt: (below: number) => Math.floor(world.random() * below),
    randomUUID: () =>
      bytes(16)
        .toString('hex')
        .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  };
  Object.assign(crypto, own);
  syncBuiltinESMExports();
  return () => {
    Object.assign(crypto, {randomBytes, randomInt, randomUUID});
    syncBuiltinESMExports();
  };
}
