import {publicUrl} from '../../fleet/redis.ts';
import {fleetStatus} from '../../fleet/status.ts';
import {resolveRedisUrl} from '../../job/secrets/redis-url.ts';
import {count} from '../terminal/lines.ts';
import {type Check, failure, passed, warning} from './check.ts';

/** Checks the fleet that a run would use; empty if the run would make its calls itself. */
export async function checkFleet(given: string | undefined): Promise<Check[]> {
  try {
    const url = resolveRedisUrl(given, '--fleet', process.env);
    return url === undefined ? [] : [await checkMembers(url, given)];
  } catch (error) {
    return [failure('fleet', error)];
  }
}

async function checkMembers(url: string, given: string | undefined): Promise<Check> {
  const {protocol, workers} = await fleetStatus(url);
  if (workers.length === 0)
    return warning(
      'fleet',
      `Redis at ${publicUrl(url)} answers, but no worker is running: bulk-enrich worker${given === undefined ? '' : ` --redis ${publicUrl(url)}`}`,
    );
  const calls = workers.reduce((sum, {concurrency}) => sum + concurrency, 0);
  return passed(
    'fleet',
    `${count(workers.length)} workers on ${publicUrl(url)} (${protocol ?? 'of unknown version'}), ${count(calls)} calls at once`,
  );
}
