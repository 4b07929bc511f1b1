import {type FleetStatus, fleetStatus} from '../../fleet/status.ts';
import {count, duration, many, widthOf} from '../terminal/lines.ts';
import {print, printJson} from '../terminal/printable.ts';
import {columnIn, fitted, type TableColumn} from '../terminal/table.ts';
import {demandRedisUrl} from './worker.ts';

/** `bulk-enrich fleet status`: shows the fleet's workers, runs, chunks and credits. */
export async function fleetStatusCommand(flags: {
  readonly redis?: string;
  readonly json?: boolean;
}): Promise<number> {
  const status = await fleetStatus(demandRedisUrl(flags.redis));
  if (flags.json === true) printJson(status);
  else print('stdout', renderFleet(status, Date.now(), widthOf('stdout')));
  return 0;
}

/** The fleet's status as text, with tables of at most `width` characters a line. */
export function renderFleet(
  {protocol, workers, runs, chunks, closedMs}: FleetStatus,
  now: number,
  width: number,
): string {
  if (protocol === undefined) return 'This Redis has neither a worker nor a run.\n';
  const closed = closedMs === 0 ? '' : `The service throttles: nothing is sent for ${duration(closedMs)}.\n`;
  return `The fleet is of ${protocol}.
${count(chunks.waiting)} chunks wait, ${count(chunks.active)} are with workers.
${closed}
${many(workers.length, 'worker')}
${workers.length === 0 ? '' : fitted(workerColumns(workers, now), width)}
${many(runs.length, 'run')}
${runs.length === 0 ? '' : fitted(runColumns(runs, now), width)}
`;
}

function workerColumns(workers: FleetStatus['workers'], now: number): TableColumn[] {
  type Worker = (typeof workers)[number];
  const column = columnIn(workers);
  const all = ({calls}: Worker) => Object.values(calls).reduce((sum, each) => sum + each, 0);
  return [
    column('  host', ({host}) => `  ${host}`, {isText: true, shrinksTo: 16}),
    column('process', ({pid}) => String(pid)),
    column('version', ({version}) => version, {leavesAs: 4}),
    column('up for', ({startedAt}) => duration(now - startedAt), {leavesAs: 2}),
    column('in flight', ({inFlight}) => count(inFlight)),
    column('at most', ({concurrency}) => count(concurrency), {leavesAs: 1}),
    column('calls', worker => count(all(worker))),
    column('answered', ({calls}) => count(calls.answered ?? 0), {leavesAs: 3}),
    column('throttled', ({calls}) => count(calls.throttled ?? 0)),
    column('no answer', ({calls}) => count((calls.ambiguous ?? 0) + (calls.not_sent ?? 0))),
    column('clock', ({clockAheadMs}) => `${clockAheadMs} ms`, {leavesAs: 0}),
  ];
}

function runColumns(runs: FleetStatus['runs'], now: number): TableColumn[] {
  const column = columnIn(runs);
  return [
    column('  host', ({host}) => `  ${host}`, {isText: true, shrinksTo: 12}),
    column('job', ({job}) => job ?? '-', {isText: true, shrinksTo: 12}),
    column('version', ({version}) => version, {leavesAs: 3}),
    column('up for', ({startedAt}) => duration(now - startedAt), {leavesAs: 1}),
    column('rate', ({rate}) => rate, {shrinksTo: 10}),
    column('rows', ({rows}) => count(rows)),
    column('values out', ({out}) => count(out), {leavesAs: 0}),
    column('calls', ({calls}) => count(calls), {leavesAs: 2}),
    column('credits', ({spent}) => count(spent)),
    column('maybe', ({maybeSpent}) => count(maybeSpent)),
    column('limit', ({limit}) => (limit === null ? 'none' : count(limit))),
  ];
}
