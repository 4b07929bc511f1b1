import {createServer} from 'node:https';
import type {AddressInfo} from 'node:net';
import {setTimeout as delay} from 'node:timers/promises';
import {afterEach, beforeAll, expect, test, vi} from 'vitest';
import type {CallOptions} from '../../src/client/http/transport.ts';
import {type ApiServer, startApiServer} from '../support/api-server.ts';
import {type CertificateOptions, makeCertificate} from '../support/cert.ts';
import {createSandbox, type Sandbox} from '../support/command.ts';
import {freePort} from '../support/free-port.ts';
import {runHere} from '../support/main.ts';
import {startRawServer} from '../support/raw-server.ts';
import {client, key} from './clients.ts';

let sandbox: Sandbox;
let plain: ApiServer;
beforeAll(async () => {
  sandbox = createSandbox();
  sandbox.write('list.csv', 'ip\n192.0.2.1\n192.0.2.2\n');
  plain = await startApiServer({key});
  return async () => {
    await plain.close();
    sandbox[Symbol.dispose]();
  };
});
afterEach(() => vi.unstubAllEnvs());

/** What a run and doctor say of the same service, without line breaks; both end alike. */
async function contact(url: string, more: Record<string, string> = {}, isProcess = false) {
  const env = {BULK_ENRICH_BASE_URL: url, BULK_ENRICH_API_KEY: key, ...more};
  const start = (args: string[]) => (isProcess ? sandbox.run(args, {env}) : runHere(sandbox, args, {env}));
  const flags = '--force --restart --max-outage 1s --no-store'.split(' ');
  const run = await start(['run', 'list.csv', '-o', 'out.csv', ...flags]);
  const doctor = await start(['doctor', '--json']);
  const {checks} = JSON.parse(doctor.stdout) as {checks: {name: string; state: string; detail: string}[]};
  const failed = checks.filter(({state}) => state === 'failed');
  return {
    codes: [run.code, doctor.code],
    said: run.stderr.replaceAll('\n', ' '),
    failed: failed.map(({name}) => name),
    detail: failed.map(({detail}) => detail).join(),
    summary: sandbox.summary('out.summary.json'),
  };
}

async function serveTls(options: CertificateOptions, port = 0) {
  const pair = makeCertificate(options);
  const server = createServer(pair, (_, response) => response.end('{}'));
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: sandbox.write('ca.pem', pair.cert),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

const year = (offset: number) => String(new Date().getUTCFullYear() + offset);

test.each<[string, CertificateOptions, string[]]>([
  ['not yet valid', {years: [1, 2]}, ["this machine's clock says", year(0), 'valid from', year(1)]],
  ['expired', {years: [-3, -1]}, ['expired', year(-1), "this machine's clock says", year(0)]],
  ['for another name', {hosts: ['api.example.org']}, ['for another name', 'BULK_ENRICH_BASE_URL']],
])('a certificate that is %s: run and doctor name the cause, and no authority', async (_, options, words) => {
  await using server = await serveTls(options);
  const {codes, said, failed, detail} = await contact(server.url, {NODE_EXTRA_CA_CERTS: server.ca}, true);
  expect([codes, failed]).toEqual([[2, 2], ['tls']]);
  for (const text of [said, detail]) {
    expect(text.match(new RegExp(words.join('.*'), 'i'))?.[0], text).toBeDefined();
    expect(text).not.toMatch(/NODE_EXTRA_CA_CERTS|authority/);
  }
});

test("a proxy that can't be reached, or that can't be trusted, is named, and no service", async () => {
  const gone = `http://127.0.0.1:${await freePort()}`;
  const {codes, said, failed, detail} = await contact('https://api.invalid', {HTTPS_PROXY: gone});
  expect([codes, failed]).toEqual([[5, 5], ['connection']]);
  expect(said).toMatch(/The proxy \(HTTPS_PROXY\) can't be used \(proxy_econnrefused\)/);
  expect(said).toMatch(/Stopped: The proxy \(HTTPS_PROXY\) could not be used since/);
  expect(detail).toMatch(/^the proxy can't be reached.*econnrefused.*HTTPS_PROXY/);
  await using server = await serveTls({});
  const untrusted = await contact('https://api.invalid', {HTTPS_PROXY: server.url});
  expect([untrusted.codes, untrusted.failed]).toEqual([[2, 2], ['connection']]);
  for (const text of [untrusted.said, untrusted.detail])
    expect(text).toMatch(/the proxy's certificate.*HTTPS_PROXY/i);
});

test('TLS with a port that has none, and the reverse: exit 2 before the first answer, without charge', async () => {
  const noTls = await contact(plain.url.replace('http:', 'https:'));
  expect([noTls.codes, noTls.failed, noTls.summary.reason]).toEqual([[2, 2], ['tls'], 'wrong_protocol']);
  for (const text of [noTls.said, noTls.detail])
    expect(text).toMatch(/does not speak TLS.*BULK_ENRICH_BASE_URL/);
  await using server = await serveTls({});
  await using nginx = await startApiServer({key, tls: true});
  for (const {url} of [server, nginx]) {
    const {codes, failed, said, detail, summary} = await contact(url.replace('https:', 'http:'));
    expect([codes, failed, summary.reason]).toEqual([[2, 2], ['tls'], 'wrong_protocol']);
    for (const text of [said, detail]) expect(text).toMatch(/speaks TLS.*https:\/\//);
    expect(summary.credits).toMatchObject({spent: 0, maybe_spent: 0});
  }
});

test('after the first answer, a port that speaks TLS is a service that is away', async () => {
  const api = await startApiServer({key});
  const asked = client(api.url);
  expect((await asked.send('ip', {ip: '192.0.2.1'})).kind).toBe('answered');
  await api.close();
  await using _ = await serveTls({}, Number(new URL(api.url).port));
  expect(['ambiguous', 'not_sent']).toContain((await asked.send('ip', {ip: '192.0.2.2'})).kind);
});

test.each<[string, () => CallOptions]>([
  ['time', () => ({timeoutMs: 100})],
  ['signal', () => ({signal: AbortSignal.timeout(100)})],
])('looking for TLS behind a broken call ends with its %s', async (_, limits) => {
  await using server = await startRawServer(socket => socket.resetAndDestroy());
  const attempt = client(server.url).send('ip', {ip: '192.0.2.1'}, limits());
  expect(await Promise.race([attempt, delay(1_500)])).toMatchObject({kind: 'ambiguous', code: 'econnreset'});
});

test('407 over plain HTTP is of a proxy in between, and no value fails for it', async () => {
  const answer = 'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n';
  await using proxy = await startRawServer(socket => socket.end(answer));
  const {codes, said, failed, summary} = await contact(proxy.url);
  expect([codes, failed, summary.reason]).toEqual([[2, 2], ['connection'], 'proxy']);
  expect(said).toMatch(/refuses the credentials, or needs some \(407\)/);
  expect(summary.credits).toMatchObject({spent: 0, maybe_spent: 0});
});
