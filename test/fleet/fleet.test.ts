import {describe, expect, test} from 'vitest';
import {booksOf, listOf} from '../support/crash.ts';
import {redisInstalled} from '../support/redis.ts';
import {localOutput, openFleetArena} from './fleet-arena.ts';

describe.skipIf(!redisInstalled)('a fleet on a real Redis', () => {
  test.each([1, 3])(
    '%i workers write what a local run writes, and ask for each value once',
    async workers => {
      await using arena = await openFleetArena({latency: 5});
      arena.sandbox.write('list.csv', listOf(3_000, 800));
      for (let n = 0; n < workers; n++) await arena.worker();
      const {code, stderr} = await arena.run().outcome;
      expect([code, stderr]).toEqual([0, expect.any(String)]);
      const books = await arena.api.ledger();
      expect([books.calls, books.distinct, books.repeated]).toEqual([books.distinct, books.distinct, 0]);
      expect(booksOf(arena.sandbox, 'out.summary.json')).toEqual({spent: books.distinct, maybe: 0});
      expect(arena.sandbox.read('out.csv')).toBe(await localOutput(arena));
    },
  );
});
