import {expect} from 'vitest';
import {booksOf, bytesOf, listOf, openArena, runUntilDone, seeded} from '../support/crash.ts';
import {runHere} from '../support/main.ts';

export interface KillTest {
  readonly rows: number;
  readonly distinct: number;
  readonly seed: number;
  /** Sessions that are killed; the run may end before. */
  readonly maxKills: number;
  /** A session is killed somewhere in the time from its start to this, in milliseconds. */
  readonly withinMs: number;
}

const IN_FLIGHT = 32;
const args = [
  ...['run', 'list.csv', '-o', 'out.csv', '--ip', 'ip', '--email', 'email'],
  ...['--rate', 'unlimited', '--concurrency', String(IN_FLIGHT), '--quiet'],
];

/**
 * Kills a run at random instants until it is through, and holds it against one that was never killed. Returns the kills
 * and the calls that they cost.
 */
export async function killAndCompare(test: KillTest): Promise<{kills: number; extra: number}> {
  const list = listOf(test.rows, test.distinct, test.seed);
  await using calm = await openArena();
  calm.sandbox.write('list.csv', list);
  expect(await runHere(calm.sandbox, args, {env: calm.env})).toMatchObject({code: 0, stderr: ''});
  const distinct = calm.api.ledger.distinct();

  await using arena = await openArena({latencyMs: 15});
  const {sandbox, api, env} = arena;
  sandbox.write('list.csv', list);
  const random = seeded(test.seed);
  const {last, kills} = await runUntilDone(
    () => sandbox.start(args, {env}),
    session => (session < test.maxKills ? random() * test.withinMs : undefined),
  );
  expect(last).toMatchObject({code: 0});
  expect(bytesOf(sandbox, 'out.csv').equals(bytesOf(calm.sandbox, 'out.csv'))).toBe(true);
  expect(sandbox.files()).toEqual(['list.csv', 'out.csv', 'out.summary.json']);

  const {ledger} = api;
  expect(ledger.distinct()).toBe(distinct);
  expect(ledger.calls).toBeLessThanOrEqual(distinct + kills * IN_FLIGHT);
  const {spent, maybe} = booksOf(sandbox, 'out.summary.json');
  expect(spent).toBeLessThanOrEqual(ledger.credits);
  expect(ledger.credits).toBeLessThanOrEqual(spent + maybe);
  const {rows, lookups} = sandbox.summary('out.summary.json');
  const wanted = calm.sandbox.summary('out.summary.json');
  expect(rows).toEqual(wanted.rows);
  for (const [name, {distinct, answered}] of Object.entries(wanted.lookups))
    expect(lookups[name]).toMatchObject({distinct, answered});
  return {kills, extra: ledger.calls - distinct};
}
