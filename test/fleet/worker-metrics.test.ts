import {once} from 'node:events';
import type {AddressInfo} from 'node:net';
import {expect, test} from 'vitest';
import {serveMetrics, type WatchedWorker} from '../../src/fleet/worker/metrics.ts';

const WORKER: WatchedWorker = {
  report: {concurrency: 4, inFlight: 1, chunks: 2, calls: {answered: 3}, clockAheadMs: 0},
  hasRedis: true,
  isReady: true,
  fleet: async () => ({closedMs: 1_500, waiting: 7}),
};

/** Starts the pages of a worker; `get` resolves with the status and the text of one. */
async function pagesOf(worker: WatchedWorker) {
  const server = await serveMetrics({host: '127.0.0.1', port: 0}, worker);
  const {port} = server.address() as AddressInfo;
  return {
    async get(path: string) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return [response.status, await response.text()] as const;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

test('a worker’s figures are at /metrics, whatever the query says, and nowhere else', async () => {
  await using pages = await pagesOf(WORKER);
  const paths = ['/metrics', '/metrics?', '/metrics?job=a&x', '/metrics2', '/'];
  const statuses = await Promise.all(paths.map(async path => (await pages.get(path))[0]));
  expect(statuses).toEqual([200, 200, 200, 404, 404]);
  const [, text] = await pages.get('/metrics');
  for (const line of ['worker_redis_up 1', 'fleet_gate_closed_seconds 1.5', 'fleet_chunks_waiting 7'])
    expect(text).toContain(`bulk_enrich_${line.replace(' ', '{} ')}\n`);
});

test.each([
  ['works', {}, 200, 'ok\n'],
  ['is stopping', {isReady: false}, 503, 'The worker is stopping.\n'],
  ['has no Redis', {isReady: false, hasRedis: false}, 503, 'Redis is away.\n'],
] as const)('a worker that %s says so at /readyz, and is alive', async (_, changes, status, text) => {
  await using pages = await pagesOf({...WORKER, ...changes});
  expect(await pages.get('/readyz')).toEqual([status, text]);
  expect(await pages.get('/healthz')).toEqual([200, 'ok\n']);
});

test('a worker without its Redis has metrics, but not those of the fleet', async () => {
  await using pages = await pagesOf({...WORKER, hasRedis: false, fleet: async () => undefined});
  const [status, text] = await pages.get('/metrics');
  expect([status, text]).toEqual([200, expect.stringContaining('bulk_enrich_worker_redis_up{} 0\n')]);
  expect(text).not.toContain('bulk_enrich_fleet_');
});
