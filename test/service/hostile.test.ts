import {once} from 'node:events';
import {connect} from 'node:net';
import {setTimeout as sleep} from 'node:timers/promises';
import fc from 'fast-check';
import {beforeAll, describe, expect, it} from 'vitest';
import {type Service, startService} from '../../src/service/start.ts';
import {askRaw} from '../contract/target.ts';
import {samples} from '../support/samples.ts';
import {askService, fetchIp, running} from './running.ts';

const paths = ['/intelligence/ip', '/intelligence/phone', '/intelligence/email', '/verify', '/_sessions'];

/** As a client of the interface that knows the key. */
const targetOf = ({url, apiKey}: Service) => ({baseUrl: url, apiKey, actionId: 'a'});

const isWell = async (service: Service): Promise<void> => {
  const {status, json} = await askService(service, '/intelligence/ip', {ip: '8.8.8.8'});
  expect({status, asn: json.data.asn_number}).toEqual({status: 200, asn: 15169});
};

const connectTo = ({url}: Pick<Service, 'url'>) => {
  const {hostname, port} = new URL(url);
  return connect(Number(port), hostname);
};

/** So many clients at once. */
const crowd = <T>(count: number, client: (index: number) => Promise<T>) =>
  Promise.all(Array.from({length: count}, (_, index) => client(index)));

/** Matches no text. */
const NEVER = /(?!)/;

/** Sends bytes as they are, and resolves to what came back until the connection ended, or until it matches. */
function sendRaw(
  {url}: Service,
  bytes: string | Buffer,
  {wanted = NEVER, waitMs}: {wanted?: RegExp; waitMs?: number} = {},
): Promise<string> {
  return new Promise(resolve => {
    let received = '';
    const socket = connectTo({url}).once('connect', () => socket.write(bytes));
    socket.on('data', data => {
      received += data;
      if (wanted.test(received)) socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(received));
    if (waitMs !== undefined) socket.setTimeout(waitMs, () => socket.destroy());
  });
}

const unforeseen = (service: Service): number =>
  Object.values(service.ledger().operations).reduce(
    (sum, {rejected}) => sum + (rejected['internal_error'] ?? 0),
    0,
  );

describe('hostile bodies', () => {
  it('of random JSON never make an internal error', async () => {
    const service = await running({sessionsFile: 'samples/sessions.ndjson'});
    const text = fc.string({unit: 'binary', maxLength: 300});
    const field = fc.oneof(text, fc.jsonValue(), fc.emailAddress(), fc.ipV4());
    const names = ['ip', 'phone', 'email', 'phone_number', 'id', 'sessions', '__proto__'];
    const token = fc.oneof(field, fc.constant('sample-person-1'));
    const action_id = fc.oneof(field, fc.constant('t/FFFFFFFFFFFFF/111111111'));
    const others = Object.fromEntries(names.map(name => [name, field]));
    const body = fc.record({...others, token, action_id}, {requiredKeys: []});
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), body, async (path, fields) => {
        const sent = JSON.stringify({...fields, api_key: service.apiKey});
        const reply = await askRaw(targetOf(service), path, sent);
        expect([200, 400]).toContain(reply.status);
        expect(reply.json.success).toBe(reply.status === 200);
      }),
      {numRuns: samples(300), seed: 5},
    );
    expect(unforeseen(service)).toBe(0);
    await isWell(service);
  });

  it('of random strings in the one field never make an internal error', async () => {
    const service = await running();
    const value = fc.oneof(
      fc.string({unit: 'binary', maxLength: 2000}),
      fc.stringMatching(/^\+?[0-9 ()x;=ext.-]{0,40}$/),
      fc.stringMatching(/^[a-z"+.-]{0,10}@[a-z0-9.\u00fc\u3002-]{0,30}$/),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('phone', 'email'), value, async (field, text) => {
        const {status, json} = await askService(service, `/intelligence/${field}`, {[field]: text});
        expect(status).toBe(text === '' ? 400 : 200);
        if (status === 200) expect(json.data.is_valid).toBeTypeOf('boolean');
      }),
      {numRuns: samples(400), seed: 6},
    );
    expect(unforeseen(service)).toBe(0);
  });

  it('too large are refused, declared or not, and so is a lie about the length', async () => {
    const service = await running();
    for (const path of paths) {
      const bytes = path === '/_sessions' ? 9_000_000 : 70_000;
      const {status, json} = await askRaw(targetOf(service), path, `"${'x'.repeat(bytes)}"`);
      expect([path, status, json.message]).toEqual([path, 413, 'body_too_large']);
    }
    let sent = 0;
    const chunked = await fetch(`${service.url}/verify`, {
      method: 'POST',
      headers: {'Content-Type': 'application/json'},
      body: new ReadableStream({
        async pull(controller) {
          controller.enqueue(new Uint8Array(20_000).fill(32));
          await sleep(1);
          if (++sent > 10) controller.close();
        },
      }),
      duplex: 'half',
    });
    expect(chunked.status).toBe(413);
    const head = 'POST /verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    const tooLong = `${head}Content-Length: 99999999999\r\n\r\n{`;
    expect(await sendRaw(service, tooLong, {wanted: /413/})).toContain('413');
    await isWell(service);
  });

  it.each([5000, 50_000])('of arrays %i deep are malformed or not objects, no more', async depth => {
    const service = await running();
    const nested = '['.repeat(depth / 2) + ']'.repeat(depth / 2);
    expect((await askRaw(targetOf(service), '/verify', nested)).json.message).toBe('malformed_body');
    const body = `{"api_key":"${service.apiKey}","ip":${nested}}`;
    expect((await askRaw(targetOf(service), '/intelligence/ip', body)).json.message).toBe('invalid_field');
  });

  it('of long patterned values take no time worth the name', async () => {
    const service = await running();
    const start = process.cpuUsage();
    for (const [field, text] of [
      ['email', `${'a.'.repeat(30_000)}@b.org`],
      ['email', `a@${'b.'.repeat(30_000)}org`],
      ['email', `a@${'-'.repeat(60_000)}`],
      ['email', `"${'\\"'.repeat(8000)}@b.org`],
      ['email', '@'.repeat(60_000)],
      ['phone', `+${'1'.repeat(60_000)}`],
      ['phone', `+1${' ('.repeat(30_000)}`],
      ['phone', `+1;ext=${'9'.repeat(60_000)}`],
    ] as const) {
      const {json} = await askService(service, `/intelligence/${field}`, {[field]: text});
      expect(json.data.is_valid).toBe(false);
    }
    const {user, system} = process.cpuUsage(start);
    expect(user + system).toBeLessThan(3_000_000);
  });
});

describe('hostile connections', () => {
  let shared: Service;
  beforeAll(async () => {
    shared = await startService({apiKey: 'test-key'});
    return () => shared.close();
  });

  /** A request's head in lines, and what follows it. */
  const http = (line: string, headers: readonly string[], body = '') =>
    `${[`${line} HTTP/1.1`, ...headers].join('\r\n')}\r\n\r\n${body}`;
  const CLOSED = ['Host: x', 'Connection: close'] as const;
  const UPGRADE = ['Host: x', 'Connection: Upgrade', 'Upgrade: websocket'];
  const CHUNKED = ['Host: x', 'Content-Type: application/json', 'Transfer-Encoding: chunked'];
  const LONG = [...CHUNKED.slice(0, 2), 'Content-Length: 50'];
  const SMUGGLED = ['Host: x', 'Content-Length: 5', 'Transfer-Encoding: chunked'];
  const MALFORMED = /400.*"malformed_request"/s;

  it.each<[string, string, RegExp]>([
    ['no HTTP', 'hello\r\n\r\n', MALFORMED],
    ['binary', '\u0016\u0003\u0001\u0002\u0000\u0001', MALFORMED],
    ['no host', http('GET /_ledger', []), MALFORMED],
    ['a strange host', http('GET /_ledger', ['Host: a b/c?d', 'Connection: close']), MALFORMED],
    ['a strange path', http('GET //\\..\\%00%zz', CLOSED), /40[04]/],
    ['an absolute path', http('GET http://localhost/_ledger', ['Host: localhost', CLOSED[1]]), /200/],
    ['another host', http('GET /_ledger', CLOSED), /421.*"wrong_host"/s],
    ['TRACE', http('TRACE /', CLOSED), /40[045].*success":false/s],
    ['OPTIONS *', http('OPTIONS *', CLOSED), /40[04].*success":false/s],
    ['large headers', http('GET /', ['Host: x', `X: ${'x'.repeat(30_000)}`]), /431.*"headers_too_large"/s],
    ['smuggling', http('POST /verify', SMUGGLED, '0\r\n\r\n'), MALFORMED],
    ['a broken chunk', http('POST /verify', CHUNKED, 'zz\r\n'), /400/],
    ['an upgrade', http('GET /_ledger', UPGRADE), /1\.1 [24]/],
  ])('%s', async (_, bytes, answer) => {
    expect(await sendRaw(shared, bytes, {wanted: answer})).toMatch(answer);
    await isWell(shared);
  });

  it('of random bytes never take it down', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({minLength: 1, maxLength: 400}), async bytes => {
        const parts = [Buffer.from('POST /verify HTTP/1.1\r\n'), bytes, Buffer.from('\r\n\r\n')];
        await sendRaw(shared, Buffer.concat(parts), {waitMs: 50});
      }),
      {numRuns: samples(60), seed: 7},
    );
    await isWell(shared);
  });

  it('that end in the middle of a body cost nothing', async () => {
    const service = await running();
    const begun = http('POST /intelligence/ip', LONG, '{"api_key":');
    await crowd(50, async () => {
      const socket = connectTo(service);
      socket.write(begun, () => socket.destroy());
      await once(socket, 'close');
    });
    await isWell(service);
    expect(service.ledger().spent).toBe(1);
  });

  it('that ask for much and read nothing are ended', async () => {
    const service = await running();
    const pages = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';
    await crowd(4, async () => {
      const socket = connectTo(service).pause();
      socket.on('error', () => {}).write(pages.repeat(2_000));
      // A client that does not read learns of the end when it sends more.
      while (!socket.closed) {
        await sleep(20);
        socket.write('G');
      }
    });
    await isWell(service);
  });

  it('that go away while they wait for their answer leave it serving', async () => {
    const service = await running({latencyMs: 200});
    const asking = crowd(50, () => fetchIp(service, {signal: AbortSignal.timeout(60)}).catch(() => 'gone'));
    expect(new Set(await asking)).toEqual(new Set(['gone']));
    await isWell(service);
    expect(unforeseen(service)).toBe(0);
  });

  it('that send too slowly are answered 408 and closed, while others are served', async () => {
    const service = await running({requestTimeoutMs: 400});
    const slow = sendRaw(service, 'POST /intelligence/ip HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n');
    const slowBody = sendRaw(service, http('POST /intelligence/ip', LONG, '{'));
    await isWell(service);
    expect(await slow).toMatch(/408.*"request_timeout"/s);
    expect(await slowBody).toMatch(/408/);
  });

  it('hundreds at once, idle or halfway, leave it serving; and hundreds of calls at once are all answered', async () => {
    const service = await running();
    const sockets = await crowd(200, async index => {
      const socket = connectTo(service);
      await once(socket, 'connect');
      if (index % 2 === 0) socket.write('POST /verify HTTP/1.1\r\nHost: x\r\nContent-Le');
      return socket;
    });
    await isWell(service);
    for (const socket of sockets) socket.destroy();
    const replies = await crowd(200, () => askService(service, '/intelligence/email', {email: 'a@iana.org'}));
    expect(replies.filter(({status}) => status === 200)).toHaveLength(200);
    expect(service.ledger().operations.email.calls).toBe(200);
  });
});

describe('the log', () => {
  it('hears of no key and no value', async () => {
    const heard: unknown[] = [];
    const service = await running({apiKey: 'canary-key', log: (...all) => heard.push(all)});
    for (const path of paths)
      await askService(service, path, {ip: 'canary', email: 'canary@canary', phone: 'canary'});
    await askService(service, '/intelligence/ip', {api_key: 'canary-2', ip: '8.8.8.8'});
    expect(JSON.stringify(heard)).not.toContain('canary');
  });
});
