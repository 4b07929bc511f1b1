import type {Job} from '../../job/job.ts';
import type {Rate} from '../../job/setting-types.ts';
import type {LaneSettings} from '../../lookup/call.ts';
import {perSecond} from '../../lookup/pace/rate-controller.ts';
import type {Operation} from '../../operations/table.ts';

/** Default maximum of calls in flight. */
export const DEFAULT_CONCURRENCY = 16;

/** Default rate of a live service, whose limits are unknown. */
const LIVE_RATE: Rate = {count: 20, perMs: 1_000};

/** Rate that operations share: the job's, else the account's, else the default. Never higher than the account's. */
export function sharedRate({settings, endpoint}: Job, account: Limited): Rate | 'unlimited' {
  const otherwise = account?.rate ?? (endpoint.kind === 'embedded' ? 'unlimited' : LIVE_RATE);
  return atMost(settings.rate?.all ?? otherwise, account);
}

type Limited = {readonly rate?: Rate | undefined} | undefined;

function atMost(rate: Rate | 'unlimited', account: Limited): Rate | 'unlimited' {
  return account?.rate !== undefined && perSecond(account.rate) < perSecond(rate) ? account.rate : rate;
}

/**
 * A lane for each operation with its own rate, and one for all others. They share the calls in flight equally.
 * Together their rates are at most the account's.
 */
export function planLanes(job: Job, operations: readonly Operation[], account: Limited): LaneSettings[] {
  const {rate, concurrency = DEFAULT_CONCURRENCY} = job.settings;
  const rest = sharedRate(job, account);
  const shared = operations.filter(name => rate?.[name] === undefined);
  const lanes: Omit<LaneSettings, 'concurrency'>[] = operations
    .filter(name => rate?.[name] !== undefined)
    .map(name => ({name, operations: [name], rate: atMost(rate?.[name] ?? rest, account)}));
  if (shared.length > 0) lanes.push({name: 'all', operations: shared, rate: rest});
  const slots = Math.max(1, Math.floor(concurrency / Math.max(1, lanes.length)));
  return within(account?.rate, lanes).map(lane => ({...lane, concurrency: slots}));
}

/** Lowers the rates by one factor, if their sum exceeds `limit`. A shorter window than the limit's stays. */
function within<Lane extends {readonly rate: Rate | 'unlimited'}>(
  limit: Rate | undefined,
  lanes: readonly Lane[],
): readonly Lane[] {
  const sum = lanes.reduce((all, {rate}) => all + perSecond(rate), 0);
  if (limit === undefined || lanes.length < 2 || sum <= perSecond(limit)) return lanes;
  return lanes.map(lane => {
    const perMs = lane.rate === 'unlimited' ? limit.perMs : Math.min(lane.rate.perMs, limit.perMs);
    const count = (perSecond(lane.rate) * perSecond(limit) * perMs) / (sum * 1_000);
    const rate = count < 1 ? {count: 1, perMs: perMs / count} : {count: Math.floor(count), perMs};
    return {...lane, rate};
  });
}
