import {EventEmitter} from 'node:events';
import type {Redis} from 'ioredis';
import {expect, test} from 'vitest';
import {Snapshot} from '../../src/fleet/worker/snapshot.ts';

const UP_SECONDS = 100;

/** A Redis that keeps snapshots, or a log of all writes, and has been up for a while. */
class RestartingRedis extends EventEmitter {
  startedAt = 10_000;
  readonly #keepsLog: boolean;

  constructor(keepsLog = false) {
    super();
    this.#keepsLog = keepsLog;
  }

  async info(section: string): Promise<string> {
    return section === 'persistence'
      ? `aof_enabled:${Number(this.#keepsLog)}\r\n`
      : `uptime_in_seconds:${UP_SECONDS}\r\n`;
  }

  async time(): Promise<[string, string]> {
    return [String(this.startedAt + UP_SECONDS), '0'];
  }

  restart(): void {
    this.startedAt += 1_000;
    this.emit('close');
  }
}

test('a worker takes no chunk out of a snapshot for a new one, however often Redis restarts', async () => {
  const redis = new RestartingRedis();
  const snapshot = new Snapshot(redis as unknown as Redis);
  const addedSecondsAfterStart = async (seconds: number) =>
    await snapshot.mayHold((redis.startedAt + seconds) * 1_000);
  for (const life of [1, 2, 3]) {
    expect([await addedSecondsAfterStart(-10), await addedSecondsAfterStart(10)], `life ${life}`).toEqual([
      true,
      false,
    ]);
    redis.restart();
  }
});

test('a chunk from before the start of a Redis that logs all writes is carried out: it was never lost', async () => {
  const redis = new RestartingRedis(true);
  const snapshot = new Snapshot(redis as unknown as Redis);
  expect(await snapshot.mayHold((redis.startedAt - 10) * 1_000)).toBe(false);
});

test('a worker whose first look at Redis was refused looks again with the next chunk', async () => {
  const redis = new RestartingRedis();
  const info = redis.info.bind(redis);
  redis.info = () => Promise.reject(new Error('BUSY Redis is busy running a script'));
  const snapshot = new Snapshot(redis as unknown as Redis);
  const added = (redis.startedAt + 10) * 1_000;
  await expect(snapshot.mayHold(added)).rejects.toThrow('BUSY');
  redis.info = info;
  expect(await snapshot.mayHold(added)).toBe(false);
});
