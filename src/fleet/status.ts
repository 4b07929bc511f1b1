import type {RunMember} from './fleet.ts';
import {FleetLimits, KEY_PREFIX, QUEUE_NAME} from './protocol.ts';
import {connectRedis, disconnect, loadPackages} from './redis.ts';
import {listEntries, membersOf} from './roster.ts';
import type {WorkerMember} from './worker/worker.ts';

export interface FleetStatus {
  /** Protocol and endpoint of the fleet; undefined if it has no members. */
  readonly protocol: string | undefined;
  readonly workers: readonly WorkerMember[];
  readonly runs: readonly RunMember[];
  readonly chunks: {readonly waiting: number; readonly active: number};
  /** Milliseconds until calls continue, because the service asked to slow down; otherwise 0. */
  readonly closedMs: number;
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
    const [entries, counts, closedMs] = await Promise.all([
      listEntries(redis),
      queue.getJobCounts('waiting', 'active'),
      new FleetLimits(redis).closedMs(),
    ]);
    const {waiting = 0, active = 0} = counts;
    return {
      protocol: entries[0]?.agreed.protocol,
      workers: membersOf<WorkerMember>(entries, 'worker'),
      runs: membersOf<RunMember>(entries, 'run'),
      chunks: {waiting, active},
      closedMs,
    };
  } finally {
    await queue.close();
    await disconnect(redis);
  }
}
