import {expect, test, vi} from 'vitest';
import {Fleet} from '../../src/fleet/fleet.ts';
import {PREFIX} from '../../src/fleet/protocol.ts';
import {enterRoster, fleetClaims, members, rateClaim} from '../../src/fleet/roster.ts';
import {sealWith} from '../../src/fleet/seal.ts';
import {lacks} from '../support/real-parts.ts';
import {startRedis} from '../support/redis.ts';

test.skipIf(lacks('redis'))('a run that may not join leaves no connection to Redis', async () => {
  await using server = await startRedis();
  await server.client.set(`${PREFIX}:key`, 'of another fleet');
  const connections = async () => ((await server.client.client('LIST')) as string).trim().split('\n').length;
  const before = await connections();
  const joining = Fleet.join({
    ...{redisUrl: server.url, runId: 'run', endpoint: 'https://api.example.com', secret: 'a-secret'},
    ...{lanes: [], rate: 'unlimited', creditsAt: undefined, timeoutMs: 1_000, maxOutageMs: 1_000},
    report: () => ({job: undefined, rows: 0, calls: 0, spent: 0, maybeSpent: 0, limit: null}),
    ...{now: Date.now, date: Date.now, warn: () => {}},
  });
  await expect(joining).rejects.toMatchObject({code: 'fleet_refused'});
  await expect.poll(connections, {timeout: 5_000}).toBe(before);
});

test.skipIf(lacks('redis'))('what a fleet agrees on lasts until its last member has left', async () => {
  await using server = await startRedis();
  const claims = fleetClaims('https://api.example.com', sealWith('a-secret'));
  const enter = (kind: 'run' | 'worker', more = claims) =>
    enterRoster(
      server.client,
      kind,
      more,
      () => ({}),
      () => expect.unreachable(),
    );
  const agreed = async () => {
    const names = ['protocol', 'key', 'rate'];
    const found = await server.client.mget(names.map(name => `${PREFIX}:${name}`));
    return names.filter((_, index) => found[index] !== null);
  };
  const worker = await enter('worker');
  const another = await enter('worker');
  const run = await enter('run', [...claims, rateClaim('20/s')]);
  const last = await enter('run', [...claims, rateClaim('20/s')]);
  expect(await agreed()).toEqual(['protocol', 'key', 'rate']);
  // One of two runs, and one of two workers.
  await run.leave();
  await another.leave();
  expect(await agreed()).toEqual(['protocol', 'key', 'rate']);
  await last.leave();
  expect(await agreed()).toEqual(['protocol', 'key']);
  await worker.leave();
  expect(await agreed()).toEqual([]);
  // The last worker goes while a run remains.
  const [helper, alone] = [await enter('worker'), await enter('run', [...claims, rateClaim('20/s')])];
  await helper.leave();
  expect(await agreed()).toEqual(['protocol', 'key', 'rate']);
  await alone.leave();
  expect(await agreed()).toEqual([]);
});

test.skipIf(lacks('redis'))(
  'two members of one process, begun in the same millisecond, are two, and one leaves alone',
  async () => {
    await using server = await startRedis();
    const claims = fleetClaims('https://api.example.com', sealWith('a-secret'));
    const now = vi.spyOn(Date, 'now');
    const enter = () => {
      now.mockReturnValueOnce(1_000);
      return enterRoster(
        server.client,
        'worker',
        claims,
        () => ({}),
        () => expect.unreachable(),
      );
    };
    const [first, second] = [await enter(), await enter()];
    const present = async () => (await members(server.client, 'worker')).length;
    expect(await present()).toBe(2);
    await first.leave();
    expect(await present()).toBe(1);
    expect(await server.client.exists(`${PREFIX}:key`)).toBe(1);
    await second.leave();
    expect(await server.client.exists(`${PREFIX}:key`)).toBe(0);
    now.mockRestore();
  },
);

test.skipIf(lacks('redis'))('who is refused for a claim does not renew it', async () => {
  await using server = await startRedis();
  await server.client.set(`${PREFIX}:rate`, '10/s', 'PX', 3_000);
  const entering = enterRoster(
    server.client,
    'run',
    [rateClaim('20/s')],
    () => ({}),
    () => expect.unreachable(),
  );
  await expect(entering).rejects.toMatchObject({code: 'fleet_refused'});
  expect(await server.client.pttl(`${PREFIX}:rate`)).toBeLessThanOrEqual(3_000);
});
