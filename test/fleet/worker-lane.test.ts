import {setTimeout as sleep} from 'node:timers/promises';
import {Redis} from 'ioredis';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import type {Attempt} from '../../src/client/attempt.ts';
import {type Chunk, FleetLimits, type PaceLease} from '../../src/fleet/protocol.ts';
import {WorkerLane} from '../../src/fleet/worker/worker-lane.ts';
import {lacks} from '../support/real-parts.ts';
import {type RedisProcess, startRedis} from '../support/redis.ts';
import {whole} from '../support/whole.ts';

const told = {status: 200, latencyMs: 1, pace: {limits: {}}};
const answered: Attempt = {...told, kind: 'answered', data: {}, unknownFields: [], wrongTypes: []};
const throttled = (retryAfter?: string): Attempt => ({
  ...{kind: 'throttled', status: 429, code: 'http_429', latencyMs: 1, pace: {retryAfter, limits: {}}},
});

const ANSWERING = {send: async () => answered};

/** Answers each call, and notes when. */
const noting = (sent: number[]) => ({
  async send() {
    sent.push(performance.now());
    return answered;
  },
});

function chunkOf(values: number, pace: Chunk['pace']): Chunk {
  const ask = (dispatch: number) =>
    ({dispatch, params: {ip: `v${dispatch}`}, operation: 'ip', cost: 1_000}) as const;
  const asks = Array.from({length: values}, (_, n) => ask(n));
  return {lane: 'all', share: 1, pace, timeoutMs: 1_000, asks};
}

describe.skipIf(lacks('redis'))('the lanes of two workers', () => {
  let server: RedisProcess;
  const open: Redis[] = [];
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(async () => {
    for (const redis of open) redis.disconnect();
    await server[Symbol.asyncDispose]();
  });

  /** A lane as another process would have it, on connections of its own. */
  function lane(name: string, slots = 100): WorkerLane {
    const redis = new Redis(server.url, {maxRetriesPerRequest: null}).on('error', () => {});
    open.push(redis);
    return new WorkerLane(name, slots, new FleetLimits(redis));
  }

  test('send no more than the rate together, in any second', async () => {
    const sent: number[] = [];
    const client = noting(sent);
    // 100 calls a second: one permit each 10.2 ms.
    const pace = {permits: 1, minTimeMs: 1_000 / 98};
    const lanes = [lane('paced'), lane('paced')];
    await Promise.all(lanes.map(each => each.ask(chunkOf(75, pace), client)));
    expect(sent).toHaveLength(150);
    sent.sort((a, b) => a - b);
    const busiest = Math.max(...sent.map((from, n) => sent.slice(n).filter(at => at < from + 1_000).length));
    expect(busiest).toBeLessThanOrEqual(100);
  });

  test('continue after Redis refused writes', async () => {
    await server.client.config('SET', 'min-replicas-to-write', '1');
    const sent: number[] = [];
    const asked = lane('refused').ask(chunkOf(3, {permits: 1, minTimeMs: 5}), noting(sent));
    const refused = /(?:failed|rejected)_calls=[1-9]/;
    await expect.poll(() => server.client.info('commandstats'), {timeout: 5_000}).toMatch(refused);
    await server.client.config('SET', 'min-replicas-to-write', '0');
    await asked;
    expect(sent).toHaveLength(3);
  });

  test.each([
    ['paced', {permits: 1, minTimeMs: 20}],
    ['without a limit', undefined],
  ])(
    'one is throttled, %s: the other gives back what it has not sent, and tells for how long',
    async (_, pace) => {
      const [first, second] = [lane('gated'), lane('gated')];
      const sentBySecond: number[] = [];
      const waiting = pace && second.ask(chunkOf(50, pace), noting(sentBySecond));
      const [refused] = await first.ask(chunkOf(1, pace), {send: async () => throttled('2')});
      const closedAt = performance.now();
      expect(refused).toMatchObject({kind: 'throttled'});
      const ended = await (waiting ?? second.ask(chunkOf(50, pace), ANSWERING));
      const back = ended.filter(({kind}) => kind === 'not_sent');
      expect(back.length).toBeGreaterThan(40);
      for (const attempt of back) {
        expect(attempt).toMatchObject({code: 'fleet_gate'});
        expect('closedMs' in attempt && attempt.closedMs).toBeGreaterThan(1_000);
      }
      // One permit may have been on its way.
      expect(sentBySecond.filter(at => at > closedAt).length).toBeLessThanOrEqual(1);
      await server.client.del('bulk-enrich:gate');
    },
  );

  test('several are throttled: the longest time counts for all', async () => {
    const redis = new Redis(server.url);
    const gate = new FleetLimits(redis);
    await gate.close(60_000);
    await gate.close(500);
    const closedMs = await gate.closedMs();
    await gate.close(90_000);
    const longerMs = await gate.closedMs();
    await server.client.del('bulk-enrich:gate');
    redis.disconnect();
    expect([closedMs > 50_000, longerMs > 80_000]).toEqual([true, true]);
  });

  test('continue when Redis is restarted empty', async () => {
    const forgetful = lane('forgotten');
    const ask = () => forgetful.ask(chunkOf(3, {permits: 1, minTimeMs: 10}), ANSWERING);
    expect(await ask()).toMatchObject(Array(3).fill(answered));
    await server.stop();
    await server.start();
    expect(await ask()).toMatchObject(Array(3).fill(answered));
  });

  test('leave no pace in Redis for longer than it lasts', async () => {
    const redis = new Redis(server.url);
    const leases = [1, 2, 3].map(() => new FleetLimits(redis).lease('lasting', 1_000));
    const [first, second, third] = (await Promise.all(leases)).map(({inMs}) => inMs);
    expect(first).toBe(0);
    for (const [n, inMs = 0] of [second, third].entries()) {
      const ms = 1_000 * (n + 1);
      expect([inMs > ms - 500, inMs <= ms], String(inMs)).toEqual([true, true]);
    }
    expect(await redis.pttl('bulk-enrich:pace:lasting')).toBeLessThanOrEqual(3_000);
    redis.disconnect();
  });

  test('a drained worker gives waiting values back', async () => {
    const draining = lane('draining');
    const asked = draining.ask(chunkOf(10, {permits: 1, minTimeMs: 500}), ANSWERING);
    draining.drain();
    const codes = (await asked).map(attempt => ('code' in attempt ? attempt.code : attempt.kind));
    expect(codes.filter(code => code === 'worker_stopping').length).toBeGreaterThanOrEqual(9);
  });

  test('a drained worker without a limit ends its calls in flight, and gives back what it has not sent', async () => {
    const draining = lane('unlimited', 1);
    const send = async () => {
      draining.drain();
      return answered;
    };
    const asked = draining.ask(chunkOf(4, undefined), {send});
    // With a time, the run takes it for a closed gate, not for a fault.
    const back = {kind: 'not_sent', code: 'worker_stopping', closedMs: 0};
    expect(await asked).toMatchObject([answered, back, back, back]);
  });
});

describe('the lane of a worker', () => {
  /** A lane that gets each lease at once. Counts the leases, and notes for how long the gate is closed. */
  function laneBehind(limits: Partial<FleetLimits>, took = () => {}) {
    const told = {leases: 0, closed: [] as number[]};
    const given = whole<FleetLimits>({
      closedMs: async () => 0,
      close: async ms => void told.closed.push(ms),
      async lease(): Promise<PaceLease> {
        told.leases += 1;
        took();
        return {closedMs: 0, inMs: 0};
      },
      ...limits,
    });
    return {lane: new WorkerLane('all', 100, given), told};
  }
  const PACE = {permits: 1, minTimeMs: 1_000};

  test.each([
    ['that gives no time, for half a second', undefined, 500],
    ['for as long as it says', '2', 2_000],
    ['that says a day, for an hour', '86400', 3_600_000],
  ])('closes the gate after a throttled answer %s', async (_, retryAfter, ms) => {
    const {lane, told} = laneBehind({});
    await lane.ask(chunkOf(1, PACE), {send: async () => throttled(retryAfter)});
    expect(told.closed).toEqual([ms]);
  });

  test('loses no answer of a chunk if Redis refuses to close the gate', async () => {
    const {lane} = laneBehind({close: () => Promise.reject(new Error('OOM'))});
    const send = async (_: string, {ip}: Readonly<Record<string, string>>) =>
      ip === 'v0' ? throttled('2') : answered;
    const attempts = await lane.ask(chunkOf(2, undefined), {send});
    expect(attempts.map(({kind}) => kind)).toEqual(['throttled', 'answered']);
  });

  test('sends again once the gate is open', async () => {
    let closedMs = 1_000;
    const {lane} = laneBehind({lease: async () => ({closedMs, inMs: 0})});
    const ask = () => lane.ask(chunkOf(1, PACE), ANSWERING);
    expect(await ask()).toMatchObject([{kind: 'not_sent', code: 'fleet_gate', closedMs: 1_000}]);
    closedMs = 0;
    expect(await ask()).toMatchObject([answered]);
  });

  test('keeps to the pace of the latest chunk', async () => {
    const {lane, told} = laneBehind({});
    await lane.ask(chunkOf(1, PACE), ANSWERING);
    await lane.ask(chunkOf(4, {...PACE, permits: 4}), ANSWERING);
    expect(told.leases).toBe(2);
  });

  test.each([
    ['its second', 14_000, false],
    ['its second', 20, true],
    ['its first', 20, true],
  ])('that gets %s lease 60 ms late gives it up, at %d ms apart: %s', async (nth, minTimeMs, isGivenUp) => {
    let isBusy = false;
    // Keeps the event loop busy, as other work of a worker does.
    const {lane, told} = laneBehind({}, () => {
      const end = performance.now() + (isBusy ? 60 : 0);
      isBusy = false;
      while (performance.now() < end);
    });
    const ask = () => lane.ask(chunkOf(1, {permits: 1, minTimeMs}), ANSWERING);
    if (nth === 'its second') await ask();
    isBusy = true;
    await ask();
    expect(told.leases > (nth === 'its second' ? 2 : 1)).toBe(isGivenUp);
  });

  test('takes leases from a Redis that answers more slowly than before', async () => {
    let delayMs = 0;
    const lease = async (): Promise<PaceLease> => {
      await sleep(delayMs);
      return {closedMs: 0, inMs: 0};
    };
    const {lane} = laneBehind({lease});
    const ask = () => lane.ask(chunkOf(1, {permits: 1, minTimeMs: 20}), ANSWERING);
    await ask();
    delayMs = 60;
    expect(await ask()).toMatchObject([answered]);
  });
});
