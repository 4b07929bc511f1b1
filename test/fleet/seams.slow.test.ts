import {setTimeout as sleep} from 'node:timers/promises';
import {test} from 'vitest';
import type {Call} from '../support/api-server.ts';
import {reply} from '../support/api-server-reply.ts';
import {booksOf, listOf} from '../support/crash.ts';
import {lacks} from '../support/real-parts.ts';
import {openFleetArena, RUN} from './fleet-arena.ts';
import {calls, openWithList} from './whole.ts';

const VALUES = 4;

test.skipIf(lacks('redis'))(
  'a chunk that is left over from before its values went out again says nothing of that second time',
  {concurrent: true},
  async ({expect}) => {
    const script = ({attempt}: Call) => (attempt === 1 ? reply.throttle(1) : undefined);
    await using arena = await openFleetArena({script});
    const list = Array.from({length: VALUES}, (_, n) => `198.18.0.${n}\n`);
    arena.sandbox.write('list.csv', `ip\n${list.join('')}`);
    const limited = ['--max-credits', String(VALUES)];
    const worker = await arena.worker();
    const run = arena.run(limited);
    // All are throttled, and come back in one chunk. Those of the next are charged, and no process gets the answers.
    await calls(arena, VALUES);
    arena.api.setLatency(20_000);
    await calls(arena, 2 * VALUES);
    run.kill('SIGKILL');
    worker.kill('SIGKILL');
    await Promise.all([run.outcome, worker.outcome]);
    expect((await arena.redis.client.keys('bulk-enrich:chunks:*.*')).length).toBeGreaterThan(1);
    arena.api.setLatency(0);
    await arena.workerHere();
    const {code, stderr} = await arena.here([...RUN, ...limited]);
    expect([code, stderr]).toEqual([7, expect.any(String)]);
    expect(arena.api.ledger.credits).toBe(VALUES);
    expect(booksOf(arena.sandbox, 'out.summary.json')).toEqual({spent: 0, maybe: VALUES});
    // The four throttled ones came back. The next four may have been sent.
    const made = arena.sandbox.summary('out.summary.json').calls;
    expect(made).toMatchObject({total: VALUES, unconfirmed: VALUES});
  },
);

test.skipIf(lacks('redis'))(
  'a Redis that comes back with an old snapshot has no chunk carried out twice',
  {concurrent: true},
  async ({expect}) => {
    await using arena = await openFleetArena();
    arena.sandbox.write('list.csv', listOf(20, 20));
    const run = arena.here(RUN);
    const waiting = () => arena.redis.client.llen('bulk-enrich:chunks:wait');
    await expect.poll(waiting, {timeout: 60_000}).toBeGreaterThan(0);
    await arena.redis.client.save();
    await arena.workerHere();
    expect(await run).toMatchObject({code: 0});
    const {requests, credits} = arena.api.ledger;
    await arena.redis.stop();
    // Redis tells since when it has been up in whole seconds.
    await sleep(3_000);
    await arena.redis.start();
    expect(await waiting()).toBeGreaterThan(0);
    const unfinished = async () =>
      (await waiting()) + (await arena.redis.client.llen('bulk-enrich:chunks:active'));
    await expect.poll(unfinished, {timeout: 60_000}).toBe(0);
    expect(arena.api.ledger).toMatchObject({requests, credits});
  },
);

test.skipIf(lacks('redis'))(
  'a worker ends when it is asked to, though Redis is away for good',
  {concurrent: true},
  async ({expect}) => {
    await using arena = await openWithList();
    const worker = await arena.worker();
    const run = arena.run();
    await calls(arena, 20);
    await arena.redis.stop();
    for (const command of [run, worker]) command.kill('SIGTERM');
    expect(await run.outcome).toMatchObject({code: 143});
    expect(await worker.outcome).toMatchObject({code: 5, stderr: expect.stringContaining('Redis is away')});
  },
);
