import {describe, expect, test} from 'vitest';
import {redisInstalled} from '../support/redis.ts';
import {calls, expectWhole, IN_HAND, OUT, openWithList} from './whole.ts';

describe.skipIf(!redisInstalled)('a fleet, when', () => {
  test('a worker is killed: what it had in hand is asked again, and nothing else', async () => {
    await using arena = await openWithList();
    const [first] = await Promise.all([arena.worker(), arena.worker()]);
    const run = arena.run();
    await calls(arena, 150);
    first?.kill('SIGKILL');
    expect(await run.outcome).toMatchObject({code: 0});
    const {maybe} = await expectWhole(arena, IN_HAND);
    expect(maybe).toBeGreaterThan(0);
    expect(maybe).toBeLessThanOrEqual(IN_HAND);
  });

  test('the coordinator is killed and started again: it collects what was answered meanwhile', async () => {
    await using arena = await openWithList();
    await Promise.all([arena.worker(), arena.worker()]);
    const run = arena.run();
    await calls(arena, 150);
    run.kill('SIGKILL');
    await run.outcome;
    const again = await arena.run().outcome;
    expect([again.code, again.stderr]).toEqual([0, expect.any(String)]);
    // Values that were reserved and not yet in Redis may have been sent, for all that the next session knows.
    const {maybe} = await expectWhole(arena, 0);
    expect(maybe).toBeLessThanOrEqual(OUT);
  });
});
