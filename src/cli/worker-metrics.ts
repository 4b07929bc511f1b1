import {once} from 'node:events';
import {createServer, type Server} from 'node:http';
import {systemReason, UsageError} from '../errors.ts';
import type {WorkerReport} from '../fleet/worker/worker.ts';
import {by, familyText, gauge} from '../report/render/prometheus.ts';

interface Address {
  readonly host: string;
  readonly port: number;
}

/** `9464`, or `0.0.0.0:9464`. */
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

/**
 * A worker's figures at `/metrics`, for Prometheus.
 *
 * @throws {UsageError} when the address can't be listened on.
 */
export async function serveMetrics({host, port}: Address, report: () => WorkerReport): Promise<Server> {
  const server = createServer((request, response) => {
    // A scraper may add a query, as Prometheus' `params` do.
    if (request.url?.split('?', 1)[0] !== '/metrics') {
      response.writeHead(404).end('Only /metrics is here.\n');
      return;
    }
    response.setHeader('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
    response.end(workerMetrics(report()));
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

/** A worker's counts as Prometheus text. */
export function workerMetrics({concurrency, inFlight, chunks, calls}: WorkerReport): string {
  const families = [
    {
      name: 'bulk_enrich_worker_calls_total',
      help: 'Calls made since the worker started, by what became of them.',
      type: 'counter' as const,
      samples: by('outcome', calls),
    },
    {
      name: 'bulk_enrich_worker_chunks_total',
      help: 'Chunks of values handed back since the worker started.',
      type: 'counter' as const,
      samples: [[{}, chunks] as const],
    },
    gauge('worker_calls_in_flight', 'Calls in flight.', inFlight),
    gauge('worker_concurrency', 'Calls in flight at most.', concurrency),
  ];
  return families
    .filter(({samples}) => samples.length > 0)
    .map(family => familyText(family, {}))
    .join('');
}
