import {X509Certificate} from 'node:crypto';
import {Agent, type IncomingHttpHeaders, request} from 'node:http';
import {request as httpsRequest} from 'node:https';
import {gunzipSync} from 'node:zlib';
import {afterEach, describe, expect, test} from 'vitest';
import {operations} from '../../src/operations/table.ts';
import {type ApiServer, type ApiServerOptions, startApiServer} from './api-server.ts';
import {answer} from './api-server-core.mjs';
import {type Reply, reply} from './api-server-reply.ts';
import {makeCertificate} from './cert.ts';

interface Seen {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  bytes: Buffer;
  error: string | undefined;
}

const key = 'test-key-1';
const open: ApiServer[] = [];

async function start(options: Partial<ApiServerOptions> = {}): Promise<ApiServer> {
  const server = await startApiServer({key, ...options});
  open.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map(server => server.close()));
});

const ip = (value: string) => ({api_key: key, ip: value});

describe('replies', () => {
  /** The answer as it comes over the wire, undecoded; `error` is the code of what broke it off. */
  async function exchange(scripted: Reply, agent = new Agent(), stopAfter = Number.POSITIVE_INFINITY) {
    const server = await start({script: () => scripted});
    return ask(server, agent, stopAfter);
  }

  function ask(server: ApiServer, agent: Agent, stopAfter = Number.POSITIVE_INFINITY): Promise<Seen> {
    return new Promise(resolve => {
      const parts: Buffer[] = [];
      let size = 0;
      const seen: Seen = {status: 0, headers: {}, text: '', bytes: Buffer.alloc(0), error: undefined};
      const done = (error?: NodeJS.ErrnoException) => {
        const bytes = Buffer.concat(parts);
        resolve({...seen, bytes, text: bytes.toString(), error: error && (error.code ?? error.message)});
      };
      const req = request(server.url + operations.ip.path, {
        method: 'POST',
        agent,
        headers: {'Content-Type': 'application/json'},
      });
      req.on('error', done);
      req.on('response', res => {
        seen.status = res.statusCode ?? 0;
        seen.headers = res.headers;
        res.on('data', (part: Buffer) => {
          parts.push(part);
          size += part.length;
          if (size > stopAfter) res.destroy(new Error('enough'));
        });
        res.on('end', () => done());
        res.on('error', done);
      });
      req.end(JSON.stringify(ip('203.0.113.7')));
    });
  }

  const own = JSON.stringify(answer('ip', {ip: '203.0.113.7'}));

  test('headers, Date included', async () => {
    const headers = {
      Date: 'Thu, 01 Jan 2026 00:00:00 GMT',
      RateLimit: '"default";r=0;t=9',
      'RateLimit-Policy': '"default";q=20;w=1',
      'X-RateLimit-Reset': '-5',
    };
    const seen = await exchange(reply.throttle(new Date(0), {headers}));
    expect(seen.status).toBe(429);
    expect(seen.headers).toMatchObject({
      date: headers.Date,
      ratelimit: headers.RateLimit,
      'ratelimit-policy': headers['RateLimit-Policy'],
      'x-ratelimit-reset': '-5',
      'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT',
    });
  });

  test.each([
    ['ok', reply.ok(), 200, own],
    ['html', reply.html(), 200, '<!doctype html><h1>Sorry</h1>'],
    ['empty', reply.empty(), 200, ''],
    ['list', reply.list(), 200, '[]'],
    ['error', reply.error(400, 'bad_ip'), 400, '{"success":false,"message":"bad_ip"}'],
    ['truncated', reply.truncated(20), 200, own.slice(0, 20)],
    ['drip', reply.drip(0), 200, own],
    ['delay', reply.ok({delayMs: 5}), 200, own],
    ['redirect', reply.redirect('http://127.0.0.1:1/', 308), 308, ''],
  ])('%s', async (_name, scripted, status, text) => {
    const seen = await exchange(scripted);
    expect([seen.status, seen.text, seen.error]).toEqual([status, text, undefined]);
  });

  test('wrong types differ from the contract in every field', async () => {
    const {data} = JSON.parse((await exchange(reply.wrongTypes())).text);
    const checked = operations.ip.data.safeParse(data);
    expect(new Set(checked.error?.issues.map(issue => issue.path[0]))).toEqual(new Set(Object.keys(data)));
  });

  test('wrong charset: not UTF-8, whatever the header says', async () => {
    const latin1 = await exchange(reply.wrongCharset());
    expect(latin1.headers['content-type']).toContain('utf-8');
    expect(() => new TextDecoder('utf-8', {fatal: true}).decode(latin1.bytes)).toThrow();
    expect((await exchange(reply.wrongCharset('utf16le'))).bytes.toString('utf16le')).toContain('Zürich');
  });

  test.each([
    ['cut', reply.cut(20, 'close'), 200, 20, 'ECONNRESET'],
    ['drop, closed', reply.drop('close'), 0, 0, 'ECONNRESET'],
    ['drop, reset', reply.drop('reset'), 0, 0, 'ECONNRESET'],
    ['no HTTP', reply.raw('SSH-2.0-x\r\n', {ending: 'close'}), 0, 0, 'HPE_INVALID_CONSTANT'],
  ])('%s', async (_name, scripted, status, bytes, error) => {
    const seen = await exchange(scripted);
    expect([seen.status, seen.bytes.length, seen.error]).toEqual([status, bytes, error]);
  });

  test('a flood comes whole to who takes it, and stops for who does not', async () => {
    const small = await exchange(reply.huge(3 * 2 ** 20, 'declared'));
    expect(small.bytes.length).toBe(Number(small.headers['content-length']));
    expect(JSON.parse(small.text).data.city).toHaveLength(3 * 2 ** 20);
    const server = await start({script: () => reply.huge()});
    expect((await ask(server, new Agent(), 2 ** 20)).error).toBe('enough');
    await expect.poll(() => server.ledger.inFlight).toBe(0);
    expect(server.ledger.poured).toBeLessThan(2 ** 26);
  });

  test('a gzip bomb is small on the wire and large when unpacked', async () => {
    const seen = await exchange(reply.gzipBomb(64 * 2 ** 20));
    expect(seen.headers['content-encoding']).toBe('gzip');
    expect(seen.bytes.length).toBeLessThan(2 ** 17);
    expect(JSON.parse(gunzipSync(seen.bytes).toString()).data.city).toHaveLength(64 * 2 ** 20);
  });

  test.each([reply.stall(), reply.drip(1, {endless: true})])(
    '$kind for ever, until closed',
    async scripted => {
      const server = await start({script: () => scripted});
      const asked = ask(server, new Agent());
      await expect.poll(() => server.ledger.calls).toBe(1);
      await server.close();
      expect((await asked).error).toBe('ECONNRESET');
    },
  );

  test('early faults: the request is never counted as a call', async () => {
    for (const when of ['head', 'body'] as const) {
      const server = await start({early: () => ({when, ending: 'reset'})});
      expect((await ask(server, new Agent())).error).toBe('ECONNRESET');
      expect(server.ledger).toMatchObject({requests: 1, unread: 1, calls: 0, credits: 0});
    }
  });

  test('an early fault strikes at the head, or waits for the body', async () => {
    for (const [when, unread] of [
      ['head', 1],
      ['body', 0],
    ] as const) {
      const server = await start({early: () => ({when, ending: 'close'})});
      const req = request(server.url + operations.ip.path, {method: 'POST', headers: {'Content-Length': 10}});
      const broken = new Promise(resolve => req.once('error', resolve));
      req.flushHeaders();
      await expect.poll(() => server.ledger.requests).toBe(1);
      expect(server.ledger.unread).toBe(unread);
      req.write('12345');
      await broken;
      await expect.poll(() => server.ledger.unread).toBe(1);
    }
  });

  test('a request that the client breaks off is not a call', async () => {
    const server = await start();
    const req = request(server.url + operations.ip.path, {method: 'POST', headers: {'Content-Length': 10}});
    req.on('error', () => {});
    req.write('12345');
    await expect.poll(() => server.ledger.requests).toBe(1);
    req.destroy();
    await expect.poll(() => server.ledger.unread).toBe(1);
    expect(server.ledger).toMatchObject({calls: 0, charged: 0, inFlight: 0});
  });

  test('connections that the server closes after it promised to keep them', async () => {
    const agent = new Agent({keepAlive: true, maxSockets: 1});
    const kept = await start();
    for (let i = 0; i < 3; i++) expect((await ask(kept, agent)).status).toBe(200);
    expect(kept.ledger.connections).toBe(1);
    const closing = await start({script: () => reply.ok({after: 'close'})});
    const first = await ask(closing, agent);
    expect(first.headers.connection).toBe('keep-alive');
    await expect
      .poll(() => Object.keys(agent.freeSockets).some(name => name.includes(`:${closing.port}:`)))
      .toBe(false);
    const stale = await start({
      early: head => (head.onConnection > 1 ? {when: 'head', ending: 'reset'} : undefined),
    });
    expect((await ask(stale, agent)).status).toBe(200);
    expect((await ask(stale, agent)).error).toBe('ECONNRESET');
    agent.destroy();
  });
});

describe('TLS', () => {
  function get(server: ApiServer, ca: string | undefined): Promise<number | string> {
    return new Promise(resolve => {
      const req = httpsRequest(server.url + operations.ip.path, {method: 'POST', family: 4, ...(ca && {ca})});
      req.on('response', res => resolve(res.statusCode ?? 0));
      req.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      req.end(JSON.stringify(ip('203.0.113.7')));
    });
  }

  test('is refused by default, and taken by who trusts its certificate', async () => {
    const server = await start({tls: true});
    expect(await get(server, undefined)).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
    expect(await get(server, server.ca)).toBe(200);
    expect(server.ledger).toMatchObject({calls: 1, connections: 1});
  });

  test('certificates that are over, and for another host', async () => {
    const over = await start({
      tls: makeCertificate({notAfter: new Date('2020-01-01'), notBefore: new Date('2019-01-01')}),
    });
    expect(await get(over, over.ca)).toBe('CERT_HAS_EXPIRED');
    const other = await start({tls: makeCertificate({hosts: ['example.com']})});
    expect(await get(other, other.ca)).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    const far = makeCertificate({notAfter: new Date('2150-01-01')});
    expect(new X509Certificate(far.cert).validTo).toContain('2150');
  });
});
