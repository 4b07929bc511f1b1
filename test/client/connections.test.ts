import type {Socket} from 'node:net';
import {brotliCompressSync, deflateSync, gzipSync} from 'node:zlib';
import {describe, expect, test, vi} from 'vitest';
import type {Attempt} from '../../src/client/attempt.ts';
import {reply} from '../support/api-server-reply.ts';
import {accelerated} from '../support/fast-clock.ts';
import {until} from '../support/until.ts';
import {client, serve, serveRaw} from './clients.ts';

const http = (city: string) => {
  const body = JSON.stringify({success: true, data: {city}});
  return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
};
const cityOf = (attempt: Attempt) => (attempt.kind === 'answered' ? attempt.data.city : attempt.kind);

/** Asks so many at a time, each again as often as no answer came: whose answers they were given. */
async function atFullPace(asked: ReturnType<typeof client>, ips: readonly string[], inFlight: number) {
  const answers: unknown[] = [];
  let next = 0;
  const work = async () => {
    for (let n = next++; n < ips.length; n = next++) {
      const send = () => asked.send('ip', {ip: ips[n] ?? ''});
      let attempt = await send();
      while (attempt.kind === 'ambiguous') attempt = await send();
      answers[n] = cityOf(attempt);
    }
  };
  await Promise.all(Array.from({length: inFlight}, work));
  return answers;
}

describe('what comes behind an answer is never the answer to the next call', () => {
  const ipOf = (body: string) => (JSON.parse(body) as {ip: string}).ip;
  test.each([
    ['a second answer, in the same packet', http('other'), 'at once'],
    ['a second answer, later', http('other'), 'later'],
    ['half an answer', 'HTTP/1.1 2', 'later'],
    ['nonsense', 'x', 'later'],
  ])('%s', async (_, more, when) => {
    // Later is once the answer was read: in one piece with it, half an answer is seen by the next call only, as none.
    let follow = () => {};
    const write = (socket: Socket, own: string) => {
      socket.write(when === 'later' ? own : own + more);
      if (when === 'later') follow = () => void socket.write(more);
    };
    const server = await serveRaw((socket, body) => write(socket, http(ipOf(body))));
    const asked = client(server.url);
    for (const ip of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) {
      expect(cityOf(await asked.send('ip', {ip}))).toBe(ip);
      follow();
      await until(() => server.sockets.at(-1)?.closed === true);
    }
    expect(server.sockets).toHaveLength(3);
  });

  test('half an answer in one piece with a whole one: the next call fails, rather than have another’s', async () => {
    const server = await serveRaw((socket, body, nth) => {
      const own = http(ipOf(body));
      socket.write(nth === 1 ? `${own}${http('other').slice(0, 9)}` : `${http('other').slice(9)}${own}`);
    });
    const asked = client(server.url);
    expect(cityOf(await asked.send('ip', {ip: '192.0.2.1'}))).toBe('192.0.2.1');
    const second = await asked.send('ip', {ip: '192.0.2.2'});
    expect(second).toMatchObject({kind: 'unreadable', code: 'bad_response'});
    expect(cityOf(await asked.send('ip', {ip: '192.0.2.3'}))).toBe('192.0.2.3');
    expect(server.sockets).toHaveLength(2);
  });

  test('a service that closes connections as they are used again is given one for each call, after two that were lost', async () => {
    const server = await serveRaw((socket, body, nth) => {
      if (nth === 1) socket.write(http(ipOf(body)));
      else socket.resetAndDestroy();
    });
    const asked = client(server.url);
    const attempts: Attempt[] = [];
    for (let i = 1; i <= 12; i++) attempts.push(await asked.send('ip', {ip: `192.0.2.${i}`}));
    const lost = attempts.filter(({kind}) => kind !== 'answered');
    expect(lost).toMatchObject(Array(2).fill({kind: 'ambiguous', code: 'econnreset'}));
    expect(server.sockets).toHaveLength(10);
  });

  // Newer Node closes an idle connection that gets bytes by itself, before they can be seen.
  const closesItself = Number.parseInt(process.versions.node, 10) >= 22;

  test.skipIf(closesItself)(
    'a service that sends answers twice is given a connection for each call, once it was seen to',
    async () => {
      let unasked = 0;
      const first: (() => void)[] = [];
      const server = await serveRaw((socket, body) => {
        const own = http(ipOf(body));
        const again = () => void socket.write(own);
        socket.write(own);
        if (first.length === 0) first.push(again);
        else setTimeout(again, 1);
      });
      const asked = client(server.url, {maxConnections: 2, onUnasked: () => unasked++});
      expect(cityOf(await asked.send('ip', {ip: '192.0.2.1'}))).toBe('192.0.2.1');
      for (const again of first) again();
      await until(() => unasked === 1);
      const ips = Array.from({length: 40}, (_, n) => `198.51.100.${n}`);
      const answers = await Promise.all(ips.map(ip => asked.send('ip', {ip})));
      expect(answers.map(cityOf)).toEqual(ips);
      expect(server.sockets).toHaveLength(41);
    },
  );

  test('at full pace no value has another’s answer, where each answer comes again in the same packet', async () => {
    const server = await serveRaw((socket, body) => {
      const own = http(ipOf(body));
      socket.write(own + own);
    });
    let told = 0;
    const asked = client(server.url, {maxConnections: 16, onUnasked: () => told++});
    const ips = Array.from({length: 400}, (_, n) => `198.51.${n >> 8}.${n & 255}`);
    expect(await atFullPace(asked, ips, 16)).toEqual(ips);
    expect(told).toBeGreaterThan(0);
  });

  test('a server that says why it closes an idle connection is no such service', async () => {
    let unasked = 0;
    const closing = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';
    const server = await serveRaw((socket, body) => {
      socket.write(http(ipOf(body)), () => setTimeout(() => socket.end(closing), 5));
    });
    const asked = client(server.url, {onUnasked: () => unasked++});
    for (const ip of ['192.0.2.1', '192.0.2.2']) {
      expect(cityOf(await asked.send('ip', {ip}))).toBe(ip);
      await until(() => server.sockets.every(socket => socket.closed));
    }
    expect(unasked).toBe(0);
  });

  test('a connection on which nothing comes is kept, and carries the next call', async () => {
    const server = await serveRaw((socket, body) => socket.write(http(ipOf(body))));
    const asked = client(server.url);
    for (const ip of ['192.0.2.1', '192.0.2.2', '192.0.2.3'])
      expect(cityOf(await asked.send('ip', {ip}))).toBe(ip);
    expect(server.sockets).toHaveLength(1);
  });

  const SOON = http('X').replace('\r\n', '\r\nKeep-Alive: timeout=1\r\n');
  test.each([
    ['that carried a gateway’s error', 'HTTP/1.1 504 Timeout\r\nContent-Length: 0\r\n\r\n', 'ambiguous', 6],
    ['that the server closes soon', SOON, 'answered', 4],
    ['that is reset with its answer', http('X'), 'answered', 6],
  ])('a connection %s carries no other call', async (how, answer, kind, connections) => {
    const server = await serveRaw(socket => {
      socket.write(answer);
      if (how.includes('reset')) socket.resetAndDestroy();
    });
    const asked = client(server.url, {maxConnections: 1});
    const ips = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
    const inTurn = [];
    for (const ip of ips) inTurn.push(await asked.send('ip', {ip}));
    const atOnce = await Promise.all(ips.map(ip => asked.send('ip', {ip})));
    expect([...inTurn, ...atOnce].map(attempt => attempt.kind)).toEqual(Array(6).fill(kind));
    // Calls that wait for their connection have it in time.
    expect(server.sockets).toHaveLength(connections);
  });

  test('there are never more connections than are asked for', async () => {
    const server = await serve({latencyMs: 2});
    const asked = client(server.url, {maxConnections: 3});
    const ips = Array.from({length: 60}, (_, n) => `198.51.100.${n}`);
    const attempts = await Promise.all(ips.map(ip => asked.send('ip', {ip})));
    expect(attempts.every(({kind}) => kind === 'answered')).toBe(true);
    expect(server.ledger.peakInFlight).toBeLessThanOrEqual(3);
    expect(server.ledger.connections).toBeLessThanOrEqual(3);
  });
});

describe('a status below 200', () => {
  test.each([
    ['HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n'],
    ['HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  ])('101 is no answer, and frees its connection: %j', async head => {
    const server = await serveRaw(socket => socket.write(head));
    const attempt = await client(server.url).send('ip', {ip: '192.0.2.1'});
    expect(attempt).toMatchObject({kind: 'unreadable', status: 101});
    await expect.poll(() => server.sockets.every(socket => socket.destroyed)).toBe(true);
  });

  test('others are followed by the answer', async () => {
    const early = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
    const server = await serveRaw(socket => socket.write(early + http('X')));
    expect(cityOf(await client(server.url).send('ip', {ip: '192.0.2.1'}))).toBe('X');
  });
});

describe('a coded body', () => {
  const json = '{"success":true,"data":{"city":"X"}}';
  test.each([
    ['GZIP', gzipSync(json), 'answered'],
    ['X-Gzip', gzipSync(json), 'answered'],
    [' Br ', brotliCompressSync(json), 'answered'],
    ['Identity', Buffer.from(json), 'answered'],
    ['deflate , gzip', gzipSync(deflateSync(json)), 'answered'],
    ['gzip,,identity', gzipSync(json), 'answered'],
    ['compress', Buffer.from(json), 'unreadable'],
    ['constructor', Buffer.from(json), 'unreadable'],
  ])('%j', async (coding, body, kind) => {
    const coded = {as: 'bytes', data: body, type: 'application/json'} as const;
    const headers = {'Content-Encoding': coding};
    const server = await serve({script: () => ({kind: 'answer', status: 200, body: coded, headers})});
    expect((await client(server.url).send('ip', {ip: '192.0.2.1'})).kind).toBe(kind);
  });
});

test('a call’s time begins when it has its connection', async () => {
  const server = await serve({latencyMs: 200});
  const asked = client(server.url, {maxConnections: 1, timeoutMs: 450});
  const attempts = await Promise.all([1, 2, 3, 4].map(n => asked.send('ip', {ip: `192.0.2.${n}`})));
  expect(attempts.map(({kind}) => kind)).toEqual(Array(4).fill('answered'));
  expect(attempts.every(({latencyMs}) => latencyMs < 450)).toBe(true);
});

describe('a proxy that never answers', () => {
  test('is not waited for, and nothing was sent', async () => {
    const proxy = await serveRaw(() => {});
    vi.stubEnv('HTTPS_PROXY', proxy.url);
    const attempt = await accelerated(100, () =>
      client('https://api.example.com').send('ip', {ip: '192.0.2.1'}),
    );
    expect(attempt).toMatchObject({kind: 'not_sent', code: 'proxy_timeout'});
    await expect.poll(() => proxy.sockets.every(socket => socket.destroyed)).toBe(true);
  });

  test('is left when the client closes', async () => {
    const proxy = await serveRaw(() => {});
    vi.stubEnv('HTTPS_PROXY', proxy.url);
    const asked = client('https://api.example.com');
    const attempt = asked.send('ip', {ip: '192.0.2.1'});
    await expect.poll(() => proxy.sockets.length).toBe(1);
    asked.close();
    expect((await attempt).kind).toBe('not_sent');
    await expect.poll(() => proxy.sockets.every(socket => socket.destroyed)).toBe(true);
  });
});

test('calls that wait for a connection end with the client', async () => {
  const server = await serve({script: () => reply.stall()});
  const asked = client(server.url, {maxConnections: 1});
  const attempts = [1, 2].map(n => asked.send('ip', {ip: `192.0.2.${n}`}));
  await expect.poll(() => server.ledger.calls).toBe(1);
  asked.close();
  expect((await Promise.all(attempts)).map(({kind}) => kind)).toEqual(['ambiguous', 'not_sent']);
  expect(server.ledger.calls).toBe(1);
});

test('a call that was answered leaves no timer behind, which would keep all of it in memory for its whole time', async () => {
  const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length;
  const server = await serveRaw(socket => socket.write(http('X')));
  const asked = client(server.url, {timeoutMs: 60_000, maxConnections: 2});
  await asked.send('ip', {ip: '192.0.2.1'});
  const before = timers();
  await Promise.all(Array.from({length: 20}, (_, n) => asked.send('ip', {ip: `198.51.100.${n}`})));
  expect(timers()).toBeLessThanOrEqual(before);
});
