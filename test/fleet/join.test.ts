import {expect, test} from 'vitest';
import {Fleet} from '../../src/fleet/fleet.ts';
import {PREFIX} from '../../src/fleet/protocol.ts';
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
