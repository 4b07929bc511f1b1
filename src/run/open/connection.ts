import {type ClientLimits, type OpenedClient, openClient} from '../../client/client.ts';
import {readIfFile} from '../../disk/path.ts';
import type {Endpoint} from '../../job/endpoint.ts';
import type {Job} from '../../job/job.ts';
import type {Rate} from '../../job/setting-types.ts';
import type {AnswerStore} from '../../ledger/answers/store.ts';
import type {ValidityJudge} from '../../ledger/answers/validity.ts';
import type {Ledger} from '../../ledger/run/ledger.ts';
import type {LaneSettings, ValueTurns} from '../../lookup/call.ts';
import {autoConcurrency} from '../../lookup/concurrency.ts';
import {perSecond} from '../../lookup/rate-limit.ts';
import type {Operation} from '../../operations/table.ts';
import {pluralize} from '../../report/format.ts';
import {say, setting} from '../../sentence.ts';
import type {RunIo} from '../io.ts';
import type {RunContext} from '../stop.ts';
import type {AccountLimits} from './account.ts';

export interface Connection {
  readonly client: OpenedClient;
  close(): Promise<void>;
}

/** Everything that lookups need, on this machine or in a fleet. Operations in one lane share a rate. */
export interface LookupResources {
  readonly connection: Connection;
  readonly account: AccountLimits | undefined;
  readonly ledger: Ledger;
  readonly lanes: readonly LaneSettings[];
  readonly store: AnswerStore;
  readonly judge: ValidityJudge;
  readonly turns?: ValueTurns | undefined;
}

/** Connects to an endpoint. Starts the embedded service in this process, to call it over HTTP like any other. */
export async function openConnection(
  endpoint: Endpoint,
  options: ClientLimits,
  transport?: RunIo['transport'],
): Promise<Connection> {
  if (endpoint.kind === 'live') {
    const {baseUrl, apiKey, keyFrom} = endpoint;
    const client = openClient({...options, baseUrl, apiKey, keyFrom}, transport);
    return {client, close: async () => client.close()};
  }
  const {startService} = await import('../../service/start.ts');
  const service = await startService();
  const client = openClient({...options, baseUrl: service.url, apiKey: service.apiKey});
  return {
    client,
    async close() {
      client.close();
      await service.close();
    },
  };
}

export function openConnectionOfJob({job, io}: RunContext): Promise<Connection> {
  const {timeout: timeoutMs, concurrency: maxConnections = autoConcurrency.most} = job.settings;
  const options = {timeoutMs, maxConnections, onUnasked: createStrayAnswerWarning(io.warn)};
  return openConnection(job.endpoint, options, io.transport);
}

const UNASKED =
  'The service sent an answer without a call, for example the same answer twice. From now on no connection is used twice. Earlier answers are right, unless such an extra answer came while the next call was on its way. Tell the operator of the service.';

/** Returns a function that warns the user, the first time it is called, of answers without a call. */
export function createStrayAnswerWarning(warn: (sentence: string) => void): () => void {
  let isTold = false;
  return () => {
    if (!isTold) warn(UNASKED);
    isTold = true;
  };
}

/** Files that a run has open besides its connections: lists, state, store, account, history, and those of Node. */
const OTHER_FILES = 60;

/** Returns the job with no more calls at once than the system lets this process open files for. Warns of fewer. */
export function fitConcurrency(job: Job, warn: RunIo['warn']): Job {
  const {concurrency = autoConcurrency.most} = job.settings;
  const files = openFileLimit();
  // The embedded service has the other end of each connection.
  const ends = job.endpoint.kind === 'embedded' ? 2 : 1;
  const most = Math.max(1, Math.floor((files - OTHER_FILES) / ends));
  if (concurrency <= most || job.redisUrl !== undefined) return job;
  warn(
    say`This process may have ${files} files open (ulimit -Hn; LimitNOFILE of systemd), too few for ${concurrency} calls at once (${setting('concurrency')}): it makes at most ${pluralize(most, 'call')} at once.`,
  );
  return {...job, settings: {...job.settings, concurrency: most}};
}

/** The number of files that this process may have open: Node has raised it to the hard limit. Known on Linux alone. */
function openFileLimit(): number {
  const limits = process.platform === 'linux' ? (readIfFile('/proc/self/limits') ?? '') : '';
  const [, soft] = /^Max open files +(\d+)/m.exec(limits) ?? [];
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
}

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

/** A lane for each operation with its own rate, and one for all others. Together their rates are at most the account's. */
export function planLanes(
  job: Job,
  operations: readonly Operation[],
  account: Limited,
): readonly LaneSettings[] {
  const {rate} = job.settings;
  const otherRate = sharedRate(job, account);
  const shared = operations.filter(name => rate?.[name] === undefined);
  const lanes: LaneSettings[] = operations
    .filter(name => rate?.[name] !== undefined)
    .map(name => ({name, operations: [name], rate: atMost(rate?.[name] ?? otherRate, account)}));
  if (shared.length > 0) lanes.push({name: 'all', operations: shared, rate: otherRate});
  return within(account?.rate, lanes);
}

/** Lowers the rates by one factor, if their sum exceeds `limit`. A shorter window than the limit's stays. */
function within(limit: Rate | undefined, lanes: readonly LaneSettings[]): readonly LaneSettings[] {
  const sum = lanes.reduce((all, {rate}) => all + perSecond(rate), 0);
  if (limit === undefined || lanes.length < 2 || sum <= perSecond(limit)) return lanes;
  return lanes.map(lane => {
    const perMs = lane.rate === 'unlimited' ? limit.perMs : Math.min(lane.rate.perMs, limit.perMs);
    const count = (perSecond(lane.rate) * perSecond(limit) * perMs) / (sum * 1_000);
    const rate = count < 1 ? {count: 1, perMs: perMs / count} : {count: Math.floor(count), perMs};
    return {...lane, rate};
  });
}
