import {pino} from 'pino';
import {createClient} from '../../../src/client/client.ts';
import type {Transport, TransportOptions} from '../../../src/client/http/transport.ts';
import {FleetWorker} from '../../../src/fleet/worker/worker.ts';
import type {Process} from '../world/process.ts';
import {endpoints, keys, REDIS_URL} from './places.ts';

const CONCURRENCY = 4;
const LOST_AFTER_MS = 30_000;

/** A worker of the fleet, as `bulk-enrich worker` would be called; it works until it is killed, or asked to end. */
export async function workerCommand(
  process: Process,
  open: (options: TransportOptions) => Transport,
): Promise<void> {
  const [baseUrl] = endpoints;
  const [apiKey] = keys;
  const worker = await FleetWorker.start({
    redisUrl: REDIS_URL,
    endpoint: baseUrl,
    secret: apiKey,
    concurrency: CONCURRENCY,
    lostAfterMs: LOST_AFTER_MS,
    clientFor: timeoutMs => createClient({baseUrl, apiKey, timeoutMs}, open),
    log: pino({level: 'silent'}),
    onFatal: () => process.end(),
  });
  process.onTerm = () => void worker.drain().then(() => process.end());
}
