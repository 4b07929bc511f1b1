import {createHash} from 'node:crypto';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {connect} from 'node:net';
import {hostname} from 'node:os';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {afterEach, beforeAll, describe, expect, test} from 'vitest';
import {z} from 'zod';
import {listEntries, listMembers} from '../../src/fleet/roster.ts';
import {booksOf, listOf} from '../support/crash.ts';
import {freePort} from '../support/free-port.ts';
import type {HereOutcome} from '../support/main.ts';
import {randomFaults} from '../support/random-faults.ts';
import {lacks} from '../support/real-parts.ts';
import {until} from '../support/until.ts';
import {type FleetArena, localOutput, openFleetArena, RUN} from './fleet-arena.ts';

const DAY_MS = 86_400_000;

describe.skipIf(lacks('redis'))('two workers on a real Redis', () => {
  let arena: FleetArena;
  beforeAll(async () => {
    arena = await openFleetArena({latencyMs: 5});
    arena.sandbox.write('list.csv', listOf(500, 150));
    await Promise.all([arena.workerHere(), arena.workerHere()]);
    return () => arena[Symbol.asyncDispose]();
  });
  afterEach(() => {
    arena.api.setLatency(5);
    arena.api.newLedger();
  });

  test('write the same output as a local run, and send each value once', async () => {
    const {code, stderr} = await arena.here([...RUN, '--quiet']);
    expect([code, stderr]).toEqual([0, '']);
    const {ledger} = arena.api;
    expect(ledger.repeated()).toEqual([]);
    expect(booksOf(arena.sandbox, 'out.summary.json')).toEqual({spent: ledger.calls, maybe: 0});
    expect(arena.sandbox.read('out.csv')).toBe(await localOutput(arena));
  });

  test('deal with faults of the service as a local run does', async () => {
    arena.api.setScript(randomFaults({share: 0.2, kinds: [500, 'reset', 'cut']}));
    const {code, stderr} = await arena.here([...RUN, '--force', '--resends', '4']);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    const {credits, byStatus} = arena.api.ledger;
    expect([...byStatus.keys()].sort()).toEqual([200, 500, 'drop']);
    const {spent, maybe} = booksOf(arena.sandbox, 'out.summary.json');
    expect([spent <= credits, credits <= spent + maybe]).toEqual([true, true]);
    arena.api.setScript(undefined);
    expect(arena.sandbox.read('out.csv')).toBe(await localOutput(arena));
  });

  test('keep to a credit limit together', async () => {
    const limited = await arena.here([...RUN, '--force', '--max-credits', '100']);
    expect(limited.code).toBe(7);
    expect(arena.api.ledger.credits).toBe(100);
  });

  test('leave nothing readable in Redis, the key never; and all of it expires', async () => {
    arena.api.setLatency(30);
    const seen: string[] = [];
    // A plain socket: ioredis's own monitor fails if a command comes before Redis has confirmed it.
    const monitor = connect(arena.redis.port, '127.0.0.1').setEncoding('utf8');
    monitor.on('data', (text: string) => seen.push(text));
    monitor.write('MONITOR\r\n');
    await once(monitor, 'data');
    const run = arena.run(['--force', '--restart']);
    await until(() => arena.api.ledger.calls >= 50);
    run.kill('SIGKILL');
    await run.outcome;
    await sleep(200);
    monitor.destroy();
    const all = seen.join('');
    expect(all).toContain('sealed');
    for (const secret of ['198.18.', '@example.com', arena.env.BULK_ENRICH_API_KEY ?? '', 'country'])
      expect(all.includes(secret), secret).toBe(false);
    const {client} = arena.redis;
    const keys = await client.keys('bulk-enrich:chunks:*.*');
    expect(keys.length).toBeGreaterThan(0);
    // A key without an end would be -1; one that is gone meanwhile, -2. A worker sets an end that the killed run did not.
    const endless = async () => {
      const all = [...keys, 'bulk-enrich:chunks:events'];
      const left = await Promise.all(all.map(async key => [key, await client.pttl(key)] as const));
      return left.filter(([, ttl]) => ttl === -1 || ttl > DAY_MS);
    };
    await expect.poll(endless, {timeout: 10_000, interval: 100}).toEqual([]);
  });
});

describe.skipIf(lacks('redis'))('a fleet on a real Redis', () => {
  test('fleet status says who is there; a worker tells Prometheus what it did', async () => {
    await using arena = await openFleetArena({latencyMs: 30});
    arena.sandbox.write('list.csv', listOf(400, 200));
    const empty = await arena.here(['fleet', 'status']);
    expect(empty).toMatchObject({code: 0, stdout: 'This Redis has neither a worker nor a run.\n'});
    const doctor = async () =>
      (await arena.here(['doctor'])).stdout.split('\n').find(line => line.startsWith('fleet'));
    expect(await doctor()).toMatch(/^fleet +WARNING .*no worker is running: bulk-enrich worker$/);
    const port = await freePort();
    const worker = await arena.worker(['--metrics-address', String(port)]);
    expect(await doctor()).toMatch(/^fleet +ok +1 worker on .*16 calls at once$/);
    const run = arena.run(['--rate', '200/s', '--max-credits', '5000']);
    const status = async () => JSON.parse((await arena.here(['fleet', 'status', '--json'])).stdout) as object;
    await expect.poll(status, {timeout: 60_000, interval: 200}).toMatchObject({
      protocol: `protocol 1 and the endpoint ${arena.api.url}`,
      workers: [{pid: worker.pid, concurrency: 16, calls: {answered: expect.any(Number)}}],
      runs: [{pid: run.pid, rate: 'all=200/1s', limit: 5_000, calls: expect.any(Number)}],
      closedMs: 0,
    });
    const schema = JSON.parse(readFileSync('docs/fleet-status.schema.json', 'utf8'));
    expect(z.fromJSONSchema(schema).safeParse(await status())).toMatchObject({success: true});
    const page = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
    const metrics = await page('/metrics');
    expect(metrics).toMatch(/^bulk_enrich_worker_calls_total\{outcome="answered"\} [1-9]\d*$/m);
    expect(metrics).toMatch(/^bulk_enrich_fleet_chunks_waiting\{\} \d+$/m);
    expect(await page('/readyz')).toBe('ok\n');
    expect(await run.outcome).toMatchObject({code: 0});
    // The only worker made all of its calls.
    const answered = `bulk_enrich_worker_calls_total{outcome="answered"} ${arena.api.ledger.calls}`;
    await expect.poll(() => page('/metrics'), {timeout: 20_000}).toContain(`${answered}\n`);
    // The rate at the sender is exact (test/sim); a busy machine bunches some calls on the way.
    expect(arena.api.ledger.maxPerSecond).toBeLessThanOrEqual(1.5 * 200);
    await arena.redis.stop();
    await expect.poll(() => page('/readyz'), {timeout: 20_000}).toBe('Redis is away.\n');
    expect(await page('/metrics')).toContain('bulk_enrich_worker_redis_up{} 0\n');
    await arena.redis.start();
    await expect.poll(() => page('/readyz'), {timeout: 20_000}).toBe('ok\n');
  });
});

describe.skipIf(lacks('redis'))('a fleet refuses', () => {
  const told = async (outcome: Promise<HereOutcome>) => {
    const {code, errorCode, message = ''} = await outcome;
    return [code, errorCode, message];
  };
  const saying = (code: number, name: string, part: string) => [code, name, expect.stringContaining(part)];
  const refused = (detail: string) => saying(2, 'fleet_refused', detail);

  test("a worker or a run with another endpoint, key or rate, or that counts an account's credits elsewhere", async () => {
    await using arena = await openFleetArena({latencyMs: 30});
    arena.sandbox.write('list.csv', listOf(600, 300));
    const {client, url} = arena.redis;
    const worker = (env: Readonly<Record<string, string>>) => told(arena.here(['worker'], env));
    await arena.workerHere();
    const other = await worker({BULK_ENRICH_BASE_URL: 'https://other.example'});
    expect(other).toEqual(refused('uses protocol 1 and the endpoint https://other.example.'));
    expect(await worker({BULK_ENRICH_API_KEY: 'another-key-0001'})).toEqual(refused('another API key'));
    const account = `endpoint: ${arena.api.url}\nrate: 100/s\nmax_credits_per_month: 5000\n`;
    arena.sandbox.write('../home/config/bulk-enrich/accounts/a.yaml', account);
    const run = arena.run();
    await until(() => arena.api.ledger.calls >= 20);
    // Two machines may have state directories of one path: the host is a part of the place.
    const place = `${hostname()} ${join(arena.sandbox.path('../home/state'), 'bulk-enrich')}`;
    const hash = createHash('sha256').update(place).digest('hex').slice(0, 16);
    const agreed = expect.objectContaining({credits: hash});
    expect(await listEntries(client)).toContainEqual(expect.objectContaining({agreed}));
    const elsewhere = {XDG_STATE_HOME: arena.sandbox.path('elsewhere')};
    const third = arena.here(['run', 'list.csv', '-o', 'third.csv', '--rate', '100/s'], elsewhere);
    expect(await told(third)).toEqual(refused('on another machine'));
    const fourth = arena.here(['run', 'list.csv', '-o', 'other.csv', '--rate', '50/s', '--fleet', url]);
    expect(await told(fourth)).toEqual(refused('all=100/1s'));
    run.kill('SIGTERM');
    await run.outcome;
    expect(await listMembers(client, 'run')).toEqual([]);
  });

  test('to begin with a wrong password, or on a Redis that takes no writes; a password in an argument is not taken', async () => {
    await using arena = await openFleetArena({redis: {password: 'right-password'}});
    arena.sandbox.write('list.csv', listOf(10, 5));
    const run = (url: string) => told(arena.here(RUN, {BULK_ENRICH_REDIS_URL: url}));
    const {port} = arena.redis;
    const wrong = await run(`redis://:wrong-password@127.0.0.1:${port}`);
    expect(wrong).toEqual(saying(2, 'redis_password', 'WRONGPASS'));
    const inArgument = await told(arena.here([...RUN, '--fleet', `redis://:secret@127.0.0.1:${port}`]));
    expect(inArgument).toEqual(saying(2, 'redis_password', 'BULK_ENRICH_REDIS_URL'));
    await arena.redis.client.config('SET', 'maxmemory', '1');
    for (const args of [RUN, ['worker']]) {
      const env = {BULK_ENRICH_REDIS_URL: `redis://:right-password@127.0.0.1:${port}`};
      expect(await told(arena.here(args, env))).toEqual(saying(5, 'fleet_unreachable', ' OOM '));
    }
    await arena.redis.client.config('SET', 'maxmemory', '0');
    await arena.workerHere(`redis://:right-password@127.0.0.1:${port}`);
    expect(await run(`redis://:right-password@127.0.0.1:${port}`)).toEqual([0, undefined, '']);
  });
});
