import {loggedClient} from '../../client/logged-client.ts';
import type {Fleet} from '../../fleet/fleet.ts';
import type {Job} from '../../job/job.ts';
import {SharedPace} from '../../ledger/account/shared-pace.ts';
import type {Rejections} from '../../ledger/store/rejections.ts';
import {type AnswerStore, noStore} from '../../ledger/store/store.ts';
import type {Executor} from '../../lookup/executor.ts';
import {localOutlet} from '../../lookup/local-outlet.ts';
import type {LaneSettings, Outlet} from '../../lookup/outlet.ts';
import {QueueExecutor} from '../../lookup/queue-executor.ts';
import {emptyCounters} from '../books/counters.ts';
import type {RunIdentity} from '../identity.ts';
import {type Layout, operationsOf} from '../layout/layout.ts';
import {publishedInstead, type Stopper, stopFor, stopOf, streakWarning} from '../stop.ts';
import {stateDirectory} from './budgets.ts';
import {bookCollected, type FleetRun, joinFleet} from './join-fleet.ts';
import {lanesOf} from './lanes.ts';

/** A run that may be a fleet's. */
interface Fleeting extends FleetRun {
  /** Never jumps. */
  readonly clock: () => number;
  readonly layout: Layout;
  readonly stopper: Stopper;
}

/** What an executor works for. */
export interface ExecutorFor extends Fleeting {
  readonly store: AnswerStore;
  readonly rejections: Rejections;
}

/** The executor, and what closes it. */
export interface OpenedExecutor {
  readonly executor: Executor;
  readonly closeExecutor: () => Promise<void>;
}

/** An executor that makes the calls itself, or has them made by the job's fleet. */
export async function openExecutor(work: ExecutorFor): Promise<OpenedExecutor> {
  const {io, connection, clock, job} = work;
  const {offline} = job.settings;
  if (job.redisUrl !== undefined && !offline) return openFleetExecutor(work, job.redisUrl);
  const pace = openSharedPace(work);
  const outlet = localOutlet(loggedClient(connection.client, io.log), io.now, clock, pace);
  const executor = createExecutor(work, lanesFor(work), outlet);
  if (offline) executor.close('offline');
  return {executor, closeExecutor: async () => pace?.close()};
}

/** The pace that all runs of the account keep together, where it has a rate. */
function openSharedPace({account, io, stopper}: ExecutorFor): SharedPace | undefined {
  if (account?.rate === undefined) return undefined;
  return new SharedPace({
    directory: stateDirectory(io.env, `rate in ${account.path}`),
    account: account.key,
    rate: account.rate,
    onTrouble: error => stopper.stop(stopFor(error)),
    warn: io.warn,
  });
}

async function openFleetExecutor(work: ExecutorFor, redisUrl: string): Promise<OpenedExecutor> {
  const {stopper, job, clock, identity} = work;
  const lanes = lanesFor(work);
  let pace: SharedPace | undefined;
  const fleet = await joinFleet(work, redisUrl, lanes, clock);
  const close = async () => {
    await fleet.close();
    pace?.close();
  };
  try {
    pace = openSharedPace(work);
    if (pace !== undefined) await stopper.unlessStopped(pace.holdAll());
    const executor = createExecutor(work, lanes, fleet);
    watchFleet(fleet, work, count => {
      executor.slots = Math.min(count, job.settings.concurrency ?? Number.POSITIVE_INFINITY);
    });
    stopper.onStop(() => void fleet.withdraw());
    if (identity.sessions > 1) await stopper.unlessStopped(bookCollected(fleet, work, work.store));
    return {executor, closeExecutor: close};
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Books what the fleet has of the attempt that is in the ledger, before that is given up: its answers are paid for, and
 * what no worker has begun would be asked for twice.
 */
export async function bookGivenUp(work: Omit<Fleeting, 'identity' | 'counters'>): Promise<void> {
  const {ledger, job, stopper, clock} = work;
  const identity = ledger.getMeta<RunIdentity>('run');
  if (identity === undefined || job.redisUrl === undefined || job.settings.offline) return;
  const attempt = {...work, identity, counters: emptyCounters()};
  const fleet = await joinFleet(attempt, job.redisUrl, lanesFor(work), clock);
  try {
    watchFleet(fleet, work, () => {});
    // The run that begins carries its answers over.
    await stopper.unlessStopped(bookCollected(fleet, work, noStore));
  } finally {
    await fleet.close();
  }
}

function watchFleet(
  fleet: Fleet,
  {stopper, ledger, job}: Pick<Fleeting, 'stopper' | 'ledger' | 'job'>,
  slots: (count: number) => void,
): void {
  fleet.watch({
    slots,
    // What is out can't come back: there is no end to publish.
    outage: reason => stopper.stop(stopOf(reason, ledger, job.endpoint)),
    refused: error => stopper.stop(stopFor(error)),
  });
}

/** A program that gives rows sees each of them fail, and others may choose its values: a streak of bad ones ends nothing. */
function mayAllFail({output, settings: {maxErrors}}: Job): boolean {
  return output.kind === 'rows' || (maxErrors !== undefined && 'share' in maxErrors && maxErrors.share >= 1);
}

function lanesFor({job, layout, account}: Pick<Fleeting, 'job' | 'layout' | 'account'>): LaneSettings[] {
  return lanesOf(job, operationsOf(layout.mapping.targets), account);
}

function createExecutor(
  {job, io, clock, ledger, store, rejections, stopper}: ExecutorFor,
  lanes: readonly LaneSettings[],
  outlet: Outlet,
): QueueExecutor {
  const {settings} = job;
  return new QueueExecutor({
    outlet,
    ledger,
    lanes,
    concurrency: settings.concurrency,
    policy: {...settings, failsInOutage: job.output.kind === 'rows'},
    maxOutageMs: settings.maxOutage,
    publishOn: settings.publishOn,
    outlastsOutages: io.outlastsOutages,
    mayAllFail: mayAllFail(job),
    events: {
      closed: reason => io.warn(publishedInstead(stopOf(reason, ledger, job.endpoint))),
      refused: (operation, streak) => {
        rejections.drop(operation);
        if (streak.isKnownToAnswer) io.warn(streakWarning(operation, streak));
      },
      stopped: reason => stopper.stop(stopOf(reason, ledger, job.endpoint)),
    },
    isAnswered: operation => ledger.isAnswered(operation) || store.knows(operation),
    refusedBefore: operation => rejections.waiting(operation),
    now: clock,
    random: io.random,
  });
}
