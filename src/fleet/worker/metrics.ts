import {once} from 'node:events';
import {createServer, type Server} from 'node:http';
import {systemReason, UsageError} from '../../errors.ts';
import {buildInfo, formatPrometheusText} from '../../report/render/metrics.ts';
import type {FleetQueueState, FleetWorker} from './worker.ts';

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Reads `9464` or `0.0.0.0:9464`. A port without a host means 127.0.0.1. */
export function parseAddress(text: string): Address {
  const match = /^(?:(.+):)?(\d{1,5})$/.exec(text);
  const port = Number(match?.[2]);
  if (match === null || port > 65_535)
    throw new UsageError(
      'settings',
      '--metrics-address: expected a port, or HOST:PORT such as 0.0.0.0:9464.',
    );
  return {host: match[1] ?? '127.0.0.1', port};
}

/** A worker and its fleet, as the pages /metrics, /healthz and /readyz show them. */
export type WatchedWorker = Pick<FleetWorker, 'report' | 'hasRedis' | 'isReady' | 'fleet'>;

interface Page {
  readonly status?: number;
  readonly type?: string;
  readonly text: string;
}

/**
 * Serves `/metrics`, `/healthz` (a liveness probe) and `/readyz` (a readiness probe).
 * @throws {UsageError} if the address can't be used
 */
export async function serveMetrics({host, port}: Address, worker: WatchedWorker): Promise<Server> {
  const server = createServer(async (request, response) => {
    // A scraper may add a query, as Prometheus' `params` do. Only the path counts.
    const path = request.url?.split('?', 1)[0] ?? '';
    const {status = 200, type = 'text/plain', text} = await page(path, worker);
    response.writeHead(status, {'Content-Type': `${type}; charset=utf-8`}).end(text);
  });
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new UsageError(
      'metrics_address',
      `--metrics-address ${host}:${port} can't be used: ${systemReason(error)}.`,
    );
  }
  server.unref();
  return server;
}

async function page(path: string, worker: WatchedWorker): Promise<Page> {
  if (path === '/metrics')
    return {
      type: 'text/plain; version=0.0.4',
      text: workerMetrics(worker, await worker.fleet().catch(() => undefined)),
    };
  // Answers ok even without Redis: the worker waits for Redis by itself, and restarting the worker would not help.
  if (path === '/healthz') return {text: 'ok\n'};
  if (path !== '/readyz') return {status: 404, text: 'Only /metrics, /healthz and /readyz are here.\n'};
  if (worker.isReady) return {text: 'ok\n'};
  return {status: 503, text: worker.hasRedis ? 'The worker is stopping.\n' : 'Redis is away.\n'};
}

/** A worker's counts as Prometheus text, with its view of the fleet. */
export function workerMetrics(
  {report, hasRedis}: Pick<WatchedWorker, 'report' | 'hasRedis'>,
  fleet: FleetQueueState | undefined,
): string {
  const {concurrency, inFlight, chunks, calls} = report;
  return formatPrometheusText([
    buildInfo(),
    ['worker_calls_total', 'Calls made since the worker started, by outcome.', calls, 'outcome'],
    ['worker_chunks_total', 'Chunks of values returned since the worker started.', chunks],
    ['worker_calls_in_flight', 'Calls in flight.', inFlight],
    ['worker_concurrency', 'Calls in flight at most.', concurrency],
    ['worker_redis_up', '1 while the worker has its Redis, else 0.', hasRedis ? 1 : 0],
    [
      'fleet_gate_closed_seconds',
      'How long the whole fleet makes no calls, as the service throttled; 0 while it may.',
      fleet && fleet.closedMs / 1_000,
    ],
    ['fleet_chunks_waiting', 'Chunks of values in Redis that no worker has taken yet.', fleet?.waiting],
  ]);
}
