import type {Job} from '../../job/job.ts';
import type {Rate} from '../../job/values.ts';
import type {LaneSettings} from '../../lookup/outlet.ts';
import type {Operation} from '../../operations/table.ts';

/** Calls in flight at most, where nobody says. */
export const DEFAULT_CONCURRENCY = 16;

/** A live service's limits are unknown, so it is asked gently unless told otherwise. */
const LIVE_RATE: Rate = {count: 20, perMs: 1_000};

/** The rate of operations that have none of their own. */
export function sharedRate({settings, endpoint}: Job): Rate | 'unlimited' {
  return settings.rate?.all ?? (endpoint.kind === 'embedded' ? 'unlimited' : LIVE_RATE);
}

/** One lane for all operations, or one each where they have rates of their own; the slots are shared out. */
export function lanesOf(job: Job, operations: readonly Operation[]): LaneSettings[] {
  const {rate, concurrency = DEFAULT_CONCURRENCY} = job.settings;
  const rest = sharedRate(job);
  const shared = operations.filter(name => rate?.[name] === undefined);
  const lanes: Omit<LaneSettings, 'concurrency'>[] = operations
    .filter(name => rate?.[name] !== undefined)
    .map(name => ({name, operations: [name], rate: rate?.[name] ?? rest}));
  if (shared.length > 0) lanes.push({name: 'all', operations: shared, rate: rest});
  const slots = Math.max(1, Math.floor(concurrency / Math.max(1, lanes.length)));
  return lanes.map(lane => ({...lane, concurrency: slots}));
}
