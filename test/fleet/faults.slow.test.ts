import {mkdirSync, rmdirSync} from 'node:fs';
import {beforeAll, describe, expect, test} from 'vitest';
import {KEY_PREFIX, QUEUE_NAME} from '../../src/fleet/protocol.ts';
import {booksOf, listOf} from '../support/crash.ts';
import {freePort} from '../support/free-port.ts';
import {runHere} from '../support/main.ts';
import {lacks} from '../support/real-parts.ts';
import {type FleetArena, RUN} from './fleet-arena.ts';
import {calls, expectWhole, heldRun, IN_HAND, LATENCY, OUT, openWithList} from './whole.ts';

describe.skipIf(lacks('redis'))('a fleet, when', () => {
  let arena: FleetArena;
  beforeAll(async () => {
    arena = await openWithList();
    await arena.workerHere();
    return () => arena[Symbol.asyncDispose]();
  });

  test('a worker is killed: only the values that it had are sent again', async () => {
    const second = await arena.worker();
    const {run, letGo} = await heldRun(arena, 2, () => arena.here(RUN));
    second.kill('SIGKILL');
    await second.outcome;
    letGo();
    expect(await run).toMatchObject({code: 0});
    const {maybe} = await expectWhole(arena, IN_HAND);
    expect(maybe).toBeGreaterThan(0);
    expect(maybe).toBeLessThanOrEqual(IN_HAND);
  });

  test('the coordinator is killed and started again: it collects the answers since', async () => {
    arena.api.setLatency(LATENCY);
    arena.api.newLedger();
    const {run, letGo} = await heldRun(arena, 1, () => arena.run(['--force']));
    run.kill('SIGKILL');
    await run.outcome;
    letGo();
    const again = await arena.here([...RUN, '--force']);
    expect([again.code, again.stderr]).toEqual([0, expect.any(String)]);
    // Values that were reserved and not yet in Redis may have been sent, for all that the next session knows.
    const {maybe} = await expectWhole(arena, 0);
    expect(maybe).toBeLessThanOrEqual(OUT);
  });
});

test.skipIf(lacks('redis')).each([
  ['from a file', RUN],
  ['by stdin', [...RUN.with(1, '-'), '--job', 'job.yaml']],
])(
  'a run %s that was killed sends values that no worker had begun once, and counts them once',
  async (_, args) => {
    await using arena = await openWithList();
    const {sandbox, env, api} = arena;
    const stdin = args === RUN ? '' : sandbox.read('list.csv');
    sandbox.write('job.yaml', 'endpoint: live\nip: ip\nemail: email\n');
    await killedWaiting(arena, args, stdin);
    const command = [...args, '--max-credits', String(DISTINCT), '--score', 'none'];
    const again = runHere(sandbox, command, {env, stdin});
    await arena.workerHere();
    expect(await again).toMatchObject({code: 0});
    expect(api.ledger).toMatchObject({calls: DISTINCT, credits: DISTINCT});
    expect(booksOf(sandbox, 'out.summary.json')).toMatchObject({spent: DISTINCT, maybe: 0});
  },
);

test.skipIf(lacks('redis'))(
  'a run restarted while Redis can’t be reached is given up: the next one begins anew',
  async () => {
    await using arena = await openWithList();
    const {sandbox} = arena;
    sandbox.write('list.csv', `${listOf(60, 30)}61,one,field,too,many\n`);
    await arena.workerHere();
    const run = arena.here(RUN);
    await calls(arena, 1);
    // Files that precede the output are in place by then, and the output is not.
    mkdirSync(sandbox.path('out.csv'));
    expect((await run).code).toBe(9);
    rmdirSync(sandbox.path('out.csv'));
    const away = {BULK_ENRICH_REDIS_URL: `redis://127.0.0.1:${await freePort()}`};
    expect(await arena.here([...RUN, '--restart', '--force'], away)).toMatchObject({code: 5});
    const again = await arena.here([...RUN, '--force']);
    expect([again.code, again.stderr]).toEqual([3, expect.any(String)]);
    expect(arena.api.ledger.repeated()).toEqual([]);
  },
);

/** Values of the list. */
const DISTINCT = 299;

/** Kills a run once all that it sends out without a worker waits in Redis. */
async function killedWaiting({redis, sandbox, env}: FleetArena, args: readonly string[], stdin = '') {
  const run = sandbox.start(args, {env, stdin});
  let before = 0;
  const isAllThere = async () => {
    const last = before;
    before = await redis.client.llen(`${KEY_PREFIX}:${QUEUE_NAME}:wait`);
    return before > 0 && before === last;
  };
  await expect.poll(isAllThere, {timeout: 20_000, interval: 400}).toBe(true);
  run.kill('SIGKILL');
  await run.outcome;
}
