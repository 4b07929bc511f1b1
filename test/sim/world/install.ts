import crypto from 'node:crypto';
import {syncBuiltinESMExports} from 'node:module';
import os from 'node:os';
import timers from 'node:timers/promises';
import type {Transport, TransportOptions} from '../../../src/client/http/transport.ts';
import {RealDatabase} from './contents.ts';
import {Connection, type Databases} from './databases.ts';
import type {Timer} from './event-queue.ts';
import type {Files} from './files.ts';
import {patchFs, ROOT, TEMPORARY} from './patched-fs.ts';
import {type Server, serveRedis} from './redis.ts';
import type {World} from './world.ts';

/** Of the simulation that is under way in this process; there is one at a time. */
let active: Databases | undefined;
let network: ((options: TransportOptions) => Transport) | undefined;

/** Carries the calls of the run whose code is running. */
export function simulatedTransport(options: TransportOptions): Transport {
  if (network === undefined) throw new Error('no simulation is under way');
  return network(options);
}

/** Replaces `libsql`: files of the simulation's disk get a simulated connection, all others the driver's own. */
export const SimulatedDatabase = new Proxy(RealDatabase, {
  construct(target, [path, ...more]: [string, ...unknown[]]) {
    if (active !== undefined && path.startsWith(ROOT)) return new Connection(active, path);
    return Reflect.construct(target, [path, ...more]);
  },
});

/** Parts of a world beside its clock and its luck. */
interface Parts {
  readonly files: Files;
  readonly databases: Databases;
  readonly network: (options: TransportOptions) => Transport;
  readonly redis?: Server | undefined;
}

/** Puts a world's disk, clock, timers and luck in place of the real ones; returns what takes that back. */
export function install(world: World, parts: Parts): () => void {
  const {files} = parts;
  ({databases: active, network} = parts);
  if (parts.redis) serveRedis(parts.redis);
  const undo = [patchFs(files, world), patchTime(world), patchLuck(world), patchProcess(world)];
  return () => {
    active = undefined;
    network = undefined;
    for (const restore of undo) restore();
  };
}

function cancel(timer: Timer | undefined): void {
  if (timer !== undefined) timer.isOver = true;
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
    ...{clearTimeout: cancel, clearInterval: cancel, clearImmediate: cancel},
  };
  const before = new Map(Object.keys(own).map(name => [name, (globalThis as Record<string, unknown>)[name]]));
  Object.assign(globalThis, own);
  const realNow = performance.now;
  performance.now = () => world.nowMs;
  const {setTimeout: sleep, setImmediate: nextTurn} = timers;
  timers.setTimeout = ((ms = 0, value?: unknown) =>
    new Promise<unknown>(resolve => world.later(ms, () => resolve(value)))) as typeof sleep;
  timers.setImmediate = (<T>(value?: T) =>
    new Promise<T | undefined>(resolve =>
      world.later(0, () => resolve(value), world.current, 'check'),
    )) as typeof nextTurn;
  syncBuiltinESMExports();
  return () => {
    Object.assign(globalThis, Object.fromEntries(before));
    performance.now = realNow;
    timers.setTimeout = sleep;
    timers.setImmediate = nextTurn;
    syncBuiltinESMExports();
  };
}

/** Its identity and end, the other processes, the machine's clock, and where temporary files are. */
function patchProcess(world: World): () => void {
  const {pid, kill, once, off} = process;
  const real = {pid, kill, bigint: process.hrtime.bigint, tmpdir: os.tmpdir};
  const pidIs = (get: () => number) => Object.defineProperty(process, 'pid', {get, configurable: true});
  pidIs(() => world.current?.pid ?? real.pid);
  process.kill = pid => {
    if (!world.isAlive(pid)) throw Object.assign(new Error('ESRCH'), {code: 'ESRCH'});
    return true;
  };
  process.hrtime.bigint = () => BigInt(Math.round(world.nowMs * 1e6));
  // Work for a process's end is not done: this process plays many.
  process.once = () => process;
  process.off = () => process;
  os.tmpdir = () => TEMPORARY;
  syncBuiltinESMExports();
  return () => {
    pidIs(() => real.pid);
    process.kill = real.kill;
    process.hrtime.bigint = real.bigint;
    Object.assign(process, {once, off});
    os.tmpdir = real.tmpdir;
    syncBuiltinESMExports();
  };
}

function patchLuck(world: World): () => void {
  const {randomBytes, randomInt, randomUUID} = crypto;
  const {random} = Math;
  const bytes = (count: number) => {
    const words = new Uint32Array(Math.ceil(count / 4));
    for (let at = 0; at < words.length; at++) words[at] = world.random() * 2 ** 32;
    return Buffer.from(words.buffer, 0, count);
  };
  const hex = () => bytes(16).toString('hex');
  Object.assign(crypto, {
    randomBytes: bytes,
    randomInt: (below: number) => Math.floor(world.random() * below),
    randomUUID: () => hex().replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  });
  Math.random = world.luck;
  syncBuiltinESMExports();
  return () => {
    Object.assign(crypto, {randomBytes, randomInt, randomUUID});
    Math.random = random;
    syncBuiltinESMExports();
  };
}
