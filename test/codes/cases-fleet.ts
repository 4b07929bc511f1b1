import {createServer} from 'node:tls';
import {vi} from 'vitest';
import {createSeal} from '../../src/fleet/protocol.ts';
import {Membership} from '../../src/fleet/roster.ts';
import {makeCertificate} from '../support/cert.ts';
import {listen} from '../support/free-port.ts';
import {type RedisProcess, startRedis} from '../support/redis.ts';
import {accountFile, type Cases, type End, type Place, type Way} from './case.ts';

/** Errors that keep a fleet from working, or a member from joining it. */
export const fleetCases: Cases = {
  'fleet_packages 2': async ({command}) => {
    vi.doMock('bullmq', () => {
      throw new Error('not installed');
    });
    try {
      return await command('worker --redis redis://127.0.0.1:1');
    } finally {
      vi.doUnmock('bullmq');
    }
  },
  'redis_certificate 2': async ({command}) => {
    const redis = createServer(makeCertificate(), socket => socket.destroy());
    try {
      return await command(`worker --redis rediss://127.0.0.1:${await listen(redis)}`);
    } finally {
      redis.close();
    }
  },
  'metrics_address 2': withRedis(({command, service}, redis) =>
    command(`worker --redis ${redis.url} --metrics-address ${new URL(service.url).port}`),
  ),
  'redis_eviction 2': withRedis(async ({command}, redis) => {
    await redis.client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    return command(`worker --redis ${redis.url}`);
  }),
  'fleet_refused 2': withRedis(async ({command}, redis) => {
    const other = await Membership.enter(redis.client, {
      ...{kind: 'worker', agreed: {protocol: 'protocol 0 and the endpoint https://other.example'}},
      ...{seal: createSeal('another'), report: () => ({}), onRefused: () => {}},
    });
    const end = await command(`worker --redis ${redis.url}`);
    await other.leave();
    return end;
  }),
  'account_fleet 2': withRedis(async (place, redis) => {
    accountFile(place, 'endpoint: URL\nrate: 9/s\n');
    place.sandbox.write('list.csv', 'ip,email\n192.0.2.1,jo@example.com\n');
    return place.command(
      `run list.csv -o out.csv --ip ip --email email --score none --rate ip=5/s,email=4/s --fleet ${redis.url}`,
    );
  }),
};

function withRedis(work: (place: Place, redis: RedisProcess) => Promise<End>): Way {
  return async place => {
    await using redis = await startRedis();
    return await work(place, redis);
  };
}
