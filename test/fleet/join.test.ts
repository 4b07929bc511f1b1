import {setTimeout as sleep} from 'node:timers/promises';
import {afterEach, beforeAll, describe, expect, test, vi} from 'vitest';
import {Fleet, type FleetOptions} from '../../src/fleet/fleet.ts';
import {type Chunk, createSeal, KEY_PREFIX, QUEUE_NAME, sealPurposes} from '../../src/fleet/protocol.ts';
import {publicUrl} from '../../src/fleet/redis.ts';
import {
  describeProtocol,
  listMembers,
  type Member,
  type MemberOptions,
  Membership,
} from '../../src/fleet/roster.ts';
import {fleetStatus} from '../../src/fleet/status.ts';
import type {LaneSettings} from '../../src/lookup/call.ts';
import {makeCertificate} from '../support/cert.ts';
import {createSandbox} from '../support/command.ts';
import {lacks} from '../support/real-parts.ts';
import {type RedisProcess, startRedis} from '../support/redis.ts';

const ENDPOINT = 'https://api.example.com';

const optionsOf = (redisUrl: string, lanes: readonly LaneSettings[] = []): FleetOptions => ({
  ...{redisUrl, runId: 'run', endpoint: ENDPOINT, secret: 'a-secret'},
  ...{lanes, rate: 'unlimited', creditsAt: undefined, timeoutMs: 1_000, maxOutageMs: 1_000},
  report: () => ({job: undefined, rows: 0, calls: 0, spent: 0, maybeSpent: 0, limit: null}),
  ...{now: Date.now, date: Date.now, warn: () => {}},
});

/** A run of this fleet. */
const memberOf = (changes: Partial<MemberOptions> = {}): MemberOptions => ({
  ...{kind: 'run', agreed: {protocol: describeProtocol(ENDPOINT), rate: '20/s', credits: 'here'}},
  ...{seal: createSeal('a-secret'), report: () => ({}), warn: () => {}},
  ...{onRefused: () => expect.unreachable(), ...changes},
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
  const other = await Membership.enter(server.client, memberOf({seal: createSeal('another')}));
  const connections = async () => ((await server.client.client('LIST')) as string).trim().split('\n').length;
  const before = await connections();
  await expect(Fleet.join(optionsOf(server.url))).rejects.toMatchObject({code: 'fleet_refused'});
  await expect.poll(connections, {timeout: 5_000}).toBe(before);
  await other.leave();
});

test.skipIf(lacks('redis'))(
  'a worker that may not join over TLS says so in its log, and nothing besides',
  async () => {
    const tls = makeCertificate();
    await using server = await startRedis({tls});
    const other = await Membership.enter(server.client, memberOf());
    using sandbox = createSandbox();
    const env = {
      BULK_ENRICH_BASE_URL: 'http://127.0.0.1:9',
      BULK_ENRICH_API_KEY: 'a-secret-of-16-characters',
      NODE_EXTRA_CA_CERTS: sandbox.write('../ca.pem', tls.cert),
    };
    const args = ['worker', '--redis', server.url, '--log', 'json'];
    for (let n = 0; n < 3; n++) {
      const {code, stderr} = await sandbox.run(args, {env});
      expect([code, stderr]).toEqual([2, expect.stringContaining('"code":"fleet_refused"')]);
      for (const line of stderr.trimEnd().split('\n')) expect(line).toMatch(/^\{.*\}$/);
    }
    await other.leave();
  },
);

test.skipIf(lacks('redis'))(
  'each lane of a run sends its own values, in its share of the calls of a worker',
  async () => {
    await using server = await startRedis();
    const lanes = (['ip', 'email'] as const).map(
      name => ({name, operations: [name], rate: 'unlimited', concurrency: 2}) as const,
    );
    const fleet = await Fleet.join(optionsOf(server.url, lanes));
    const send = (operation: 'ip' | 'email' | 'phone', value: string, dispatch: number) =>
      fleet.send({operation, params: {[operation]: value}, dispatch, cost: 1_000}, Number.POSITIVE_INFINITY);
    const asked = [send('ip', 'a', 1), send('email', 'b', 2)];
    expect(() => send('phone', 'c', 3)).toThrow('no lane for phone');
    const chunks = async () => {
      const keys = await server.client.keys(`${KEY_PREFIX}:${QUEUE_NAME}:run.*`);
      const found = keys.map(async key => {
        const {sealed} = JSON.parse((await server.client.hget(key, 'data')) ?? '');
        const purpose = sealPurposes.asks(key.slice(`${KEY_PREFIX}:${QUEUE_NAME}:`.length));
        return createSeal('a-secret').open(sealed, purpose) as Chunk;
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

describe.skipIf(lacks('redis'))('the roster', () => {
  const BEAT_MS = 2_000;
  let server: RedisProcess;
  beforeAll(async () => {
    server = await startRedis();
    return () => server[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    vi.useRealTimers();
    await server.client.flushall();
  });
  const threeBeats = async () => {
    for (let beats = 0; beats < 3; beats++) {
      vi.advanceTimersByTime(BEAT_MS);
      await sleep(50);
    }
  };
  const enter = (changes?: Partial<MemberOptions>) => Membership.enter(server.client, memberOf(changes));
  const present = async () => (await listMembers(server.client, 'run')).length;
  const {agreed} = memberOf();
  const OTHER = describeProtocol('https://other.example');

  test.each<[string, Partial<MemberOptions>, RegExp | undefined]>([
    ['another endpoint', {agreed: {protocol: OTHER}}, /uses protocol 1 .*other/],
    ['another key', {seal: createSeal('another')}, /another API key/],
    ['another rate', {agreed: {...agreed, rate: '10/s'}}, /has the rate 20\/s, this one 10\/s/],
    ['another place for credits', {agreed: {...agreed, credits: 'there'}}, /on another machine/],
    ['neither rate nor credits', {agreed: {protocol: agreed.protocol}}, undefined],
    ['all as the others', {}, undefined],
  ])('has a newcomer with %s, or refuses it without a trace', async (_, changes, refusal) => {
    const first = await enter();
    const entering = enter(changes);
    if (refusal === undefined) await (await entering).leave();
    else {
      const message = expect.stringMatching(refusal);
      await expect(entering).rejects.toMatchObject({code: 'fleet_refused', message});
    }
    expect(await present()).toBe(1);
    await first.leave();
    // Nothing is left of what it agreed on.
    expect(await server.client.keys('*')).toEqual([]);
    await (await enter(changes)).leave();
  });

  test('has one of two newcomers at the same moment that count credits in two places', async () => {
    const there = {agreed: {...agreed, credits: 'there'}};
    for (let round = 0; round < 5; round++) {
      const ended = await Promise.allSettled([enter(), enter(there)]);
      const members = ended.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []));
      expect([members.length, await present()]).toEqual([1, 1]);
      for (const member of members) await member.leave();
    }
  });

  test('has two members of one process, begun in the same millisecond, and one leaves alone', async () => {
    const now = vi.spyOn(Date, 'now').mockReturnValue(1_000);
    const [first, second] = [await enter(), await enter()];
    now.mockRestore();
    expect(await present()).toBe(2);
    await first.leave();
    expect(await present()).toBe(1);
    await second.leave();
  });

  test.each<[string, Partial<MemberOptions>, string[]]>([
    ['another rate ends the later one', {agreed: {...agreed, rate: '10/s'}}, ['later']],
    ['another key ends no member', {seal: createSeal('another')}, []],
  ])('after a loss of its content has two members that disagree: %s', async (_, changes, expected) => {
    vi.useFakeTimers({toFake: ['setInterval', 'clearInterval']});
    const refused: string[] = [];
    const first = await enter({onRefused: () => void refused.push('earlier')});
    await server.client.flushall();
    await sleep(2);
    const second = await enter({...changes, onRefused: () => void refused.push('later')});
    await threeBeats();
    await expect.poll(present).toBe(2);
    expect([...new Set(refused)]).toEqual(expected);
    for (const member of [first, second]) await member.leave();
  });

  test.each([
    ['of another rate, which the key did not make', {agreed: {...agreed, rate: '10/s'}, proof: 'none'}],
    ['without what members agree on', {}],
  ])('has a planted member %s: it ends no other, which are heard', async (_, planted) => {
    vi.useFakeTimers({toFake: ['setInterval', 'clearInterval']});
    const refused: string[] = [];
    const member = await enter({onRefused: ({message}) => void refused.push(message)});
    await server.client.sadd(`${KEY_PREFIX}:members`, 'planted');
    const entry = {id: 'planted', kind: 'run', startedAt: 0, ...planted};
    await server.client.set(`${KEY_PREFIX}:member:planted`, JSON.stringify(entry));
    await threeBeats();
    expect([refused, member.trouble, member.isHeard]).toEqual([[], undefined, true]);
    await expect(enter()).rejects.toMatchObject({code: 'fleet_refused'});
    await member.leave();
    expect(await fleetStatus(server.url)).toMatchObject({runs: [], unreadable: ['planted']});
  });

  test.each(['evil', 'null', '[]', '"x"', '{}', '{"kind":1}'])(
    'a member %s is skipped, and named',
    async text => {
      const warnings: string[] = [];
      await server.client.sadd(`${KEY_PREFIX}:members`, 'planted');
      await server.client.set(`${KEY_PREFIX}:member:planted`, text);
      const member = await enter({warn: sentence => void warnings.push(sentence)});
      expect([warnings.length, await present()]).toEqual([1, 1]);
      expect(warnings[0]).toContain('can\'t be read in Redis: "planted".');
      expect((await fleetStatus(server.url)).unreadable).toContain('planted');
      await member.leave();
    },
  );

  test('forgets a member that falls silent within 8 s', async () => {
    const member = await enter();
    const keys = await server.client.keys(`${KEY_PREFIX}:*`);
    const left = await Promise.all(keys.map(async key => [key, await server.client.pttl(key)] as const));
    expect(left).toHaveLength(2);
    const all = `${KEY_PREFIX}:members`;
    for (const [key, ms] of left)
      expect([ms > 0, ms <= (key === all ? 86_400_000 : 8_000)], key).toEqual([true, true]);
    await server.client.del(...keys.filter(key => key !== all));
    expect([await present(), await server.client.exists(all)]).toEqual([0, 0]);
    await member.leave();
  });

  test('has the state of now, with each sign of life; a member is not heard while Redis refuses that', async () => {
    vi.useFakeTimers({toFake: ['setInterval', 'clearInterval']});
    let rows = 0;
    const member = await enter({report: () => ({rows})});
    const told = async () => (await listMembers<Member & {rows: number}>(server.client, 'run'))[0]?.rows;
    expect([await told(), member.isHeard]).toEqual([0, true]);
    const beat = async (of: () => unknown, expected: unknown) => {
      vi.advanceTimersByTime(BEAT_MS);
      await expect.poll(of, {timeout: 5_000}).toEqual(expected);
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
