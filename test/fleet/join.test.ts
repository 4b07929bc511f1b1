import {afterEach, beforeEach, describe, expect, test, vi} from 'vitest';
import {Fleet, type FleetOptions} from '../../src/fleet/fleet.ts';
import {
  type Chunk,
  KEY_PREFIX,
  QUEUE_NAME,
  type SealedChunk,
  sealPurposes,
} from '../../src/fleet/protocol.ts';
import {publicUrl} from '../../src/fleet/redis.ts';
import {enterRoster, fleetClaims, listMembers, type Member, rateClaim} from '../../src/fleet/roster.ts';
import {createSeal} from '../../src/fleet/seal.ts';
import type {LaneSettings} from '../../src/lookup/call.ts';
import {lacks} from '../support/real-parts.ts';
import {startRedis} from '../support/redis.ts';

const optionsOf = (redisUrl: string, lanes: readonly LaneSettings[] = []): FleetOptions => ({
  ...{redisUrl, runId: 'run', endpoint: 'https://api.example.com', secret: 'a-secret'},
  ...{lanes, rate: 'unlimited', creditsAt: undefined, timeoutMs: 1_000, maxOutageMs: 1_000},
  report: () => ({job: undefined, rows: 0, calls: 0, spent: 0, maybeSpent: 0, limit: null}),
  ...{now: Date.now, date: Date.now, warn: () => {}},
});

test.each([
  ['rediss://fleet:canary-password@queue.example.com:6380/1', 'rediss://queue.example.com:6380/1'],
  ['redis://:canary-password@192.0.2.1:6379/', 'redis://192.0.2.1:6379'],
  ['redis://fleet@[2001:db8::1]', 'redis://[2001:db8::1]'],
])('messages name %s without its user and password, and with its database', (url, named) => {
  expect(publicUrl(url)).toBe(named);
});

test.skipIf(lacks('redis'))('a run that may not join leaves no connection to Redis', async () => {
  await using server = await startRedis();
  await server.client.set(`${KEY_PREFIX}:key`, 'of another fleet');
  const connections = async () => ((await server.client.client('LIST')) as string).trim().split('\n').length;
  const before = await connections();
  await expect(Fleet.join(optionsOf(server.url))).rejects.toMatchObject({code: 'fleet_refused'});
  await expect.poll(connections, {timeout: 5_000}).toBe(before);
});

test.skipIf(lacks('redis'))(
  'each lane of a run sends its own values, in its share of the calls of a worker',
  async () => {
    await using server = await startRedis();
    const lanes = (['ip', 'email'] as const).map(
      name => ({name, operations: [name], rate: 'unlimited', concurrency: 2}) as const,
    );
    const fleet = await Fleet.join(optionsOf(server.url, lanes));
    const send = (operation: 'ip' | 'email' | 'phone', value: string, dispatch: number) =>
      fleet.send({operation, params: {[operation]: value}, dispatch}, Number.POSITIVE_INFINITY);
    const asked = [send('ip', 'a', 1), send('email', 'b', 2)];
    expect(() => send('phone', 'c', 3)).toThrow('no lane for phone');
    const chunks = async () => {
      const keys = await server.client.keys(`${KEY_PREFIX}:${QUEUE_NAME}:run.*`);
      const found = keys.map(async key => {
        const {sealed} = JSON.parse((await server.client.hget(key, 'data')) ?? '') as SealedChunk;
        return createSeal('a-secret').open(
          sealed,
          sealPurposes.asks(key.slice(`${KEY_PREFIX}:${QUEUE_NAME}:`.length)),
        ) as Chunk;
      });
      return (await Promise.all(found)).sort((a, b) => a.lane.localeCompare(b.lane));
    };
    const half = {share: 0.5, timeoutMs: 1_000};
    await expect.poll(chunks).toMatchObject([
      {...half, lane: 'email', asks: [{dispatch: 2, operation: 'email', params: {email: 'b'}}]},
      {...half, lane: 'ip', asks: [{dispatch: 1, operation: 'ip', params: {ip: 'a'}}]},
    ]);
    await fleet.withdraw();
    expect(await Promise.all(asked)).toMatchObject(Array(2).fill({kind: 'not_sent', code: 'withdrawn'}));
    await fleet.close();
  },
);

test.skipIf(lacks('redis'))('what a fleet agrees on lasts until its last member has left', async () => {
  await using server = await startRedis();
  const claims = fleetClaims('https://api.example.com', createSeal('a-secret'), () => {});
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
    const found = await server.client.mget(names.map(name => `${KEY_PREFIX}:${name}`));
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
    const claims = fleetClaims('https://api.example.com', createSeal('a-secret'), () => {});
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
    const present = async () => (await listMembers(server.client, 'worker')).length;
    expect(await present()).toBe(2);
    await first.leave();
    expect(await present()).toBe(1);
    expect(await server.client.exists(`${KEY_PREFIX}:key`)).toBe(1);
    await second.leave();
    expect(await server.client.exists(`${KEY_PREFIX}:key`)).toBe(0);
    now.mockRestore();
  },
);

test.skipIf(lacks('redis'))('who is refused for a claim does not renew it', async () => {
  await using server = await startRedis();
  await server.client.set(`${KEY_PREFIX}:rate`, '10/s', 'PX', 3_000);
  const entering = enterRoster(
    server.client,
    'run',
    [rateClaim('20/s')],
    () => ({}),
    () => expect.unreachable(),
  );
  await expect(entering).rejects.toMatchObject({code: 'fleet_refused'});
  expect(await server.client.pttl(`${KEY_PREFIX}:rate`)).toBeLessThanOrEqual(3_000);
});

test.skipIf(lacks('redis'))(
  'a member renews its claim until it leaves, and is refused once the fleet has another value',
  async () => {
    await using server = await startRedis();
    vi.useFakeTimers({toFake: ['setInterval', 'clearInterval']});
    try {
      const key = `${KEY_PREFIX}:rate`;
      let refusal: Error | undefined;
      const member = await enterRoster(
        server.client,
        'run',
        [rateClaim('20/s')],
        () => ({}),
        error => {
          refusal = error;
        },
      );
      await server.client.pexpire(key, 3_000);
      vi.advanceTimersByTime(2_000);
      await expect.poll(() => server.client.pttl(key), {interval: 5}).toBeGreaterThan(3_000);
      await server.client.set(key, '10/s');
      const nextBeat = () => {
        vi.advanceTimersByTime(2_000);
        return refusal;
      };
      await expect.poll(nextBeat, {interval: 5}).toMatchObject({code: 'fleet_refused'});
      expect(member.trouble).toBeUndefined();
      await member.leave();
      vi.advanceTimersByTime(2_000);
      expect(await server.client.exists(key)).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  },
);

test.skipIf(lacks('redis'))(
  'a proof of the key that somebody replaced ends no member: it is put back',
  async () => {
    await using server = await startRedis();
    vi.useFakeTimers({toFake: ['setInterval', 'clearInterval']});
    try {
      const key = `${KEY_PREFIX}:key`;
      const told: string[] = [];
      const enter = (secret: string) => {
        const claims = fleetClaims('https://api.example.com', createSeal(secret), sentence =>
          told.push(sentence),
        );
        return enterRoster(
          server.client,
          'run',
          claims,
          () => ({}),
          () => expect.unreachable(),
        );
      };
      const member = await enter('a-secret');
      const another = await enter('a-secret');
      await another.leave();
      await expect(enter('another')).rejects.toMatchObject({code: 'fleet_refused'});
      const proof = await server.client.get(key);
      for (const _ of [1, 2]) {
        await server.client.set(key, 'planted');
        const nextBeat = () => {
          vi.advanceTimersByTime(2_000);
          return server.client.get(key);
        };
        await expect.poll(nextBeat, {interval: 5}).toBe(proof);
      }
      expect(told).toEqual([expect.stringContaining('was replaced')]);
      await expect.poll(() => server.client.pttl(key), {interval: 5}).toBeGreaterThan(0);
      await member.leave();
    } finally {
      vi.useRealTimers();
    }
  },
);

test.skipIf(lacks('redis'))(
  'a member that falls silent is forgotten within 8 s, with all that it claims; another member keeps its claims',
  async () => {
    await using server = await startRedis();
    const claims = [
      ...fleetClaims('https://api.example.com', createSeal('a-secret'), () => {}),
      rateClaim('20/s'),
    ];
    const enter = () =>
      enterRoster(
        server.client,
        'run',
        claims,
        () => ({}),
        () => expect.unreachable(),
      );
    const first = await enter();
    const keys = await server.client.keys(`${KEY_PREFIX}:*`);
    expect(keys).toHaveLength(5);
    const [left, roster] = await Promise.all([
      Promise.all(keys.filter(key => key !== `${KEY_PREFIX}:runs`).map(key => server.client.pttl(key))),
      server.client.pttl(`${KEY_PREFIX}:runs`),
    ]);
    for (const ms of [...left, roster / 10_800]) expect([ms > 0, ms <= 8_000]).toEqual([true, true]);
    for (const {name} of claims) await server.client.pexpire(`${KEY_PREFIX}:${name}`, 1_000);
    const second = await enter();
    for (const {name} of claims)
      expect(await server.client.pttl(`${KEY_PREFIX}:${name}`)).toBeGreaterThan(1_000);
    for (const member of [first, second]) await member.leave();
  },
);

describe.skipIf(lacks('redis'))('a member, with each sign of life,', () => {
  const BEAT_MS = 2_000;
  beforeEach(() => {
    vi.useFakeTimers({toFake: ['setInterval', 'clearInterval']});
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('tells its state of now, and is not heard while Redis refuses that', async () => {
    await using server = await startRedis();
    let rows = 0;
    const member = await enterRoster(
      server.client,
      'run',
      [],
      () => ({rows}),
      () => expect.unreachable(),
    );
    const told = async () => (await listMembers<Member & {rows: number}>(server.client, 'run'))[0]?.rows;
    expect([await told(), member.isHeard]).toEqual([0, true]);
    const beat = async (of: () => unknown, expected: unknown) => {
      vi.advanceTimersByTime(BEAT_MS);
      await expect.poll(of).toEqual(expected);
    };
    rows = 7;
    await beat(told, 7);
    await server.client.config('SET', 'min-replicas-to-write', '1');
    await beat(() => [member.isHeard, member.trouble?.slice(0, 10)], [false, 'NOREPLICAS']);
    await server.client.config('SET', 'min-replicas-to-write', '0');
    rows = 8;
    await beat(() => [member.isHeard, member.trouble], [true, undefined]);
    expect(await told()).toBe(8);
    await member.leave();
  });
});
