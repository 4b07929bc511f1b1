import {once} from 'node:events';
import {Agent, request} from 'node:http';
import {connect} from 'node:net';
import {afterEach, describe, expect, test} from 'vitest';
import {operations} from '../../src/operations/table.ts';
import {type ApiServer, startApiServer} from '../support/api-server.ts';
import {freePort} from '../support/free-port.ts';
import {type FaultProxy, type ProxyOptions, startFaultProxy} from './proxy.ts';

const key = 'test-key-1';
const cleanups: Array<() => Promise<void>> = [];

interface Pair {
  readonly server: ApiServer;
  readonly proxy: FaultProxy;
  readonly agent: Agent;
}

async function start(options: Partial<ProxyOptions> = {}): Promise<Pair> {
  const server = await startApiServer({key});
  const proxy = await startFaultProxy({target: server.url, ...options});
  const agent = new Agent({keepAlive: true, maxSockets: 1});
  cleanups.push(async () => {
    agent.destroy();
    await proxy.close();
    await server.close();
  });
  return {server, proxy, agent};
}

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** Asks through the proxy: the answer's text and length, or the code of the error that broke it off. */
function ask(
  {proxy, agent}: Pair,
  ip = '203.0.113.7',
): Promise<{ok: boolean; length: number; error?: string}> {
  return new Promise(resolve => {
    let text = '';
    const fail = (error: NodeJS.ErrnoException) =>
      resolve({ok: false, length: text.length, error: error.code ?? error.message});
    const req = request(proxy.url + operations.ip.path, {method: 'POST', agent});
    req.on('error', fail);
    req.on('response', res => {
      res.on('error', fail);
      res.on('data', part => {
        text += part;
      });
      res.on('end', () => resolve({ok: JSON.parse(text).success, length: text.length}));
    });
    req.setHeader('Content-Type', 'application/json');
    req.end(JSON.stringify({api_key: key, ip}));
  });
}

const lost = {ok: false, length: 0, error: 'ECONNRESET'};

describe('calm', () => {
  test('passes everything, and counts connections, requests and bytes', async () => {
    const pair = await start();
    for (let i = 0; i < 3; i++) expect((await ask(pair)).ok).toBe(true);
    expect(pair.proxy.seen).toMatchObject({connections: 1, requests: 3, resets: 0, cuts: 0});
    expect(pair.proxy.seen.down).toBeGreaterThan(pair.proxy.seen.up);
    expect(pair.proxy.live).toBe(1);
  });

  test('a request in two parts is one request', async () => {
    const pair = await start();
    const body = JSON.stringify({api_key: key, ip: '203.0.113.7'});
    const headers = {'Content-Type': 'application/json', 'Content-Length': body.length};
    const req = request(pair.proxy.url + operations.ip.path, {method: 'POST', agent: pair.agent, headers});
    req.flushHeaders();
    await expect.poll(() => pair.server.ledger.requests).toBe(1);
    req.end(body);
    const [answer] = await once(req, 'response');
    expect(answer.resume().statusCode).toBe(200);
    expect(pair.proxy.seen.requests).toBe(1);
  });

  test('an end is passed on', async () => {
    const {proxy} = await start();
    const socket = connect(proxy.port, '127.0.0.1').resume();
    await once(socket, 'connect');
    socket.end();
    await once(socket, 'close');
    await expect.poll(() => proxy.live).toBe(0);
  });
});

describe('slow, but whole', () => {
  test.each<[string, Partial<ProxyOptions>]>([
    ['latency and jitter', {latencyMs: 2, jitterMs: 5}],
    ['bandwidth', {bytesPerSecond: 20_000}],
    ['drip', {drip: {everyMs: 1, bytes: 50}}],
    ['drip of the request', {drip: {everyMs: 1, bytes: 20, direction: 'up'}}],
    ['slow close', {slowCloseMs: 5}],
  ])('%s', async (_name, faults) => {
    const pair = await start(faults);
    expect((await ask(pair)).ok).toBe(true);
    expect((await ask(pair)).ok).toBe(true);
    expect(pair.server.ledger.calls).toBe(2);
  });

  test('latency is at least what was asked, each way', async () => {
    const pair = await start({latencyMs: 30});
    const began = performance.now();
    await ask(pair);
    expect(performance.now() - began).toBeGreaterThan(58);
  });

  test('bandwidth is at most what was asked', async () => {
    const pair = await start({bytesPerSecond: 5_000});
    const began = performance.now();
    await ask(pair);
    const {up, down} = pair.proxy.seen;
    expect(((performance.now() - began) * 5_000) / 1000).toBeGreaterThan((up + down) * 0.6);
  });

  test('jitter follows the seed', async () => {
    const draws = async (seed: number) => {
      const seen: number[] = [];
      const pair = await start({seed, onConnection: ({random}) => void seen.push(random(), random())});
      await ask(pair);
      return seen;
    };
    const first = await draws(1);
    expect(await draws(1)).toEqual(first);
    expect(await draws(2)).not.toEqual(first);
  });

  test('a close is held for as long as asked', async () => {
    const {proxy, server} = await start({slowCloseMs: 60_000});
    const socket = connect(proxy.port, '127.0.0.1');
    await once(socket, 'connect');
    await expect.poll(() => server.ledger.connections).toBe(1);
    socket.end();
    const closed = once(socket, 'close').then(() => 'closed');
    expect(await Promise.race([closed, new Promise(resolve => setTimeout(resolve, 100, 'open'))])).toBe(
      'open',
    );
    proxy.resetAll();
    expect(await closed.catch(() => 'closed')).toBe('closed');
  });
});

describe('stall', () => {
  test.each([
    ['up', 0],
    ['down', 1],
    ['both', 0],
  ] as const)('%s: holds until it ends', async (stall, calls) => {
    const pair = await start({stall});
    let answered = false;
    const answer = ask(pair).finally(() => {
      answered = true;
    });
    await expect
      .poll(() => (stall === 'down' ? pair.proxy.seen.down : pair.proxy.seen.up))
      .toBeGreaterThan(0);
    expect([answered, pair.server.ledger.calls]).toEqual([false, calls]);
    pair.proxy.set({stall: undefined});
    expect((await answer).ok).toBe(true);
    expect(pair.server.ledger.calls).toBe(1);
  });
});

describe('broken', () => {
  test.each([
    ['connect', 0],
    ['before', 0],
    ['during', 0],
    ['after', 1],
  ] as const)('reset %s: the server counts %i', async (reset, calls) => {
    const pair = await start({reset});
    expect(await ask(pair)).toEqual(lost);
    expect(pair.server.ledger.calls).toBe(calls);
    expect(pair.proxy.seen.resets).toBe(1);
    pair.proxy.calm();
    expect((await ask(pair)).ok).toBe(true);
  });

  test.each(['close', 'reset'] as const)('cut in the answer (%s): the server counts it', async ending => {
    const pair = await start({cutAfter: {bytes: 250, direction: 'down', ending}});
    const seen = await ask(pair);
    expect([seen.ok, seen.error]).toEqual([false, 'ECONNRESET']);
    if (ending === 'close') expect(seen.length).toBeGreaterThan(0);
    expect(pair.server.ledger.calls).toBe(1);
    expect(pair.proxy.seen).toMatchObject({cuts: 1, down: expect.any(Number)});
  });

  test('a cut counts the bytes of each answer for itself', async () => {
    const pair = await start();
    await ask(pair);
    pair.proxy.set({cutAfter: {bytes: pair.proxy.seen.down + 1, direction: 'down', ending: 'reset'}});
    for (let i = 0; i < 3; i++) expect((await ask(pair)).ok).toBe(true);
  });

  test('cut in the request: the server does not count it', async () => {
    const pair = await start({cutAfter: {bytes: 50, direction: 'up', ending: 'close'}});
    expect(await ask(pair)).toEqual(lost);
    expect(pair.server.ledger.calls).toBe(0);
  });

  test('a port that was closed, and opened again', async () => {
    const pair = await start();
    expect((await ask(pair)).ok).toBe(true);
    pair.proxy.refuse();
    expect((await ask(pair)).ok).toBe(true);
    pair.proxy.closeAll();
    await expect.poll(() => pair.proxy.live).toBe(0);
    await expect.poll(() => Object.keys(pair.agent.freeSockets)).toEqual([]);
    expect(await ask(pair)).toEqual({ok: false, length: 0, error: 'ECONNREFUSED'});
    await pair.proxy.accept();
    expect((await ask(pair)).ok).toBe(true);
  });

  test('a connection to a closed port is refused', async () => {
    const {agent, proxy} = await start();
    const url = `http://127.0.0.1:${await freePort()}`;
    expect(await ask({agent, proxy: {...proxy, url}} as Pair)).toMatchObject({error: 'ECONNREFUSED'});
  });

  test('a server that is gone resets who connects through the proxy', async () => {
    const pair = await start({target: await freePort()});
    expect(await ask(pair)).toEqual(lost);
  });
});

describe('hooks', () => {
  test('fault the n-th request only, on a connection that was kept', async () => {
    const pair = await start({onRequest: ({request}) => (request === 2 ? {reset: 'after'} : undefined)});
    const seen = [await ask(pair), await ask(pair), await ask(pair)];
    expect(seen.map(({ok}) => ok)).toEqual([true, false, true]);
    expect(pair.server.ledger.calls).toBe(3);
    expect(pair.proxy.seen).toMatchObject({connections: 2, requests: 3, resets: 1});
  });

  test('fault the n-th connection only', async () => {
    const pair = await start({
      onConnection: ({connection}) => (connection === 1 ? {reset: 'before'} : undefined),
    });
    expect([(await ask(pair)).ok, (await ask(pair)).ok]).toEqual([false, true]);
  });

  test('number requests on their connection', async () => {
    const numbers: number[][] = [];
    const pair = await start({
      onRequest: ({connection, request, onConnection}) => {
        numbers.push([connection, request, onConnection]);
        return request === 2 ? {cutAfter: {bytes: 0, direction: 'down', ending: 'close'}} : undefined;
      },
    });
    for (let i = 0; i < 3; i++) await ask(pair);
    expect(numbers).toEqual([
      [1, 1, 1],
      [1, 2, 2],
      [2, 3, 1],
    ]);
  });
});
