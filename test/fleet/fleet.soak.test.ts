import {setTimeout as sleep} from 'node:timers/promises';
import {describe, expect, test} from 'vitest';
import type {RunningCommand} from '../support/command.ts';
import {booksOf, listOf} from '../support/crash.ts';
import {randomOf} from '../support/random.ts';
import {lacks} from '../support/real-parts.ts';
import {type FleetArena, localOutput, openFleetArena} from './fleet-arena.ts';
import {OUT} from './whole.ts';

const ROWS = Number(process.env.SOAK_ROWS ?? 50_000);
const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 30);
/** Values that four workers can have out. */
const OUT_WITH_FOUR = 2 * OUT;

async function sameAsLocal(arena: FleetArena): Promise<void> {
  arena.api.setLatency(0);
  arena.api.setLimit(undefined);
  expect(arena.sandbox.read('out.csv') === (await localOutput(arena))).toBe(true);
}

describe.skipIf(lacks('redis'))('a fleet', () => {
  test.each([1, 2, 4])(
    `of %i workers writes ${ROWS} rows as a local run does, at 500 calls a second at most`,
    async workers => {
      await using arena = await openFleetArena({latencyMs: 10});
      arena.sandbox.write('list.csv', listOf(ROWS, Math.min(6_000, ROWS / 4), workers));
      await Promise.all(Array.from({length: workers}, () => arena.worker(['--lost-after', '30s'])));
      const {code} = await arena.run(['--rate', '500/s']).outcome;
      expect(code).toBe(0);
      const {calls: made, maxPerSecond: busiest} = arena.api.ledger;
      const distinct = arena.api.ledger.distinct();
      const {pace} = arena.sandbox.summary('out.summary.json');
      console.log(`${workers} workers: ${made} calls, ${busiest} in the busiest second, ${pace.achieved}/s`);
      expect([made, busiest <= 500]).toEqual([distinct, true]);
      expect(booksOf(arena.sandbox, 'out.summary.json')).toEqual({spent: distinct, maybe: 0});
      await sameAsLocal(arena);
    },
  );

  test(`${ROUNDS} workers and coordinators are killed at random`, async () => {
    await using arena = await openFleetArena({latencyMs: 20});
    arena.sandbox.write('list.csv', listOf(ROWS, ROWS / 2));
    const random = randomOf(ROUNDS);
    const workers: RunningCommand[] = await Promise.all([1, 2, 3, 4].map(() => arena.worker()));
    let run = arena.run();
    const killed = {workers: 0, coordinators: 0};
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.race([sleep(500 + 1_000 * random()), run.outcome]);
      if (random() < 0.3) {
        run.kill('SIGKILL');
        if ((await run.outcome).code === 0) break;
        killed.coordinators += 1;
        run = arena.run();
      } else {
        const index = Math.floor(random() * workers.length);
        workers[index]?.kill('SIGKILL');
        workers[index] = await arena.worker();
        killed.workers += 1;
      }
    }
    const {code, stderr} = await run.outcome;
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    const {calls: made, credits} = arena.api.ledger;
    const distinct = arena.api.ledger.distinct();
    const {spent, maybe} = booksOf(arena.sandbox, 'out.summary.json');
    console.log(
      `${JSON.stringify(killed)}: ${made} calls for ${distinct} values, ${spent} spent, ${maybe} maybe`,
    );
    expect(made - distinct).toBeLessThanOrEqual(24 * killed.workers + OUT_WITH_FOUR * killed.coordinators);
    expect([spent <= credits, credits <= spent + maybe]).toEqual([true, true]);
    await sameAsLocal(arena);
  });
});
