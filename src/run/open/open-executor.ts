import type {Job} from '../../job/job.ts';
import type {Ledger} from '../../ledger/ledger.ts';
import type {AnswerStore} from '../../ledger/store.ts';
import type {Answers} from '../../lookup/answers.ts';
import type {Executor} from '../../lookup/executor.ts';
import {type LaneSettings, localOutlet, type Outlet} from '../../lookup/outlet.ts';
import {QueueExecutor} from '../../lookup/queue-executor.ts';
import type {Connection} from './connection.ts';
import type {Counters} from '../books/counters.ts';
import {bookCollected, joinFleet} from './join-fleet.ts';
import type {RunIdentity} from '../identity.ts';
import type {RunIo} from '../io.ts';
import {lanesOf} from './lanes.ts';
import {type Layout, operationsOf} from '../layout/layout.ts';
import {loggedClient} from '../log.ts';
import {type Stopper, stopFor, stopOf} from '../stop.ts';

/** What an executor works for. */
export interface ExecutorFor {
  readonly job: Job;
  readonly io: RunIo;
  /** Never jumps. */
  readonly clock: () => number;
  readonly connection: Connection;
  readonly ledger: Ledger;
  readonly store: AnswerStore;
  readonly layout: Layout;
  readonly identity: RunIdentity;
  readonly stopper: Stopper;
  readonly counters: Counters;
  readonly answers: () => Answers;
}

/** The executor, and what closes it. */
export interface OpenedExecutor {
  readonly executor: Executor;
  readonly closeExecutor: () => Promise<void>;
}

/** An executor that makes the calls itself, or has them made by the job's fleet. */
export async function openExecutor(work: ExecutorFor): Promise<OpenedExecutor> {
  if (work.job.redisUrl !== undefined) return openFleetExecutor(work, work.job.redisUrl);
  const {io, connection, clock} = work;
  const outlet = localOutlet(loggedClient(connection.client, io.log), clock);
  return {executor: createExecutor(work, lanesFor(work), outlet), closeExecutor: async () => {}};
}

async function openFleetExecutor(work: ExecutorFor, redisUrl: string): Promise<OpenedExecutor> {
  const {stopper, ledger, job, clock} = work;
  const lanes = lanesFor(work);
  const fleet = await joinFleet(work, redisUrl, lanes, clock);
  try {
    const executor = createExecutor(work, lanes, fleet);
    fleet.watch({
      slots: count => {
        executor.slots = Math.min(count, job.settings.concurrency ?? Number.POSITIVE_INFINITY);
      },
      outage: reason => stopper.stop(stopOf(reason, ledger)),
      refused: error => stopper.stop(stopFor(error)),
    });
    stopper.onStop(() => void fleet.withdraw());
    await stopper.unlessStopped(bookCollected(fleet, work));
    return {executor, closeExecutor: () => fleet.close()};
  } catch (error) {
    await fleet.close();
    throw error;
  }
}

function lanesFor({job, layout}: ExecutorFor): LaneSettings[] {
  return lanesOf(job, operationsOf(layout.mapping.targets));
}

function createExecutor(
  {job, io, clock, ledger, store, stopper, answers}: ExecutorFor,
  lanes: readonly LaneSettings[],
  outlet: Outlet,
): QueueExecutor {
  const {settings} = job;
  return new QueueExecutor({
    outlet,
    ledger,
    lanes,
    concurrency: settings.concurrency,
    policy: settings,
    maxOutageMs: settings.maxOutage,
    onBudget: settings.onBudget,
    events: {
      settled: (ask, settled) => answers().settled(ask, settled),
      stopped: reason => stopper.stop(stopOf(reason, ledger)),
    },
    isAnswered: operation => ledger.isAnswered(operation) || store.knows(operation),
    answeredMeanwhile: asks => answers().answeredMeanwhile(asks),
    now: clock,
    random: io.random,
  });
}
