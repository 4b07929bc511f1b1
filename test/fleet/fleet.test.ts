import {setTimeout as sleep} from 'node:timers/promises';
import {describe, expect, test} from 'vitest';
import {packageVersion} from '../../src/job/version.ts';
import {booksOf, listOf} from '../support/crash.ts';
import {redisInstalled} from '../support/redis.ts';
import {type FleetArena, localOutput, openFleetArena} from './fleet-arena.ts';

const DAY_S = 86_400;

describe.skipIf(!redisInstalled)('a fleet on a real Redis', () => {
  test('two workers write what a local run writes, and ask for each value once', async () => {
    await using arena = await openFleetArena({latency: 5});
    arena.sandbox.write('list.csv', listOf(2_000, 600));
    await Promise.all([arena.worker(), arena.worker()]);
    const {code, stderr} = await arena.run(['--quiet']).outcome;
    expect([code, stderr]).toEqual([0, '']);
    const books = await arena.api.ledger();
    expect([books.calls, books.distinct, books.repeated]).toEqual([books.distinct, books.distinct, 0]);
    expect(booksOf(arena.sandbox, 'out.summary.json')).toEqual({spent: books.distinct, maybe: 0});
    expect(arena.sandbox.read('out.csv')).toBe(await localOutput(arena));
  });

  test('faults of the service are dealt with as in a local run', async () => {
    await using arena = await openFleetArena({error: 0.2, faults: ['500', 'reset', 'cut']});
    arena.sandbox.write('list.csv', listOf(400, 150));
    await Promise.all([arena.worker(), arena.worker()]);
    const {code, stderr} = await arena.run(['--max-resends', '4']).outcome;
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    const {credits} = await arena.api.ledger();
    const {spent, maybe} = booksOf(arena.sandbox, 'out.summary.json');
    expect([spent <= credits, credits <= spent + maybe]).toEqual([true, true]);
    await arena.api.set({error: 0});
    expect(arena.sandbox.read('out.csv')).toBe(await localOutput(arena));
  });

  test('a credit limit holds for all workers together', async () => {
    await using arena = await openFleetArena({latency: 5});
    arena.sandbox.write('list.csv', listOf(400, 200));
    await Promise.all([arena.worker(), arena.worker()]);
    expect(await arena.run(['--max-credits', '100']).outcome).toMatchObject({code: 7});
    expect((await arena.api.ledger()).credits).toBe(100);
  });

  test('nothing readable is in Redis, the key never; and all of it expires', async () => {
    await using arena = await openFleetArena({latency: 30});
    arena.sandbox.write('list.csv', listOf(400, 200));
    const seen: string[] = [];
    const monitor = await arena.redis.client.monitor();
    monitor.on('monitor', (_, args: string[]) => seen.push(args.join(' ')));
    await arena.worker();
    const run = arena.run();
    while ((await arena.api.ledger()).calls < 50) await sleep(20);
    run.kill('SIGKILL');
    await run.outcome;
    await sleep(200);
    monitor.disconnect();
    const all = seen.join('\n');
    expect(all).toContain('sealed');
    for (const secret of ['198.18.', '@example.com', arena.env.BULK_ENRICH_API_KEY ?? '', 'country'])
      expect(all.includes(secret), secret).toBe(false);
    const keys = await arena.redis.client.keys('bulk-enrich:chunks:*.*');
    expect(keys.length).toBeGreaterThan(0);
    for (const key of [...keys, 'bulk-enrich:chunks:events']) {
      const ttl = await arena.redis.client.ttl(key);
      expect([key, ttl > 0 && ttl <= DAY_S]).toEqual([key, true]);
    }
  });

  test('fleet status says who is there; a worker tells Prometheus what it did', async () => {
    await using arena = await openFleetArena({latency: 30});
    arena.sandbox.write('list.csv', listOf(1_200, 500));
    const empty = await arena.sandbox.run(['fleet', 'status'], {env: arena.env});
    expect(empty).toMatchObject({code: 0, stdout: 'Nobody is on this Redis: neither a worker nor a run.\n'});
    const doctor = async () =>
      (await arena.sandbox.run(['doctor'], {env: arena.env})).stdout
        .split('\n')
        .find(line => line.startsWith('fleet'));
    expect(await doctor()).toMatch(/^fleet +WARNING .*no worker is there/);
    const port = 20_000 + (process.pid % 20_000);
    const worker = await arena.worker(['--metrics-address', String(port)]);
    expect(await doctor()).toMatch(/^fleet +ok +1 workers on .*16 calls at once$/);
    const run = arena.run(['--rate', '200/s', '--max-credits', '5000']);
    while ((await arena.api.ledger()).calls < 100) await sleep(20);
    await sleep(2_500);
    const status = await arena.sandbox.run(['fleet', 'status', '--json'], {env: arena.env});
    expect(JSON.parse(status.stdout)).toMatchObject({
      identity: `bulk-enrich ${packageVersion()} asking ${arena.api.url}`,
      workers: [{pid: worker.pid, concurrency: 16, calls: {answered: expect.any(Number)}}],
      runs: [{pid: run.pid, rate: 'all=200/1s', limit: 5_000, calls: expect.any(Number)}],
      heldMs: 0,
    });
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(metrics).toMatch(/^bulk_enrich_worker_calls_total\{outcome="answered"\} [1-9]\d*$/m);
    expect(await run.outcome).toMatchObject({code: 0});
    expect((await arena.api.ledger()).max_per_second).toBeLessThanOrEqual(200);
  });
});

describe.skipIf(!redisInstalled)('a fleet refuses', () => {
  const told = async (outcome: ReturnType<FleetArena['run']>['outcome']) => {
    const {code, stderr} = await outcome;
    return [code, stderr.split('\n')[0]];
  };

  test('a worker or a run with another version, endpoint, key or rate', async () => {
    await using arena = await openFleetArena({latency: 30});
    arena.sandbox.write('list.csv', listOf(600, 300));
    const {client, url} = arena.redis;
    await client.set('bulk-enrich:identity', 'bulk-enrich 0.0.1 asking https://other.example');
    const worker = (env = {}) => told(arena.sandbox.start(['worker'], {env: {...arena.env, ...env}}).outcome);
    expect(await worker()).toEqual([
      2,
      `Error: This is bulk-enrich ${packageVersion()} asking ${arena.api.url}, but the fleet on this Redis is bulk-enrich 0.0.1 asking https://other.example. Use the same version and endpoint, or a Redis database of its own (redis://HOST/1).`,
    ]);
    await client.flushall();
    await arena.worker();
    expect(await worker({BULK_ENRICH_BASE_URL: 'https://other.example'})).toEqual([
      2,
      expect.stringContaining('This is bulk-enrich'),
    ]);
    expect(await worker({BULK_ENRICH_API_KEY: 'another-key-0001'})).toEqual([
      2,
      'Error: The fleet on this Redis has another API key: check BULK_ENRICH_API_KEY here and there.',
    ]);
    const run = arena.run(['--rate', '100/s']);
    while ((await arena.api.ledger()).calls < 20) await sleep(20);
    const other = arena.sandbox.start(
      ['run', 'list.csv', '-o', 'other.csv', '--rate', '50/s', '--fleet', url],
      {env: arena.env},
    );
    expect(await told(other.outcome)).toEqual([2, expect.stringContaining('rate of all=100/1s')]);
    run.kill('SIGTERM');
    await run.outcome;
    expect(await client.get('bulk-enrich:rate')).toBeNull();
  });

  test('to begin without Redis, with a wrong password, or on a Redis that drops keys; a password in an argument is not taken', async () => {
    await using arena = await openFleetArena({redis: {password: 'right-password'}});
    arena.sandbox.write('list.csv', listOf(10, 5));
    const run = (url: string) => told(arena.run([], {BULK_ENRICH_REDIS_URL: url}).outcome);
    const {port} = arena.redis;
    expect(await run(`redis://:wrong-password@127.0.0.1:${port}`)).toEqual([
      2,
      expect.stringContaining(`The fleet's Redis at redis://127.0.0.1:${port} does not let us in: WRONGPASS`),
    ]);
    expect(await run('redis://127.0.0.1:1')).toEqual([
      5,
      expect.stringMatching(
        /^Error: The fleet's Redis at redis:\/\/127\.0\.0\.1:1 can't be reached: .*ECONNREFUSED/,
      ),
    ]);
    expect(await told(arena.run(['--fleet', `redis://:secret@127.0.0.1:${port}`]).outcome)).toEqual([
      2,
      expect.stringContaining('Put the whole URL into BULK_ENRICH_REDIS_URL'),
    ]);
    await arena.redis.client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    expect(await run(`redis://:right-password@127.0.0.1:${port}`)).toEqual([
      2,
      expect.stringContaining('Set maxmemory-policy to noeviction.'),
    ]);
    await arena.redis.client.config('SET', 'maxmemory-policy', 'noeviction');
    await arena.worker([], {BULK_ENRICH_REDIS_URL: `redis://:right-password@127.0.0.1:${port}`});
    expect(await run(`redis://:right-password@127.0.0.1:${port}`)).toEqual([0, expect.any(String)]);
  });
});
