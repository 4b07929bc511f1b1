import {beforeAll, describe, expect, test} from 'vitest';
import {PREFIX, QUEUE} from '../../src/fleet/protocol.ts';
import {redisInstalled} from '../support/redis.ts';
import type {FleetArena} from './fleet-arena.ts';
import {expectWhole, heldRun, IN_HAND, LATENCY, OUT, openWithList} from './whole.ts';

describe.skipIf(!redisInstalled)('a fleet, when', () => {
  let arena: FleetArena;
  beforeAll(async () => {
    arena = await openWithList();
    await arena.worker();
    return () => arena[Symbol.asyncDispose]();
  });

  test('a worker is killed: what it had in hand is asked again, and nothing else', async () => {
    const second = await arena.worker();
    const {run, letGo} = await heldRun(arena, 2);
    second.kill('SIGKILL');
    await second.outcome;
    await letGo();
    expect(await run.outcome).toMatchObject({code: 0});
    const {maybe} = await expectWhole(arena, IN_HAND);
    expect(maybe).toBeGreaterThan(0);
    expect(maybe).toBeLessThanOrEqual(IN_HAND);
  });

  test('the coordinator is killed and started again: it collects what was answered meanwhile', async () => {
    await arena.api.set({latency: LATENCY});
    await arena.api.reset();
    const {run, letGo} = await heldRun(arena, 1, ['--force']);
    run.kill('SIGKILL');
    await run.outcome;
    await letGo();
    const again = await arena.run(['--force']).outcome;
    expect([again.code, again.stderr]).toEqual([0, expect.any(String)]);
    expect(arena.sandbox.summary('out.summary.json').resumed.times).toBe(1);
    // Values that were reserved and not yet in Redis may have been sent, for all that the next session knows.
    const {maybe} = await expectWhole(arena, 0);
    expect(maybe).toBeLessThanOrEqual(OUT);
  });
});

test.skipIf(!redisInstalled)(
  'what a run that is started over had out, and no worker has begun, is asked for once',
  async () => {
    await using arena = await openWithList();
    const outOfRuns = async () => {
      const ids = await arena.redis.client.lrange(`${PREFIX}:${QUEUE}:wait`, 0, -1);
      return [...new Set(ids.map(id => id.split('.')[0]))];
    };
    const run = arena.run();
    await expect.poll(outOfRuns, {timeout: 20_000}).toHaveLength(1);
    const [first] = await outOfRuns();
    run.kill('SIGKILL');
    await run.outcome;
    const again = arena.run(['--restart']);
    await expect.poll(async () => (await outOfRuns()).some(id => id !== first), {timeout: 20_000}).toBe(true);
    await arena.worker();
    expect(await again.outcome).toMatchObject({code: 0});
    await expectWhole(arena, 0);
  },
);
