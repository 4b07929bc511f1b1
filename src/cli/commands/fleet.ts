import {type FleetStatus, fleetStatus} from '../../fleet/status.ts';
import {count, duration} from '../terminal/lines.ts';
import {print, printJson} from '../terminal/printable.ts';
import {table} from '../terminal/table.ts';
import {demandRedisUrl} from './worker.ts';

/** `bulk-enrich fleet status`: who is there, what waits, and what it has cost. */
export async function fleetStatusCommand(flags: {
  readonly redis?: string;
  readonly json?: boolean;
}): Promise<number> {
  const status = await fleetStatus(demandRedisUrl(flags.redis));
  if (flags.json === true) printJson(status);
  else print('stdout', render(status));
  return 0;
}

function render({identity, workers, runs, chunks, heldMs}: FleetStatus): string {
  if (identity === undefined) return 'This Redis has neither a worker nor a run.\n';
  const held = heldMs === 0 ? '' : `The service throttles: nothing is sent for ${duration(heldMs)}.\n`;
  return `The fleet is ${identity}.
${count(chunks.waiting)} chunks wait, ${count(chunks.active)} are with workers.
${held}
${count(workers.length)} workers
${workers.length === 0 ? '' : table(workerRows(workers))}
${count(runs.length)} runs
${runs.length === 0 ? '' : table(runRows(runs))}
`;
}

function workerRows(workers: FleetStatus['workers']): string[][] {
  return [
    [
      '',
      'process',
      'up for',
      'in flight',
      'at most',
      'calls',
      'answered',
      'throttled',
      'without answer',
      'clock',
    ],
    ...workers.map(({host, pid, startedAt, inFlight, concurrency, calls, clockAheadMs}) => {
      const {answered = 0, throttled = 0, ambiguous = 0, not_sent: unsent = 0} = calls;
      const all = Object.values(calls).reduce((sum, each) => sum + each, 0);
      const figures = [inFlight, concurrency, all, answered, throttled, ambiguous + unsent].map(count);
      return [`  ${host}`, String(pid), duration(Date.now() - startedAt), ...figures, `${clockAheadMs} ms`];
    }),
  ];
}

function runRows(runs: FleetStatus['runs']): string[][] {
  return [
    ['', 'job', 'up for', 'rate', 'rows', 'values out', 'calls', 'credits', 'maybe', 'limit'],
    ...runs.map(({host, job, startedAt, rate, rows, out, calls, spent, maybeSpent, limit}) => [
      `  ${host}`,
      job ?? '-',
      duration(Date.now() - startedAt),
      rate,
      ...[rows, out, calls, spent, maybeSpent].map(count),
      limit === null ? 'none' : count(limit),
    ]),
  ];
}
