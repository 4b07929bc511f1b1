import {readFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {makeCertificate} from '../support/cert.ts';
import {booksOf, listOf} from '../support/crash.ts';
import {lacks} from '../support/real-parts.ts';
import {startRedis} from '../support/redis.ts';
import {openFleetArena} from './fleet-arena.ts';

const PASSWORD = 'password-of-the-fleet';

/** The lines of docs/fleet.md that make a Redis user who may do what a fleet needs and nothing else, and no other. */
function documentedUsers(): string {
  const page = readFileSync(new URL('../../docs/fleet.md', import.meta.url), 'utf8');
  const [lines = ''] = /^user bulk-enrich .+\nuser default .+\n/m.exec(page) ?? [];
  return lines.replace('PASSWORD', PASSWORD);
}

function documentedUser(): string[] {
  const [, rules = ''] = /^user bulk-enrich (.+)$/m.exec(documentedUsers()) ?? [];
  return rules.split(' ');
}

test('the Compose file and the manifest create this user, and admit no other', () => {
  for (const name of ['compose.tls.yaml', 'kubernetes.yaml']) {
    const text = readFileSync(new URL(`../../jobs/fleet/${name}`, import.meta.url), 'utf8');
    const user = documentedUser().join(' ').replace(PASSWORD, 'PASSWORD');
    expect(text, name).toContain(`user bulk-enrich ${user}\n`);
    for (const line of ['user default off ~* &* +@all', 'tls-auth-clients', 'NODE_EXTRA_CA_CERTS'])
      expect(text, name).toContain(line);
  }
});

test.skipIf(lacks('redis'))(
  'a fleet works by TLS and as a Redis user that has only its own keys',
  async () => {
    const tls = makeCertificate();
    await using arena = await openFleetArena({latencyMs: 20, redis: {tls}});
    const {sandbox, redis, api} = arena;
    const {client, port} = redis;
    await client.call('ACL', 'SETUSER', 'bulk-enrich', ...documentedUser());
    const key = sandbox.write('../key', arena.env.BULK_ENRICH_API_KEY ?? '');
    const {BULK_ENRICH_API_KEY: _, ...env} = arena.env;
    const confined = {
      ...env,
      BULK_ENRICH_API_KEY: undefined,
      BULK_ENRICH_REDIS_URL: `rediss://bulk-enrich:${PASSWORD}@localhost:${port}`,
      BULK_ENRICH_API_KEY_COMMAND: `cat '${key}'`,
      NODE_EXTRA_CA_CERTS: sandbox.write('../ca.pem', tls.cert),
    };
    sandbox.write('list.csv', listOf(120, 120));
    await arena.worker(['--concurrency', '4'], confined);
    const {code, stderr} = await arena.run([], confined).outcome;
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    expect(booksOf(sandbox, 'out.summary.json')).toEqual({spent: api.ledger.credits, maybe: 0});
    expect(await client.call('ACL', 'LOG')).toEqual([]);

    const own = client.duplicate({username: 'bulk-enrich', password: PASSWORD});
    for (const command of ['SET else 1', 'GET else', 'FLUSHALL', 'KEYS *', 'CONFIG GET *'])
      await expect(own.call(...(command.split(' ') as [string]))).rejects.toThrow(/^NOPERM/);
    own.disconnect();
  },
);

test.skipIf(lacks('redis'))('a Redis with these users has all that it kept after a restart', async () => {
  const users = {lines: documentedUsers(), username: 'bulk-enrich', password: PASSWORD};
  await using redis = await startRedis({persistent: true, users});
  const {client} = redis;
  await client.multi().set('bulk-enrich:a', 'kept').hset('bulk-enrich:b', 'field', 'kept').exec();
  await redis.stop();
  await redis.start();
  const left = [await client.get('bulk-enrich:a'), await client.hget('bulk-enrich:b', 'field')];
  expect(left).toEqual(['kept', 'kept']);
  const other = client.duplicate({username: 'default', password: '', retryStrategy: () => null});
  other.on('error', () => {});
  await expect(other.ping()).rejects.toThrow();
  other.disconnect();
});
