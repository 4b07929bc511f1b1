import {once} from 'node:events';
import {createServer, type Server, type Socket} from 'node:net';
import {freePort} from '../support/free-port.ts';
import type {Faults} from './proxy-lane.ts';
import {type Link, type Seen, startLink} from './proxy-link.ts';

export type {Faults} from './proxy-lane.ts';

/** The argument of a hook. Numbers count from 1. */
export interface Moment {
  /** The n-th connection of the proxy. */
  readonly connection: number;
  /** The n-th request of the proxy; 0 when a connection opens. */
  readonly request: number;
  /** The n-th request on its connection; 0 when a connection opens. */
  readonly onConnection: number;
  /** The next number of the seeded sequence, 0 to 1. */
  readonly random: () => number;
}

export interface ProxyOptions extends Faults {
  /** Target of connections: a port on loopback, or a URL. */
  readonly target: number | string;
  readonly seed?: number;
  /** Faults for one connection, on top of the proxy's own. */
  readonly onConnection?: (moment: Moment) => Faults | undefined;
  /**
   * Faults for one request, on top of its connection's. A request starts with the first byte from the client after
   * bytes from the server, which is right for HTTP/1.1 without pipelining and without TLS.
   */
  readonly onRequest?: (moment: Moment) => Faults | undefined;
}

export interface FaultProxy extends AsyncDisposable {
  readonly port: number;
  /** `http://127.0.0.1:<port>` and the target URL's path. */
  readonly url: string;
  readonly seen: Readonly<Seen>;
  readonly live: number;
  /** Changes faults for all connections, at once; what is not named stays; `undefined` ends a fault. */
  set(faults: {[name in keyof Faults]: Faults[name] | undefined}): void;
  /** Ends all faults. */
  calm(): void;
  /** Closes the port, so that connecting is refused; what is connected stays. */
  refuse(): void;
  /** Opens the same port again. */
  accept(): Promise<void>;
  /** Breaks off every connection there is. */
  resetAll(): void;
  /** Closes every connection there is in order, as a server does with idle ones. */
  closeAll(): void;
  close(): Promise<void>;
}

/** A TCP proxy on loopback that does to a connection what networks do. */
export async function startFaultProxy(options: ProxyOptions): Promise<FaultProxy> {
  const target = typeof options.target === 'number' ? undefined : new URL(options.target);
  const targetPort = Number(target ? target.port : options.target);
  const {target: _, seed, onConnection, onRequest, ...initial} = options;
  let faults: Faults = initial;
  const random = seeded(seed ?? 1);
  const seen = {connections: 0, requests: 0, up: 0, down: 0, resets: 0, cuts: 0};
  const live = new Set<Link>();
  const start = (client: Socket) => {
    const connection = ++seen.connections;
    const own = onConnection?.({connection, request: 0, onConnection: 0, random});
    const nextRequest = (n: number) => {
      const moment = {connection, request: ++seen.requests, onConnection: n, random};
      return onRequest?.(moment);
    };
    if ({...faults, ...own}.reset === 'connect') {
      seen.resets++;
      client.resetAndDestroy();
      return;
    }
    const link = startLink({client, targetPort, own, common: () => faults, nextRequest, random, seen});
    live.add(link);
    link.ended.then(() => live.delete(link));
  };
  const server = createServer({allowHalfOpen: true, noDelay: true}, start);
  // Where it refuses for a while, no other server may take the port meanwhile.
  const port = await freePort();
  await listen(server, port);
  const wake = () => {
    for (const link of live) link.wake();
  };
  const refuse = () => {
    if (server.listening) server.close();
  };
  const close = async () => {
    refuse();
    const ended = [...live].map(link => link.ended);
    for (const link of live) link.break();
    await Promise.all(ended);
  };
  return {
    port,
    url: `http://127.0.0.1:${port}${target ? target.pathname.replace(/\/$/, '') : ''}`,
    seen,
    get live() {
      return live.size;
    },
    set(changes) {
      faults = Object.fromEntries(
        Object.entries({...faults, ...changes}).filter(([, value]) => value !== undefined),
      );
      wake();
    },
    calm() {
      faults = {};
      wake();
    },
    refuse,
    accept: () => listen(server, port),
    resetAll() {
      for (const link of live) link.break();
    },
    closeAll() {
      for (const link of live) link.finish();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}

/** Mulberry32. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
