import {type ClientLimits, type OpenedClient, openClient} from '../../client/client.ts';
import {exitCodes, UsageError} from '../../errors.ts';
import {sealingSecret} from '../../fleet/protocol.ts';
import {publicUrl} from '../../fleet/redis.ts';
import {describeUnreadable} from '../../fleet/roster.ts';
import {type FleetStatus, fleetStatus} from '../../fleet/status.ts';
import {parseAddress, serveMetrics} from '../../fleet/worker/metrics.ts';
import {FleetWorker, type WorkerOptions} from '../../fleet/worker/worker.ts';
import {type Endpoint, resolveEndpoint, resolveRedisUrl} from '../../job/endpoint.ts';
import {checkSettings, type RawSettings} from '../../job/parse.ts';
import {durationBetween} from '../../job/setting-types.ts';
import {autoConcurrency} from '../../lookup/concurrency.ts';
import {formatCount, formatDuration, pluralize} from '../../report/format.ts';
import {type Connection, createStrayAnswerWarning, openConnection} from '../../run/open/connection.ts';
import {endpointName} from '../../run/scope.ts';
import {type Console, createConsole, isInteractive} from '../console.ts';
import {readFlag, withoutMissingFlags} from '../job-from-flags.ts';
import {onEndSignals} from '../signals.ts';
import {createTableColumns, fitTable, type TableColumn, terminalWidth} from '../terminal/lines.ts';
import {print, printJson} from '../terminal/printable.ts';

type WorkerFlags = RawSettings & {
  readonly redis?: string;
  readonly lostAfter: string;
  readonly metricsAddress?: string;
};

/** `bulk-enrich worker`: makes calls for a fleet until a signal ends it. */
export async function workerCommand(flags: WorkerFlags): Promise<number> {
  const {redis, lostAfter: _, metricsAddress, ...given} = flags;
  const {concurrency = autoConcurrency.least, ...settings} = checkSettings(
    undefined,
    withoutMissingFlags(given),
  );
  const console = createConsole(settings);
  const redisUrl = demandRedisUrl(redis);
  const lostAfterMs = readFlag('lostAfter', lostAfterRange, flags) as number;
  const address = metricsAddress === undefined ? undefined : parseAddress(metricsAddress);
  const endpoint = resolveEndpoint(settings.endpoint, undefined, process.env, isInteractive(), console);
  const shared = {maxConnections: concurrency, onUnasked: createStrayAnswerWarning(console.warn)};
  const connection = await openConnection(endpoint, {timeoutMs: settings.timeout, ...shared});
  const ending = watchForEnd(console);
  try {
    const worker = await FleetWorker.start({
      redisUrl,
      endpoint: endpointName(endpoint),
      secret: sealingSecret(endpoint, process.env),
      concurrency,
      lostAfterMs,
      clientFor: clientsOf(endpoint, connection, shared),
      log: console.log,
      warn: console.warn,
      onFatal: ending.fail,
    });
    try {
      if (address !== undefined) await serveMetrics(address, worker);
      console.say(`Making calls for the fleet on ${publicUrl(redisUrl)}, at most ${concurrency} at a time.`);
      await ending.ended;
    } finally {
      if (!(await worker.drain())) endUnheard(console);
    }
    return exitCodes.ok;
  } finally {
    ending.forget();
    await connection.close();
  }
}

/** @throws {UsageError} if neither --redis nor the environment gives the URL of the fleet's Redis. */
function demandRedisUrl(given: string | undefined): string {
  const url = resolveRedisUrl(given, '--redis', process.env);
  if (url !== undefined) return url;
  throw new UsageError(
    'no_redis',
    'This needs the Redis of the fleet. Add --redis redis://HOST:PORT, or set BULK_ENRICH_REDIS_URL.',
  );
}

/** Range of --lost-after. In this time, a worker must be able to renew its lock on a chunk several times. */
const lostAfterRange = durationBetween('2s', '1h');

/** Runs with the same timeout share a client. With the embedded service, all runs share one client. */
function clientsOf(
  endpoint: Endpoint,
  connection: Connection,
  shared: ClientLimits,
): WorkerOptions['clientFor'] {
  const clients = new Map<number, OpenedClient>();
  return timeoutMs => {
    if (endpoint.kind === 'embedded') return connection.client;
    const {baseUrl, apiKey} = endpoint;
    const client = clients.get(timeoutMs) ?? openClient({...shared, baseUrl, apiKey, timeoutMs});
    clients.set(timeoutMs, client);
    return client;
  };
}

/** Warns, and ends the process at once: requests that still wait for Redis would keep it alive. */
function endUnheard(console: Console): never {
  console.warn(
    'Redis is away, so the results of the last calls could not be returned. Their runs count them as lost.',
  );
  process.exit(exitCodes.temporary);
}

/** The first signal lets the worker finish its calls in flight. A second signal ends the process immediately. */
function watchForEnd(console: Console) {
  let fail: (error: unknown) => void = () => {};
  let forget = () => {};
  const ended = new Promise<void>((resolve, reject) => {
    fail = reject;
    const stop = () => {
      console.say(
        'Stopping: calls in flight are finished, other values go back to the fleet. Press Ctrl-C again to stop now.',
      );
      resolve();
    };
    forget = onEndSignals(stop, () => process.exit(exitCodes.terminated));
  });
  // Node would end the process if `ended` rejected before it is awaited.
  ended.catch(() => {});
  return {ended, fail, forget};
}

/** `bulk-enrich fleet status`: shows the fleet's workers, runs, chunks and credits. */
export async function fleetStatusCommand(flags: {
  readonly redis?: string;
  readonly json?: boolean;
}): Promise<number> {
  const status = await fleetStatus(demandRedisUrl(flags.redis));
  if (flags.json === true) printJson(status);
  else print('stdout', renderFleet(status, Date.now(), terminalWidth('stdout')));
  return 0;
}

/** `width`: characters of a line. */
export function renderFleet(
  {protocol, workers, runs, unreadable, chunks, closedMs}: FleetStatus,
  now: number,
  width: number,
): string {
  const skipped = unreadable.length === 0 ? '' : `${describeUnreadable(unreadable)}\n`;
  if (protocol === undefined) return `This Redis has neither a worker nor a run.\n${skipped}`;
  const closed =
    closedMs === 0 ? '' : `The service throttles: nothing is sent for ${formatDuration(closedMs)}.\n`;
  return `The fleet is of ${protocol}.
${formatCount(chunks.waiting)} chunks wait, ${formatCount(chunks.active)} are with workers.
${skipped}${closed}
${pluralize(workers.length, 'worker')}
${workers.length === 0 ? '' : fitTable(workerColumns(workers, now), width)}
${pluralize(runs.length, 'run')}
${runs.length === 0 ? '' : fitTable(runColumns(runs, now), width)}
`;
}

function workerColumns(workers: FleetStatus['workers'], now: number): TableColumn[] {
  type Worker = (typeof workers)[number];
  const column = createTableColumns(workers);
  const all = ({calls}: Worker) => Object.values(calls).reduce((sum, each) => sum + each, 0);
  return [
    column('  host', ({host}) => `  ${host}`, {isText: true, shrinksTo: 16}),
    column('process', ({pid}) => String(pid)),
    column('version', ({version}) => version, {leavesAs: 4}),
    column('up for', ({startedAt}) => formatDuration(now - startedAt), {leavesAs: 2}),
    column('in flight', ({inFlight}) => formatCount(inFlight)),
    column('at most', ({concurrency}) => formatCount(concurrency), {leavesAs: 1}),
    column('calls', worker => formatCount(all(worker))),
    column('answered', ({calls}) => formatCount(calls.answered ?? 0), {leavesAs: 3}),
    column('throttled', ({calls}) => formatCount(calls.throttled ?? 0)),
    column('no answer', ({calls}) => formatCount((calls.ambiguous ?? 0) + (calls.not_sent ?? 0))),
    column('clock', ({clockAheadMs}) => `${clockAheadMs} ms`, {leavesAs: 0}),
  ];
}

function runColumns(runs: FleetStatus['runs'], now: number): TableColumn[] {
  const column = createTableColumns(runs);
  return [
    column('  host', ({host}) => `  ${host}`, {isText: true, shrinksTo: 12}),
    column('job', ({job}) => job ?? '-', {isText: true, shrinksTo: 12}),
    column('version', ({version}) => version, {leavesAs: 3}),
    column('up for', ({startedAt}) => formatDuration(now - startedAt), {leavesAs: 1}),
    column('rate', ({rate}) => rate, {shrinksTo: 10}),
    column('rows', ({rows}) => formatCount(rows)),
    column('values out', ({out}) => formatCount(out), {leavesAs: 0}),
    column('calls', ({calls}) => formatCount(calls), {leavesAs: 2}),
    column('credits', ({spent}) => formatCount(spent)),
    column('maybe', ({maybeSpent}) => formatCount(maybeSpent)),
    column('limit', ({limit}) => (limit === null ? 'none' : formatCount(limit))),
  ];
}
