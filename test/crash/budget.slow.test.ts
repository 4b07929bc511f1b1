import {expect, test} from 'vitest';
import {booksOf, openArena, runUntilDone} from '../support/crash.ts';
import {randomOf} from '../support/random.ts';
import {randomFaults} from '../support/random-faults.ts';
import {ips} from '../support/stage.ts';

const LIMIT = 1_000;
const IN_FLIGHT = 64;
const args = [
  ...['run', 'list.csv', '-o', 'out.csv', '--ip', 'ip', '--rate', 'unlimited', '--quiet'],
  ...['--concurrency', String(IN_FLIGHT), '--max-credits', String(LIMIT)],
];

/** A list that is worth more than the limit, a slow service that fails now and then, and kills: what was charged? */
async function chargedUnderLimit(seed: number, maxKills: number): Promise<number> {
  await using arena = await openArena({
    latencyMs: 30,
    script: randomFaults({share: 0.05, kinds: [500, 'reset', 'cut'], seed}),
  });
  const {sandbox, api, env} = arena;
  sandbox.write('list.csv', ips(1_500));
  const random = randomOf(seed);
  const {last} = await runUntilDone(
    () => sandbox.start(args, {env}),
    session => (session < maxKills ? 300 + random() * 900 : undefined),
  );
  expect(last.code).toBe(7);
  const {ledger} = api;
  const {spent, maybe} = booksOf(sandbox, 'out.summary.json');
  expect(spent + maybe).toBeLessThanOrEqual(LIMIT);
  expect(spent).toBeLessThanOrEqual(ledger.credits);
  expect(ledger.credits).toBeLessThanOrEqual(spent + maybe);
  expect(ledger.credits).toBeLessThanOrEqual(LIMIT);
  return ledger.credits;
}

const {SOAK, SOAK_SEEDS = 50} = process.env;
const many = Array.from({length: Number(SOAK_SEEDS)}, (_, nth) => nth + 1);
const [SEEDS, KILLS] = SOAK === undefined ? [[21], 2] : [many, 6];

test.each(SEEDS)('the credit limit is never passed, whatever fails and is killed (seed %i)', async seed => {
  expect(await chargedUnderLimit(seed, KILLS)).toBeLessThanOrEqual(LIMIT);
});
