import {expect, test} from 'vitest';
import {booksOf} from '../support/crash.ts';
import {redisInstalled} from '../support/redis.ts';
import {openFleetArena} from './fleet-arena.ts';
import {calls} from './whole.ts';

const VALUES = 4;

test.skipIf(!redisInstalled)(
  'a chunk that is left over from before its values went out again says nothing of that second time',
  async () => {
    await using arena = await openFleetArena({faults: ['429'], error: 1, faultsPerValue: 1});
    const list = Array.from({length: VALUES}, (_, n) => `198.18.0.${n}\n`);
    arena.sandbox.write('list.csv', `ip\n${list.join('')}`);
    const limited = ['--max-credits', String(VALUES)];
    const worker = await arena.worker();
    const run = arena.run(limited);
    // All are throttled, and come back in one chunk; in the next, they are charged, and nobody lives to hear of it.
    await calls(arena, VALUES);
    await arena.api.set({latency: 20_000});
    await calls(arena, 2 * VALUES);
    run.kill('SIGKILL');
    worker.kill('SIGKILL');
    await Promise.all([run.outcome, worker.outcome]);
    expect((await arena.redis.client.keys('bulk-enrich:chunks:*.*')).length).toBeGreaterThan(1);
    await arena.api.set({latency: 0});
    await arena.worker();
    const {code, stderr} = await arena.run(limited).outcome;
    expect([code, stderr]).toEqual([7, expect.any(String)]);
    expect((await arena.api.ledger()).credits).toBe(VALUES);
    expect(booksOf(arena.sandbox, 'out.summary.json')).toEqual({spent: 0, maybe: VALUES});
    // The four that were throttled came back; whether the next four were sent, nobody has told.
    expect(arena.sandbox.summary('out.summary.json').calls).toMatchObject({
      total: VALUES,
      unconfirmed: VALUES,
    });
  },
);
