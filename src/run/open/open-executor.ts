import {loggedClient} from '../../client/logged-client.ts';
import type {AnswerStore} from '../../ledger/store/store.ts';
import type {Answers} from '../../lookup/answers.ts';
import type {Executor} from '../../lookup/executor.ts';
import {localOutlet} from '../../lookup/local-outlet.ts';
import type {LaneSettings, Outlet} from '../../lookup/outlet.ts';
import {QueueExecutor} from '../../lookup/queue-executor.ts';
import {type Layout, operationsOf} from '../layout/layout.ts';
import {type Stopper, stopFor, stopOf} from '../stop.ts';
import {bookCollected, type FleetRun, joinFleet} from './join-fleet.ts';
import {lanesOf} from './lanes.ts';

/** What an executor works for. */
export interface ExecutorFor extends FleetRun {
  /** Never jumps. */
  readonly clock: () => number;
  readonly store: AnswerStore;
  readonly layout: Layout;
  readonly stopper: Stopper;
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
  const outlet = localOutlet(loggedClient(connection.client, io.log), clock, () => connection.client.lagMs);
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
      settled: (task, outcome) => answers().settled(task, outcome),
      stopped: reason => stopper.stop(stopOf(reason, ledger)),
    },
    isAnswered: operation => ledger.isAnswered(operation) || store.knows(operation),
    answeredMeanwhile: tasks => answers().answeredMeanwhile(tasks),
    now: clock,
    random: io.random,
  });
}
