import {once} from 'node:events';
import type {AddressInfo} from 'node:net';
import {expect, test} from 'vitest';
import {serveMetrics} from '../../src/cli/worker-metrics.ts';

test('a worker’s figures are at /metrics, whatever the query says, and nowhere else', async () => {
  const report = {concurrency: 4, inFlight: 1, chunks: 2, calls: {answered: 3}, clockAheadMs: 0};
  const server = await serveMetrics({host: '127.0.0.1', port: 0}, () => report);
  const {port} = server.address() as AddressInfo;
  const statusOf = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
  expect(
    await Promise.all(['/metrics', '/metrics?', '/metrics?job=a&x', '/metrics2', '/'].map(statusOf)),
  ).toEqual([200, 200, 200, 404, 404]);
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
});
