import {FleetLimits, KEY_PREFIX, QUEUE_NAME} from './protocol.ts';
import {connectRedis, disconnect, loadPackages} from './redis.ts';
import {type Entry, listEntries, membersOf, type RunMember, type WorkerMember} from './roster.ts';

export interface FleetStatus {
  /** Protocol and endpoint of the fleet; undefined if it has no members. */
  readonly protocol: string | undefined;
  readonly workers: readonly WorkerMember[];
  readonly runs: readonly RunMember[];
  /** Ids of members that can't be read, or lack a part of what they report. */
  readonly unreadable: readonly string[];
  readonly chunks: {readonly waiting: number; readonly active: number};
  /** Milliseconds until calls continue, because the service asked to slow down; otherwise 0. */
  readonly closedMs: number;
}

/** Fields of a member that a status shows, by type. */
const shown = {
  worker: {number: ['concurrency', 'inFlight', 'chunks', 'clockAheadMs'], string: []},
  run: {number: ['out', 'rows', 'calls', 'spent', 'maybeSpent'], string: ['rate']},
} as const;

function isComplete(entry: Entry): boolean {
  if (!Object.hasOwn(shown, entry.kind)) return false;
  const {number, string} = shown[entry.kind];
  const are = (type: string, names: readonly string[]) =>
    names.every(name => typeof Reflect.get(entry, name) === type);
  const calls: unknown = Reflect.get(entry, 'calls');
  return (
    are('string', ['id', 'host', 'version', ...string]) &&
    are('number', ['pid', 'startedAt', ...number]) &&
    (entry.kind === 'run' || Object(calls) === calls)
  );
}

/** @throws as {@link loadPackages} and {@link connectRedis}. */
export async function fleetStatus(redisUrl: string): Promise<FleetStatus> {
  const packages = await loadPackages();
  const redis = await connectRedis(redisUrl, packages);
  const queue = new packages.bullmq.Queue(QUEUE_NAME, {
    connection: redis,
    prefix: KEY_PREFIX,
    skipMetasUpdate: true,
  });
  try {
    const unreadable: string[] = [];
    const [all, counts, closedMs] = await Promise.all([
      listEntries(redis, unreadable),
      queue.getJobCounts('waiting', 'active'),
      new FleetLimits(redis).closedMs(),
    ]);
    const {waiting = 0, active = 0} = counts;
    const entries = all.filter(isComplete);
    unreadable.push(...all.filter(entry => !isComplete(entry)).map(({id}) => String(id)));
    return {
      protocol: entries[0]?.agreed.protocol,
      workers: membersOf<WorkerMember>(entries, 'worker'),
      runs: membersOf<RunMember>(entries, 'run'),
      unreadable,
      chunks: {waiting, active},
      closedMs,
    };
  } finally {
    await queue.close();
    await disconnect(redis);
  }
}
