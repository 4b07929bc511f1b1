import {expect} from 'vitest';
import type {EarlyFault} from '../support/api-server-reply.ts';
import {booksOf, bytesOf, listOf, openArena, runUntilDone, seeded} from '../support/crash.ts';
import {randomFaults} from '../support/random-faults.ts';

export interface Chaos {
  readonly rows: number;
  readonly distinct: number;
  readonly seed: number;
  /** Share of the calls that the server faults, and of the requests that break off on the way to it. */
  readonly serverFaults: number;
  readonly networkFaults: number;
  readonly maxKills: number;
  readonly withinMs: number;
}

export interface ChaosResult {
  readonly kills: number;
  readonly calls: number;
  readonly distinct: number;
  readonly charged: number;
  readonly spent: number;
  readonly maybe: number;
  readonly byStatus: unknown;
  readonly broken: number;
}

const args = [
  ...['run', 'list.csv', '-o', 'out.csv', '--ip', 'ip', '--email', 'email', '--rate', 'unlimited'],
  // Every value gets an answer in the end, however unlucky it is, so that the bytes can be compared.
  ...['--concurrency', '32', '--timeout', '2s', '--resends', '60', '--quiet'],
];

/**
 * Runs a list through random faults of all kinds, killing it now and then, and holds what comes out against a calm
 * run: the same bytes, and books within the server's.
 */
export async function chaosAndCompare(chaos: Chaos): Promise<ChaosResult> {
  const list = listOf(chaos.rows, chaos.distinct, chaos.seed);
  await using calm = await openArena();
  calm.sandbox.write('list.csv', list);
  expect(await calm.sandbox.run(args, {env: calm.env})).toMatchObject({code: 0, stderr: ''});

  const luck = seeded(chaos.seed + 1);
  let broken = 0;
  const early = (): EarlyFault | undefined => {
    if (luck() >= chaos.networkFaults) return undefined;
    broken += 1;
    return {when: luck() < 0.5 ? 'head' : 'body', ending: luck() < 0.5 ? 'close' : 'reset'};
  };
  await using arena = await openArena({
    early,
    script: randomFaults({
      share: chaos.serverFaults,
      kinds: [500, 503, 429, 'reset', 'cut', 'stall'],
      seed: chaos.seed,
    }),
  });
  const {sandbox, api, env} = arena;
  sandbox.write('list.csv', list);
  const random = seeded(chaos.seed);
  const {last, kills} = await runUntilDone(
    () => sandbox.start(args, {env}),
    session => (session < chaos.maxKills ? random() * chaos.withinMs : undefined),
  );
  expect(last).toMatchObject({code: 0});
  expect(bytesOf(sandbox, 'out.csv').equals(bytesOf(calm.sandbox, 'out.csv'))).toBe(true);
  expect(sandbox.files()).toEqual(['list.csv', 'out.csv', 'out.summary.json']);

  const {ledger} = api;
  const {spent, maybe} = booksOf(sandbox, 'out.summary.json');
  expect(spent).toBeLessThanOrEqual(ledger.credits);
  expect(ledger.credits).toBeLessThanOrEqual(spent + maybe);
  expect(ledger.distinct()).toBe(calm.api.ledger.distinct());
  expect([ledger.keyElsewhere, ledger.violations, ledger.wrongKey]).toEqual([[], [], 0]);
  return {
    kills,
    calls: ledger.calls,
    distinct: ledger.distinct(),
    charged: ledger.credits,
    spent,
    maybe,
    byStatus: Object.fromEntries(ledger.byStatus),
    broken,
  };
}
