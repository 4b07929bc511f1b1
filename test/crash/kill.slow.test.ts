import {expect, test} from 'vitest';
import type {EarlyFault} from '../support/api-server-reply.ts';
import {booksOf, bytesOf, listOf, openArena, runUntilDone} from '../support/crash.ts';
import {runHere} from '../support/main.ts';
import {randomOf} from '../support/random.ts';
import {randomFaults} from '../support/random-faults.ts';

interface Trial {
  readonly rows: number;
  readonly distinct: number;
  readonly seed: number;
  /** Sessions that are killed; the run may end before. */
  readonly maxKills: number;
  /** A session is killed somewhere in the time from its start to this, in milliseconds. */
  readonly withinMs: number;
  /** Share of the calls that the server faults, and of the requests that break off on the way to it. */
  readonly serverFaults?: number;
  readonly networkFaults?: number;
}

const IN_FLIGHT = 32;
const args = [
  ...['run', 'list.csv', '-o', 'out.csv', '--ip', 'ip', '--email', 'email', '--rate', 'unlimited'],
  // Every value gets an answer in the end, however unlucky it is, so that the bytes can be compared.
  ...['--concurrency', String(IN_FLIGHT), '--timeout', '2s', '--resends', '60', '--quiet'],
];

/**
 * Kills a run at random instants, and lets calls fail, until it is through. Holds it against one that nothing happened
 * to: the same bytes, and books within the server's.
 */
async function playAndCompare(trial: Trial) {
  const {maxKills, withinMs, serverFaults = 0, networkFaults = 0, seed} = trial;
  const list = listOf(trial.rows, trial.distinct, seed);
  await using calm = await openArena();
  calm.sandbox.write('list.csv', list);
  expect(await runHere(calm.sandbox, args, {env: calm.env})).toMatchObject({code: 0, stderr: ''});
  const distinct = calm.api.ledger.distinct();

  const luck = randomOf(seed + 1);
  let broken = 0;
  const early = (): EarlyFault | undefined => {
    if (luck() >= networkFaults) return undefined;
    broken += 1;
    return {when: luck() < 0.5 ? 'head' : 'body', ending: luck() < 0.5 ? 'close' : 'reset'};
  };
  const kinds = [500, 503, 429, 'reset', 'cut', 'stall'] as const;
  const script = randomFaults({share: serverFaults, kinds, seed});
  await using arena = await openArena({latencyMs: 15, early, script});
  const {sandbox, api, env} = arena;
  sandbox.write('list.csv', list);
  const random = randomOf(seed);
  const {last, kills} = await runUntilDone(
    () => sandbox.start(args, {env}),
    session => (session < maxKills ? random() * withinMs : undefined),
  );
  expect(last).toMatchObject({code: 0});
  expect(bytesOf(sandbox, 'out.csv').equals(bytesOf(calm.sandbox, 'out.csv'))).toBe(true);
  expect(sandbox.files()).toEqual(['list.csv', 'out.csv', 'out.summary.json']);

  const {ledger} = api;
  expect([ledger.distinct(), ledger.keyElsewhere, ledger.violations, ledger.wrongKey]).toEqual([
    ...[distinct, [], [], 0],
  ]);
  if (serverFaults + networkFaults === 0)
    expect(ledger.calls).toBeLessThanOrEqual(distinct + kills * IN_FLIGHT);
  const {spent, maybe} = booksOf(sandbox, 'out.summary.json');
  expect(spent).toBeLessThanOrEqual(ledger.credits);
  expect(ledger.credits).toBeLessThanOrEqual(spent + maybe);
  const {rows, lookups, credits} = sandbox.summary('out.summary.json');
  const wanted = calm.sandbox.summary('out.summary.json');
  expect(rows).toEqual(wanted.rows);
  for (const [name, {distinct, answered}] of Object.entries(wanted.lookups))
    expect(lookups[name]).toMatchObject({distinct, answered});
  // An answer that a kill left for the store, but not in the ledger, is maybe spent, and its value costs no other call.
  const {store, ...saved} = credits.saved;
  expect({...saved, store: 0}).toEqual(wanted.credits.saved);
  expect(store).toBeLessThanOrEqual(maybe);
  return {kills, calls: ledger.calls, distinct, charged: ledger.credits, spent, maybe, broken};
}

const {SOAK, SOAK_KILLS = 200, SOAK_ROWS = 100_000} = process.env;
const isSoak = SOAK !== undefined;

test('a run killed at random instants ends with the bytes of one that was not, for the calls in flight at most', async () => {
  const [most, trial] = isSoak
    ? [Number(SOAK_KILLS), {rows: 20_000, distinct: 4_000, maxKills: 20, withinMs: 2_500}]
    : [2, {rows: 6_000, distinct: 600, maxKills: 4, withinMs: 1_000}];
  let [kills, extra] = [0, 0];
  for (let seed = 11; kills < most; seed++) {
    const result = await playAndCompare({...trial, seed});
    kills += result.kills;
    extra += result.calls - result.distinct;
  }
  console.log(`${kills} kills, ${extra} extra calls (${(extra / kills).toFixed(1)} a kill)`);
});

test.runIf(isSoak).each([21, 22])('many rows through random faults and kills, seed %i', async seed => {
  const rows = Number(SOAK_ROWS);
  const faults = {serverFaults: 0.03, networkFaults: 0.02};
  const more = {distinct: Math.ceil(rows / 12), maxKills: 10, withinMs: 8_000};
  console.log(JSON.stringify(await playAndCompare({rows, seed, ...faults, ...more})));
});
