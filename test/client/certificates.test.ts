import {createServer} from 'node:tls';
import {afterEach, beforeEach, expect, test, vi} from 'vitest';
import {pingHealthCheck, probeService} from '../../src/client/reachability.ts';
import {connectRedis, loadPackages} from '../../src/fleet/redis.ts';
import {type ApiServer, startApiServer} from '../support/api-server.ts';
import {makeCertificate} from '../support/cert.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {client, key} from './clients.ts';

let server: ApiServer;
beforeEach(async () => {
  server = await startApiServer({key, tls: true});
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server.close();
});

const UNTRUSTED = 'DEPTH_ZERO_SELF_SIGNED_CERT';

test('a call checks the certificate, whatever the environment says', async () => {
  const attempt = await client(server.url).send('ip', {ip: '192.0.2.1'});
  expect(attempt).toMatchObject({kind: 'fatal', reason: 'certificate', code: UNTRUSTED});
  expect(server.ledger.requests).toBe(0);
});

test('notices and doctor check the certificate, whatever the environment says', async () => {
  expect(await pingHealthCheck(new URL(server.url))).toBe(UNTRUSTED);
  expect((await probeService(new URL(server.url), 5_000)).answer).toEqual({
    failure: {kind: 'fatal', reason: 'certificate', code: UNTRUSTED, latencyMs: 0},
  });
  expect(server.ledger.requests).toBe(0);
});

test('a connection to a fleet’s Redis checks the certificate, whatever the environment says', async () => {
  const redis = createServer(makeCertificate(), socket => socket.destroy());
  await new Promise<void>(resolve => redis.listen(0, '127.0.0.1', resolve));
  const {port} = redis.address() as {port: number};
  const connected = connectRedis(`rediss://127.0.0.1:${port}`, await loadPackages());
  await expect(connected).rejects.toMatchObject({code: 'redis_certificate', exitCode: 2});
  redis.close();
});

test('commands say that the variable is ignored, once', async () => {
  using sandbox = createSandbox();
  sandbox.write('list.csv', 'ip\n192.0.2.1\n');
  const env = {BULK_ENRICH_BASE_URL: server.url, BULK_ENRICH_API_KEY: key, NODE_TLS_REJECT_UNAUTHORIZED: '0'};
  const commands = [['run', 'list.csv', '-o', 'out.csv'], ['doctor'], ['lookup', 'ip', '192.0.2.1']];
  for (const args of commands) {
    const {code, stderr} = await runHere(sandbox, args, {env});
    expect([args[0], code]).toEqual([args[0], 2]);
    expect(stderr.match(/NODE_TLS_REJECT_UNAUTHORIZED is ignored/g)).toHaveLength(1);
    expect(stderr).toContain('NODE_EXTRA_CA_CERTS');
  }
  expect(server.ledger.requests).toBe(0);
});
