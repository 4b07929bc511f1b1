import type {Fleet} from '../../fleet/fleet.ts';
import type {Job} from '../../job/job.ts';
import {isAnswered} from '../../ledger/tally.ts';
import type {Executor} from '../../lookup/executor.ts';
import {localOutlet} from '../../lookup/local-outlet.ts';
import type {Outlet} from '../../lookup/outlet.ts';
import {QueueExecutor} from '../../lookup/queue-executor.ts';
import type {Rejections} from '../../store/rejections.ts';
import type {AnswerStore} from '../../store/store.ts';
import {publishedInstead, type Running, stopFor, stopOf, streakWarning} from '../stop.ts';
import type {Calling} from './connection.ts';
import {bookCollected, joinFleet} from './join-fleet.ts';
import {logAttempt} from './log-attempt.ts';

/** Everything that lookups need, on this machine or in a fleet. */
export interface Means extends Calling {
  readonly store: AnswerStore;
  readonly rejections: Rejections;
}

export interface OpenedExecutor {
  readonly executor: Executor;
  readonly closeExecutor: () => Promise<void>;
}

/** Opens an executor, in this process or through a fleet. `rows` returns the number of finished rows. */
export async function openExecutor(
  run: Running,
  means: Means,
  fleetId: string,
  rows: () => number,
): Promise<OpenedExecutor> {
  const {io, clock, job} = run;
  const {offline} = job.settings;
  if (job.redisUrl !== undefined && !offline)
    return openFleetExecutor(run, means, job.redisUrl, fleetId, rows);
  const outlet = localOutlet(means.connection.client, io.now, clock);
  const executor = createExecutor(run, means, outlet);
  if (offline) executor.close('offline');
  return {executor, closeExecutor: async () => {}};
}

async function openFleetExecutor(
  run: Running,
  means: Means,
  redisUrl: string,
  fleetId: string,
  rows: () => number,
): Promise<OpenedExecutor> {
  const {stopper, job} = run;
  const fleet = await joinFleet(run, means, redisUrl, fleetId, rows);
  try {
    const executor = createExecutor(run, means, fleet);
    watchFleet(fleet, run, means, count => {
      executor.slots = Math.min(count, job.settings.concurrency ?? Number.POSITIVE_INFINITY);
    });
    stopper.onStop(() => void fleet.withdraw());
    if (means.ledger.isResumed)
      await stopper.unlessStopped(bookCollected(fleet.collect(), run, means.ledger, means.store));
    return {executor, closeExecutor: () => fleet.close()};
  } catch (error) {
    await fleet.close();
    throw error;
  }
}

function watchFleet(
  fleet: Fleet,
  {stopper, job}: Running,
  {ledger}: Calling,
  slots: (count: number) => void,
): void {
  fleet.watch({
    slots,
    // Stops even a run that publishes at an outage (`publish_on`). Workers hold values that can't be taken back,
    // so the rows with these values would lack results.
    outage: reason => stopper.stop(stopOf(reason, ledger, job.endpoint)),
    refused: error => stopper.stop(stopFor(error)),
  });
}

/** True if the run continues however many values are refused: with `max_errors` of 100%. */
function mayAllFail({maxErrors}: Job['settings']): boolean {
  return maxErrors !== undefined && 'share' in maxErrors && maxErrors.share >= 1;
}

function createExecutor(
  {job, io, clock, stopper}: Running,
  {ledger, lanes, store, rejections}: Means,
  outlet: Outlet,
): QueueExecutor {
  const {settings} = job;
  const {resends, cost} = settings;
  return new QueueExecutor({
    outlet,
    ledger,
    lanes,
    concurrency: settings.concurrency,
    policy: {resends, cost},
    maxOutageMs: settings.maxOutage,
    publishOn: settings.publishOn,
    mayAllFail: mayAllFail(settings),
    events: {
      attempted: (booked, rows) => logAttempt(io.log, booked, rows),
      closed: reason => io.warn(publishedInstead(stopOf(reason, ledger, job.endpoint))),
      refused: (operation, streak) => {
        rejections.drop(operation);
        if (streak.isKnownToAnswer) io.warn(streakWarning(operation, streak));
      },
      stopped: reason => stopper.stop(stopOf(reason, ledger, job.endpoint)),
    },
    isAnswered: operation => isAnswered(ledger.tally, operation) || store.knows(operation),
    now: clock,
    random: io.random,
  });
}
