import type {Job} from '../job/job.ts';
import type {Ledger} from '../ledger/ledger.ts';
import type {AnswerStore} from '../ledger/store.ts';
import type {Answers} from '../lookup/answers.ts';
import type {Executor} from '../lookup/executor.ts';
import {type LaneSettings, localOutlet, type Outlet} from '../lookup/outlet.ts';
import {QueueExecutor} from '../lookup/queue-executor.ts';
import {steadyClock} from '../lookup/steady-clock.ts';
import {type Layout, lanesOf, operationsOf} from './assemble.ts';
import type {Connection} from './connect.ts';
import type {Counters} from './counters.ts';
import {bookCollected, joinFleet} from './fleet.ts';
import {loggedClient} from './log.ts';
import type {RunIo} from './run.ts';
import type {RunIdentity} from './state.ts';
import {type Stopper, stopFor, stopOf} from './stop.ts';

/** What an executor works for. */
export interface ExecutorFor {
  readonly job: Job;
  readonly io: RunIo;
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
  const {io, connection} = work;
  const now = steadyClock(io.now());
  const outlet = localOutlet(loggedClient(connection.client, io.log), now);
  return {executor: createExecutor(work, lanesFor(work), outlet, now), closeExecutor: async () => {}};
}

async function openFleetExecutor(work: ExecutorFor, redisUrl: string): Promise<OpenedExecutor> {
  const {io, stopper, ledger, job} = work;
  const now = steadyClock(io.now());
  const lanes = lanesFor(work);
  const fleet = await joinFleet(work, redisUrl, lanes, now);
  try {
    const executor = createExecutor(work, lanes, fleet, now);
    fleet.watch({
      slots: count => {
        executor.slots = Math.min(count, job.settings.concurrency ?? Number.POSITIVE_INFINITY);
      },
      outage: reason => stopper.stop(stopOf(reason, ledger.exhaustedDay)),
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
  {job, io, ledger, store, stopper, answers}: ExecutorFor,
  lanes: readonly LaneSettings[],
  outlet: Outlet,
  now: () => number,
): QueueExecutor {
  const {settings} = job;
  return new QueueExecutor({
    outlet,
    ledger,
    lanes,
    policy: settings,
    maxOutageMs: settings.maxOutage,
    onBudget: settings.onBudget,
    events: {
      settled: (ask, settled) => answers().settled(ask, settled),
      stopped: reason => stopper.stop(stopOf(reason, ledger.exhaustedDay)),
    },
    isAnswered: operation => ledger.isAnswered(operation) || store.knows(operation),
    answeredMeanwhile: asks => answers().answeredMeanwhile(asks),
    now,
    random: io.random,
  });
}
