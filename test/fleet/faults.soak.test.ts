import {setTimeout as sleep} from 'node:timers/promises';
import {describe, expect, test} from 'vitest';
import {lacks} from '../support/real-parts.ts';
import {calls, expectWhole, IN_HAND, OUT, openWithList} from './whole.ts';

describe.skipIf(lacks('redis'))('a fleet, when', () => {
  test('the service throttles: all workers wait, and unsent values cost nothing', async () => {
    await using arena = await openWithList({limit: {perSecond: 100}});
    await Promise.all([arena.worker(), arena.worker()]);
    expect(await arena.run().outcome).toMatchObject({code: 0});
    const refused = arena.api.ledger.byStatus.get(429) ?? 0;
    // One second's calls at most are refused each time; the rate falls, and finds its way back.
    expect(refused).toBeGreaterThan(0);
    expect(refused).toBeLessThan(300);
    arena.api.setLimit(undefined);
    expect(await expectWhole(arena, refused)).toMatchObject({maybe: 0});
  });

  test('a worker is asked to end: calls in flight are finished, the rest goes back unsent', async () => {
    await using arena = await openWithList();
    const [first] = await Promise.all([arena.worker(), arena.worker()]);
    const run = arena.run();
    await calls(arena, 150);
    first?.kill('SIGTERM');
    expect(await first?.outcome).toMatchObject({code: 0});
    expect(await run.outcome).toMatchObject({code: 0});
    expect(await expectWhole(arena, 0)).toMatchObject({maybe: 0});
  });

  test('the coordinator is asked to end and started again: no value is asked for twice', async () => {
    await using arena = await openWithList();
    await arena.worker();
    const run = arena.run();
    await calls(arena, 150);
    run.kill('SIGTERM');
    expect(await run.outcome).toMatchObject({code: 143});
    expect(await arena.run().outcome).toMatchObject({code: 0});
    expect(await expectWhole(arena, 0)).toMatchObject({maybe: 0});
  });

  test.each([
    ['a new worker continues', 'continues'],
    ['Ctrl-C ends the run that waits for its chunks', 'ends'],
  ])('coordinator and worker are killed together, %s', async (_, how) => {
    await using arena = await openWithList();
    const worker = await arena.worker();
    const run = arena.run();
    await calls(arena, 150);
    for (const command of [run, worker]) command.kill('SIGKILL');
    await Promise.all([run.outcome, worker.outcome]);
    const again = arena.run();
    await again.says(`No worker is running on ${arena.redis.url}`);
    if (how === 'ends') again.kill('SIGINT');
    else await arena.worker();
    expect(await again.outcome).toMatchObject({code: how === 'ends' ? 130 : 0});
    if (how === 'continues') await expectWhole(arena, IN_HAND);
  });

  test.each([
    ['with persistence', true, 0],
    ['without', false, OUT],
  ])('Redis is restarted, %s', async (_, persistent, extra) => {
    await using arena = await openWithList({redis: {persistent}});
    await Promise.all([arena.worker(), arena.worker()]);
    const run = arena.run(['--rate', '300/s']);
    await calls(arena, 150);
    await arena.redis.stop();
    await sleep(500);
    await arena.redis.start();
    const {code, stderr} = await run.outcome;
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    await expectWhole(arena, extra);
  });

  test('Redis is away for longer than an outage may last: state is saved, and the same command resumes', async () => {
    await using arena = await openWithList({redis: {persistent: true}});
    // Longer than Redis is away, so that the worker is not taken for lost.
    await arena.worker(['--lost-after', '60s']);
    const run = arena.run(['--max-outage', '2s']);
    await calls(arena, 150);
    await arena.redis.stop();
    const {code, stderr} = await run.outcome;
    expect(code).toBe(5);
    expect(stderr).toContain("the fleet's Redis");
    expect(arena.sandbox.summary('out.summary.json')).toMatchObject({reason: 'outage'});
    await arena.redis.start();
    expect(await arena.run().outcome).toMatchObject({code: 0});
    await expectWhole(arena, 0);
  });

  test.each([
    ['is out of memory', 'OOM', 'maxmemory', '1'],
    ['has lost its replica', 'NOREPLICAS', 'min-replicas-to-write', '1'],
  ])('Redis %s, and takes no writes for longer than workers are waited for', async (_, says, name, value) => {
    await using arena = await openWithList();
    await arena.worker();
    const run = arena.run();
    await calls(arena, 150);
    await arena.redis.client.config('SET', name, value);
    await run.says('Warning:');
    await sleep(15_000);
    await arena.redis.client.config('SET', name, '0');
    const {code, stderr} = await run.outcome;
    expect(code).toBe(0);
    expect(stderr).toMatch(new RegExp(`Warning: The fleet's Redis .* .*${says}`));
    await expectWhole(arena, IN_HAND);
  });

  test('Redis hangs: the run says so, waits, and continues', async () => {
    await using arena = await openWithList();
    await arena.worker(['--lost-after', '60s']);
    const run = arena.run();
    await calls(arena, 150);
    arena.redis.signal('SIGSTOP');
    await run.says('does not answer');
    arena.redis.signal('SIGCONT');
    expect(await run.outcome).toMatchObject({code: 0});
    await expectWhole(arena, 0);
  });
});
