import {once} from 'node:events';
import {createServer as createHttpServer, type Server} from 'node:http';
import {type AddressInfo, connect, createServer, type Socket} from 'node:net';
import {inspect} from 'node:util';
import {Worker} from 'node:worker_threads';
import {gzipSync} from 'node:zlib';
import {describe, expect, onTestFinished, test} from 'vitest';
import type {Attempt} from '../../src/client/attempt.ts';
import type {Client} from '../../src/client/client.ts';
import type {Call} from '../support/api-server.ts';
import {reply} from '../support/api-server-reply.ts';
import {createSandbox} from '../support/command.ts';
import {client, key, serve} from './clients.ts';

const ask = (asked: Client): Promise<Attempt> => asked.send('ip', {ip: '192.0.2.1'});
const brief = (attempt: Attempt) => [attempt.kind, 'code' in attempt ? attempt.code : undefined];

describe('it is known if a call was sent', () => {
  test('a handshake that breaks off: not sent', async () => {
    const port = await listening(createServer(socket => socket.resetAndDestroy()));
    expect((await ask(client(`https://127.0.0.1:${port}`))).kind).toBe('not_sent');
  });

  // Broken calls that counted as unsent would be sent again for nothing, and no row would fail.
  test.each(['over TLS', 'through a tunnel'])(
    '%s the first call on a connection and a later one may have been carried out',
    async way => {
      const script = ({call}: Call) => (call === 1 || call === 3 ? reply.drop() : undefined);
      const server = await serve({tls: true, script});
      const tunnel = await startTunnel();
      using sandbox = createSandbox({'in.csv': 'ip\n192.0.2.1\n192.0.2.2\n192.0.2.3\n'});
      const flags = ['--ip', 'ip', '--concurrency', '1', '--resends', '0', '--no-store'];
      const {code} = await sandbox.run(['run', 'in.csv', '-o', 'out.csv', ...flags], {
        env: {
          BULK_ENRICH_BASE_URL: server.url,
          BULK_ENRICH_API_KEY: key,
          NODE_EXTRA_CA_CERTS: sandbox.write('ca.pem', server.ca ?? ''),
          ...(way === 'over TLS' ? {} : {HTTPS_PROXY: tunnel.url}),
        },
      });
      expect(code).toBe(3);
      expect(sandbox.summary('out.summary.json').credits).toMatchObject({spent: 1, maybe_spent: 2});
      expect(tunnel.count() > 0).toBe(way !== 'over TLS');
    },
  );
});

describe('bodies', () => {
  const OK = 'HTTP/1.1 200 OK\r\n';
  test.each([
    ['too large, declared', reply.huge(64 * 2 ** 20, 'declared')],
    ['too large, chunked', reply.huge(64 * 2 ** 20)],
    ['a gzip bomb', reply.gzipBomb(64 * 2 ** 20)],
    ['an encoding that is none', reply.json({}, 200, {headers: {'Content-Encoding': 'gzip'}})],
    ['HTTP/2 on a plain port', reply.raw('\0\0\x12\x04\0\0\0\0\0', {ending: 'close'})],
    ['a bare line feed', reply.raw('HTTP/1.1 200 OK\nContent-Length: 2\n\n{}', {ending: 'close'})],
    ['two lengths', reply.raw(`${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, {ending: 'close'})],
    ['a head above 16 KB', reply.json({}, 200, {headers: {'X-Large': 'x'.repeat(20_000)}})],
    ['a body in chunks that are none', reply.raw(`${OK}Transfer-Encoding: chunked\r\n\r\nzz\r\n`)],
    ['an encoding that nobody knows', reply.text('xx', 200, 'x', {headers: {'Content-Encoding': 'zz'}})],
  ])('%s', async (_, answer) => {
    const server = await serve({script: () => answer});
    expect(brief(await ask(client(server.url)))).toEqual(['unreadable', 'bad_response']);
    expect(server.ledger.poured).toBeLessThan(32 * 2 ** 20);
  });
});

test.each([
  ['as it is', {}],
  ['packed', {headers: {'Content-Encoding': 'gzip'}}],
])('a body of exactly the limit passes, and none with a byte more: %s', async (_, extra) => {
  const body = JSON.stringify({success: true, data: {city: 'X'.repeat(2_000)}});
  const sent = 'headers' in extra ? gzipSync(body) : body;
  const server = await serve({script: () => reply.text(sent, 200, 'application/json', extra)});
  const kindAt = async (maxBodyBytes: number) => (await ask(client(server.url, {maxBodyBytes}))).kind;
  const kinds = await Promise.all([0, -1].map(more => kindAt(body.length + more)));
  expect(kinds).toEqual(['answered', 'unreadable']);
});

test('headers about pace are handed on as they came', async () => {
  const given = {RateLimit: '"a";r=1;t=2', 'X-RateLimit-Reset': '-1', 'X-Rate-Limit-Reset': '7'};
  const headers = {'Retry-After': 'soon', ...given, 'X-Other': '1'};
  const server = await serve({script: () => reply.ok({headers})});
  const limits = {ratelimit: '"a";r=1;t=2', 'x-ratelimit-reset': '-1', 'x-rate-limit-reset': '7'};
  const pace = {retryAfter: 'soon', date: expect.any(String), limits};
  expect(await ask(client(server.url))).toMatchObject({pace});
});

test.each([
  [{'X-Request-Id': 'a-1'}, 'a-1'],
  [{'Request-Id': 'b-2'}, 'b-2'],
  [{'X-Request-Id': 'a-1', 'Request-Id': 'b-2'}, 'a-1'],
  [{'X-Request-Id': 'not one'}, undefined],
  [{}, undefined],
])('the identifier of a request is handed on: %j', async (headers, requestId) => {
  const server = await serve({script: () => reply.ok({headers})});
  const attempt = await ask(client(server.url));
  expect('pace' in attempt && attempt.pace?.requestId).toBe(requestId);
});

test('the key is in no result, whatever happens', async () => {
  const script = [reply.drop(), reply.redirect('http://127.0.0.1:1/'), reply.html(), reply.unauthorized()];
  const server = await serve({script: ({call}) => script[call - 1]});
  const asked = client(server.url);
  const whole = (result: unknown) => inspect(result, {depth: 9, showHidden: true});
  for (const _ of script) expect(whole(await ask(asked))).not.toContain(key);
  await expect(asked.ip('192.0.2.1').catch(whole)).resolves.not.toContain(key);
  expect(server.ledger.keyElsewhere).toEqual([]);
});

test.each([
  'ftp://127.0.0.1',
  'http://api.example.com',
  'http://localhost.example.com',
  'http://127.0.0.1.example.com',
  'https://api.example.com/?a=1',
  'https://api.example.com/#a',
  'api.example.com',
])('the base URL %s is refused', baseUrl => {
  expect(() => client(baseUrl)).toThrow(/base URL/);
});

/** A server that is not suspended with this thread; it answers after 300 ms, and tells when it is asked. */
async function elsewhere() {
  const program = `
    const {parentPort} = require('node:worker_threads');
    const server = require('node:http').createServer((req, res) => {
      parentPort.postMessage('asked');
      setTimeout(() => res.setHeader('content-type', 'application/json').end('{"success":true,"data":{"city":"X"}}'), 300);
    }).listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`;
  const thread = new Worker(program, {eval: true});
  const [port] = await once(thread, 'message');
  return {url: `http://127.0.0.1:${port}`, thread, heard: once(thread, 'message')};
}

test('an answer that came while the process was suspended is read, though its time is over by then', async () => {
  const {url, thread, heard} = await elsewhere();
  onTestFinished(async () => void (await thread.terminate()));
  const asked = ask(client(url, {timeoutMs: 1_000}));
  await heard;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);
  expect((await asked).kind).toBe('answered');
});

test.each([0, -1, Number.NaN, 2 ** 31])('a timeout of %s ms is refused', timeoutMs => {
  expect(() => client('https://api.example.com', {timeoutMs})).toThrow(/timeoutMs/);
});

async function listening(server: ReturnType<typeof createServer> | Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>(resolve => server.close(() => resolve())));
  return (server.address() as AddressInfo).port;
}

/** An HTTP proxy that knows CONNECT. */
async function startTunnel() {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createHttpServer().on('connect', (request, socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    const [, port] = (request.url ?? '').split(':');
    const upstream = connect(Number(port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    for (const each of [socket, upstream]) each.on('error', () => {});
    upstream.on('close', () => socket.destroy());
    socket.on('close', () => upstream.destroy());
  });
  const port = await listening(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return {url: `http://127.0.0.1:${port}`, count: () => connections};
}
