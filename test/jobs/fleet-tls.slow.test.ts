import {execFileSync, spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {Redis} from 'ioredis';
import {expect, test} from 'vitest';
import {parseDocument} from 'yaml';
import {freePort} from '../support/free-port.ts';
import {newDirectory} from '../support/new-directory.ts';
import {lacks} from '../support/real-parts.ts';

const isLacking = [lacks('redis'), lacks('openssl')].includes(true);
const read = (name: string) => readFileSync(new URL(`../../jobs/fleet/${name}`, import.meta.url), 'utf8');
const commentOf = (text: string) => text.replace(/^(?!#).*$/gm, '').replace(/^# {0,3}/gm, '');

const within = newDirectory();

/** The certificates that the Compose file says how to make. */
function makeCertificates(): void {
  const lines = commentOf(read('compose.tls.yaml'))
    .split('\n')
    .filter(line => /^(mkdir|openssl) /.test(line));
  expect(lines).toHaveLength(3);
  execFileSync('sh', ['-ec', lines.join('\n')], {cwd: within(), stdio: 'pipe'});
}

/** Names the files of a container as they lie here; `args` are those of redis-server in it. */
const here = (text: string, port: number) =>
  text
    .replaceAll('/etc/redis/', `${within()}/`)
    .replace(/\/tls\/(tls\.)?/g, (_, tls) => `${within()}/tls/${tls === undefined ? '' : 'server.'}`)
    .replaceAll('6379', String(port));

/**
 * Starts redis-server with these arguments. Expects that its user can do what a fleet needs, and no other user
 * anything.
 */
async function expectConfined(args: readonly string[], port: number): Promise<void> {
  const all = [...args, '--dir', within(), '--bind', '127.0.0.1'];
  const server = spawn('redis-server', all, {stdio: 'ignore'});
  const ended = once(server, 'exit');
  const connect = (credentials: object) => {
    const tls = {ca: readFileSync(within('tls/ca.crt')), servername: 'redis'};
    const retryStrategy = (times: number) => (times < 100 ? 50 : null);
    return new Redis(port, '127.0.0.1', {tls, retryStrategy, enableReadyCheck: false, ...credentials});
  };
  const own = connect({username: 'bulk-enrich', password: 'PASSWORD'});
  const nobody = connect({});
  for (const client of [own, nobody]) client.on('error', () => {});
  try {
    expect(await own.set('bulk-enrich:protocol', '1')).toBe('OK');
    await expect(own.set('else', '1')).rejects.toThrow(/^NOPERM/);
    await expect(nobody.get('bulk-enrich:protocol')).rejects.toThrow(/^NOAUTH/);
    const health = `redis-cli --tls --cacert ${within()}/tls/ca.crt --sni redis -p ${port} ping 2>&1 | grep -q NOAUTH`;
    expect(spawnSync('sh', ['-c', health]).status).toBe(0);
  } finally {
    for (const client of [own, nobody]) client.disconnect();
    server.kill('SIGKILL');
    await ended;
  }
}

test.skipIf(isLacking)('the Compose file’s Redis takes TLS and its own user alone', async () => {
  makeCertificates();
  const text = read('compose.tls.yaml');
  const document = parseDocument(text, {customTags: [{tag: '!override', collection: 'map'}]});
  expect(document.errors).toEqual([]);
  const {services} = document.toJS() as {services: {redis: {command: string[]}}};
  const [, users = ''] =
    /users\.acl +(user default off .*\n +user bulk-enrich .*)/.exec(commentOf(text)) ?? [];
  writeFileSync(within('users.acl'), `${users.replace(/^ +/gm, '')}\n`);
  const port = await freePort();
  const [name, ...args] = services.redis.command.map(word => here(word, port));
  expect(name).toBe('redis-server');
  await expectConfined(args, port);
});

test.skipIf(isLacking)('the Redis of the manifests takes TLS and its own user alone', async () => {
  makeCertificates();
  const [, config = ''] =
    /redis\.conf +(port 0\n(?: {10,}.*\n)+)/.exec(commentOf(read('kubernetes.yaml'))) ?? [];
  mkdirSync(within('secrets'));
  const port = await freePort();
  const path = within('secrets/redis.conf');
  writeFileSync(path, here(config.replace(/^ +/gm, ''), port));
  await expectConfined([path, '--save', '', '--appendonly', 'no'], port);
});
