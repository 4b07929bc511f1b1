import {connect, createServer, type Server, type Socket} from 'node:net';
import {setTimeout as sleep} from 'node:timers/promises';
import {Queue, Worker, type WorkerOptions} from 'bullmq';
import type {Redis} from 'ioredis';
import {pino} from 'pino';
import {afterEach, beforeEach, describe, expect, test, vi} from 'vitest';
import {ChunkQueue} from '../../src/fleet/chunk-queue.ts';
import {type Chunk, createSeal, KEY_PREFIX, QUEUE_NAME, sealPurposes} from '../../src/fleet/protocol.ts';
import {connectRedis, loadPackages, RedisIncarnation} from '../../src/fleet/redis.ts';
import {FleetWorker} from '../../src/fleet/worker/worker.ts';
import {held} from '../support/main.ts';
import {lacks} from '../support/real-parts.ts';
import {type RedisProcess, startRedis} from '../support/redis.ts';

const seal = createSeal('a-secret');
const SWEEP_MS = 50;
const answered = {kind: 'answered', status: 200, latencyMs: 1};
const lost = {kind: 'ambiguous', code: 'worker_lost'};

const chunk = (dispatch: number): Chunk => ({
  ...{lane: 'all', share: 1, pace: undefined, timeoutMs: 1_000},
  asks: [{dispatch, operation: 'ip', params: {ip: `198.18.0.${dispatch}`}, cost: 1_000}],
});

describe.skipIf(lacks('redis'))('a run’s chunks', () => {
  let server: RedisProcess;
  let link: Link;
  let redis: Redis;
  let queue: ChunkQueue;
  let worker: Worker<unknown, string> | undefined;
  /** The identifiers of chunks that were carried out. */
  let done: string[];

  beforeEach(async () => {
    server = await startRedis();
    link = await openLink(server.port);
    redis = await connectRedis(`redis://127.0.0.1:${link.port}`, await loadPackages());
    queue = await session();
    done = [];
  });
  afterEach(async () => {
    await queue.close();
    redis.disconnect();
    await worker?.close(true);
    worker = undefined;
    await link.close();
    await server[Symbol.asyncDispose]();
  });

  /** A session of the run. */
  async function session(own = seal, now = Date.now): Promise<ChunkQueue> {
    const opened = new ChunkQueue(redis, await loadPackages(), 'run', own, now, SWEEP_MS);
    await opened.ready();
    return opened;
  }

  const chunkInRedis = () =>
    expect.poll(() => server.client.keys(`${KEY_PREFIX}:${QUEUE_NAME}:run.*`)).toHaveLength(1);

  /** A worker with a way of its own to Redis. */
  function work(
    answer: (id: string) => string | Promise<string> = id => seal.close([answered], sealPurposes.answers(id)),
    options: Partial<WorkerOptions> = {},
  ) {
    worker = new Worker<unknown, string>(
      QUEUE_NAME,
      async ({id = ''}) => {
        done.push(id);
        return answer(id);
      },
      {connection: {port: server.port, maxRetriesPerRequest: null}, prefix: KEY_PREFIX, ...options},
    );
    worker.on('error', () => {});
  }

  const ask = (dispatch: number) => queue.ask(chunk(dispatch));
  /** What a session of the run collects, as it books it. */
  async function collect(from: ChunkQueue, booked: object[] = []): Promise<object[]> {
    await from.collect((ask, attempt) => booked.push({ask, attempt}));
    return booked;
  }
  const settled = async (asked: ReturnType<typeof ask>) =>
    await Promise.race([asked, sleep(SWEEP_MS * 10, 'still waiting')]);

  test('name the life of Redis, which is new after each start, unless Redis keeps an append-only file', async () => {
    const life = new RedisIncarnation(redis);
    const chunkLife = async (dispatch: number) => {
      void ask(dispatch);
      const key = () => server.client.keys(`${KEY_PREFIX}:${QUEUE_NAME}:run.*.${dispatch}`);
      await expect.poll(key, {timeout: 5_000}).toHaveLength(1);
      return JSON.parse((await server.client.hget((await key())[0] ?? '', 'data')) ?? '').life as string;
    };
    const first = await life.name();
    expect([first.length, await chunkLife(1)]).toEqual([40, first]);
    await server.stop();
    await server.start();
    await expect.poll(() => redis.status, {timeout: 5_000}).toBe('ready');
    const second = await life.name();
    expect([second === first, await chunkLife(2)]).toEqual([false, second]);
    await server.client.config('SET', 'appendonly', 'yes');
    expect(await new RedisIncarnation(redis).name()).toBe('append-only');
  });

  test('have their Redis’s life asked for again after a refusal', async () => {
    const info = vi.spyOn(redis, 'info').mockRejectedValueOnce(new Error('LOADING'));
    const life = new RedisIncarnation(redis);
    await expect(life.name()).rejects.toThrow('LOADING');
    expect(await life.name()).toHaveLength(40);
    info.mockRestore();
  });

  test.each([
    ['wait, and go out once when it does', false, answered, 1],
    ['can be had back, unsent', true, {kind: 'not_sent', code: 'withdrawn'}, 0],
  ])('while Redis takes no writes they %s', async (_, isWithdrawn, attempt, carriedOut) => {
    work();
    await server.client.config('SET', 'min-replicas-to-write', '1');
    const asked = ask(1);
    await expect.poll(() => queue.trouble).toContain('NOREPLICAS');
    if (isWithdrawn) await queue.withdraw();
    else expect(await settled(asked)).toBe('still waiting');
    await server.client.config('SET', 'min-replicas-to-write', '0');
    expect(await asked).toMatchObject([attempt]);
    expect(done).toHaveLength(carriedOut);
    if (!isWithdrawn) expect(queue.trouble).toBeUndefined();
  });

  test('while Redis is away they wait, and go out once when it is back', async () => {
    await server.stop();
    await expect.poll(() => redis.status).not.toBe('ready');
    const asked = ask(1);
    expect(await settled(asked)).toBe('still waiting');
    await server.start();
    work();
    expect(await asked).toMatchObject([answered]);
    expect(done).toHaveLength(1);
  });

  test('the run waits for values of the session before while Redis takes no writes', async () => {
    void ask(1);
    await chunkInRedis();
    const next = await session();
    await server.client.config('SET', 'min-replicas-to-write', '1');
    const collected = collect(next);
    expect(await Promise.race([collected, sleep(SWEEP_MS * 4, 'still waiting')])).toBe('still waiting');
    await server.client.config('SET', 'min-replicas-to-write', '0');
    work();
    expect(await collected).toMatchObject([{ask: {dispatch: 1}, attempt: answered}]);
    await next.close();
  });

  test.each([
    ['that its worker lost are in doubt', createSeal('a-secret'), [{ask: {dispatch: 1}, attempt: lost}]],
    ['that were sealed with a key since replaced are left out', createSeal('another'), []],
  ])('values of the session before %s', async (_, own, expected) => {
    work(() => {
      throw new Error('lost');
    });
    expect(await ask(1)).toMatchObject([lost]);
    const next = await session(own);
    expect(await collect(next)).toMatchObject(expected);
    await next.close();
  });

  test('after an add without an answer, the run finds the chunk in Redis', async () => {
    link.mute();
    const asked = ask(1);
    await chunkInRedis();
    link.cut();
    work();
    expect(await asked).toMatchObject([answered]);
    expect(done).toHaveLength(1);
  });

  test('after an add without an answer, a chunk that Redis lost is not carried out twice', async () => {
    work();
    link.mute();
    const asked = ask(1);
    await expect.poll(() => done).toHaveLength(1);
    await server.client.flushall();
    link.cut();
    expect(await asked).toMatchObject([lost]);
    await sleep(SWEEP_MS);
    expect(done).toHaveLength(1);
  });

  test('an answer has the time at which a worker was given it, but for one whose clock is wrong', async () => {
    const from = Date.now();
    let aheadMs = 0;
    let told = 0;
    work(id => {
      told = Date.now() + aheadMs;
      return seal.close([{...answered, boughtAt: told}], sealPurposes.answers(id));
    });
    const boughtAt = async (dispatch: number) => (await ask(dispatch))?.[0]?.boughtAt ?? 0;
    expect([await boughtAt(1), told > 0]).toEqual([told, true]);
    for (const days of [-1, 1]) {
      aheadMs = days * 86_400_000;
      const found = await boughtAt(2);
      expect([found >= from, found <= Date.now()]).toEqual([true, true]);
    }
  });

  test('an answer that the next session of the run collects has the time at which a worker was given it', async () => {
    const hour = 3_600_000;
    const told = Date.now() + hour;
    void ask(1);
    await chunkInRedis();
    await queue.close();
    work(id => seal.close([{...answered, boughtAt: told}], sealPurposes.answers(id)));
    await expect.poll(() => done).toHaveLength(1);
    queue = await session(seal, () => Date.now() + 2 * hour);
    const attempt = {...answered, boughtAt: told};
    expect(await collect(queue)).toMatchObject([{ask: {dispatch: 1}, attempt}]);
  });

  test.each([
    ['none', [], 'own'],
    ['two', [answered, answered], 'own'],
    ['no attempt', [null], 'own'],
    ['a text', 'a', 'own'],
    ['those of another chunk', [answered], 'run.another.1'],
  ])('a chunk of one value has no answer if a worker gives %s', async (_, attempts, place) => {
    work(id => seal.close(attempts, sealPurposes.answers(place === 'own' ? id : place)));
    expect(await ask(1)).toMatchObject([lost]);
  });

  test('what is on its way to Redis when the run stops comes back unsent', async () => {
    const asked = ask(1);
    await queue.withdraw();
    expect(await asked).toMatchObject([{kind: 'not_sent', code: 'withdrawn'}]);
    expect(await server.client.llen(`${KEY_PREFIX}:${QUEUE_NAME}:wait`)).toBe(0);
  });

  test('a chunk whose silent worker lost it is in doubt, though BullMQ puts it back among those that wait', async () => {
    const silent = {maxStalledCount: 0, skipLockRenewal: true, lockDuration: 50, stalledInterval: 50};
    work(() => new Promise(() => {}), silent);
    const asked = ask(1);
    const waiting = () => server.client.llen(`${KEY_PREFIX}:${QUEUE_NAME}:wait`);
    await expect.poll(() => done).toHaveLength(1);
    await expect.poll(waiting).toBe(1);
    await queue.withdraw();
    expect(await asked).toMatchObject([lost]);
  });

  test('a chunk that Redis has from a snapshot is in doubt, though it waits there as if no worker had begun it', async () => {
    void ask(1);
    await expect.poll(() => server.client.llen(`${KEY_PREFIX}:${QUEUE_NAME}:wait`)).toBe(1);
    await server.client.save();
    work();
    await expect.poll(() => done).toHaveLength(1);
    await Promise.all([worker?.close(), queue.close()]);
    await server.stop();
    await server.start();
    await expect.poll(() => redis.status, {timeout: 5_000}).toBe('ready');
    queue = await session();
    expect(await collect(queue)).toMatchObject([{ask: {dispatch: 1}, attempt: lost}]);
  });

  test('each chunk of the session before is booked as it comes, whatever others take', async () => {
    const {gate, letGo} = held();
    const answer = async (id: string) => {
      if (id.endsWith('.2')) await gate;
      return seal.close([answered], sealPurposes.answers(id));
    };
    work(answer, {concurrency: 2});
    void ask(1);
    void ask(2);
    await expect.poll(() => done).toHaveLength(2);
    const next = await session();
    const booked: object[] = [];
    const collected = collect(next, booked);
    await expect.poll(() => booked).toMatchObject([{ask: {dispatch: 1}, attempt: answered}]);
    letGo();
    expect(await collected).toHaveLength(2);
    await next.close();
  });

  test('a chunk of the session before that could not be booked stays in Redis', async () => {
    const next = async () => {
      await queue.close();
      queue = await session();
    };
    void ask(1);
    await chunkInRedis();
    await next();
    work();
    // One that no worker has begun is taken back, with nothing to book.
    await expect.poll(() => done).toHaveLength(1);
    const collected = queue.collect(() => {
      throw new Error('full');
    });
    await expect(collected).rejects.toThrow('full');
    await next();
    expect(await collect(queue)).toHaveLength(1);
  });

  test('a chunk that two looks in a row do not find is lost, and none that is there between them', async () => {
    const {getJobState} = Queue.prototype;
    // By job: a queue of the test before may still look for its own.
    const looks = new Map<string, number>();
    let isThere = (look: number) => look % 2 === 0;
    const spy = vi.spyOn(Queue.prototype, 'getJobState').mockImplementation(async function (this: Queue, id) {
      const look = (looks.get(id) ?? 0) + 1;
      looks.set(id, look);
      return isThere(look) ? await getJobState.call(this, id) : 'unknown';
    });
    const asked = ask(1);
    await expect.poll(() => Math.max(...looks.values()), {timeout: 30_000}).toBeGreaterThan(6);
    expect(await settled(asked)).toBe('still waiting');
    isThere = () => false;
    expect(await asked).toMatchObject([lost]);
    spy.mockRestore();
  });

  test('answers stay in Redis for a second, until the ledger has them, and go then or with the run', async () => {
    vi.useFakeTimers({toFake: ['setInterval', 'clearInterval']});
    const own = new ChunkQueue(redis, await loadPackages(), 'own', seal, Date.now);
    const left = async () => (await server.client.keys(`${KEY_PREFIX}:${QUEUE_NAME}:own.*`)).length;
    await own.ready();
    work();
    await own.ask(chunk(1));
    vi.advanceTimersByTime(1_000);
    expect(await collect(own)).toHaveLength(1);
    vi.advanceTimersByTime(1_000);
    await expect.poll(left).toBe(0);
    await own.ask(chunk(2));
    vi.useRealTimers();
    expect(await left()).toBe(1);
    await own.close();
    expect(await left()).toBe(0);
  });

  test('a worker makes the calls of a chunk with its time limit, in the share of its calls, and counts them', async () => {
    const limits: number[] = [];
    const inFlight = {now: 0, most: 0};
    const member = await FleetWorker.start({
      ...{redisUrl: server.url, endpoint: 'https://api.example.com', secret: 'a-secret'},
      ...{concurrency: 8, lostAfterMs: 2_000, log: pino({level: 'silent'})},
      clientFor(timeoutMs) {
        limits.push(timeoutMs);
        return {
          async send(_, {ip = ''}) {
            inFlight.now += 1;
            inFlight.most = Math.max(inFlight.most, inFlight.now);
            await sleep(1);
            inFlight.now -= 1;
            const code = ip.endsWith('.3') ? 'odd' : undefined;
            return (code === undefined ? answered : {...answered, kind: 'rejected', code}) as never;
          },
        };
      },
      onFatal: () => expect.unreachable(),
    });
    const asks = [1, 2, 3, 4, 5, 6].flatMap(dispatch => chunk(dispatch).asks);
    const attempts = await queue.ask({...chunk(1), share: 0.25, timeoutMs: 1_234, asks});
    const kinds = asks.map(({dispatch}) => (dispatch === 3 ? 'rejected' : 'answered'));
    expect(attempts?.map(({kind}) => kind)).toEqual(kinds);
    expect([limits, inFlight.most]).toEqual([[1_234], 2]);
    expect(member.report).toMatchObject({inFlight: 0, chunks: 1, calls: {answered: 5, rejected: 1}});
    expect([member.isReady, await member.fleet()]).toEqual([true, {closedMs: 0, waiting: 0}]);
    expect([await member.drain(), member.isReady]).toEqual([true, false]);
  });
});

interface Link {
  readonly port: number;
  /** Nothing comes back any more. */
  mute(): void;
  /** All connections break; those that come next are heard. */
  cut(): void;
  close(): Promise<void>;
}

/** A way to a port that can be muted and cut. */
async function openLink(port: number): Promise<Link> {
  const sockets = new Set<readonly [near: Socket, far: Socket]>();
  const server: Server = createServer(near => {
    const far = connect(port, '127.0.0.1');
    const pair = [near, far] as const;
    sockets.add(pair);
    near.pipe(far);
    far.pipe(near);
    for (const socket of pair) socket.on('error', () => {}).on('close', () => end(pair));
  });
  const end = (pair: readonly [Socket, Socket]) => {
    sockets.delete(pair);
    for (const socket of pair) socket.destroy();
  };
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as {port: number}).port,
    mute() {
      for (const [near, far] of sockets) far.unpipe(near).resume();
    },
    cut() {
      for (const pair of sockets) end(pair);
    },
    close() {
      for (const pair of sockets) end(pair);
      return new Promise(resolve => server.close(() => resolve()));
    },
  };
}
