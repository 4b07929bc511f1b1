import {createLookupPricer} from '../../job/settings/cost.ts';
import {hasOperationAnswer} from '../../ledger/run/tally.ts';
import type {Dispatcher} from '../../lookup/call.ts';
import {Executor} from '../../lookup/executor.ts';
import {Lookups} from '../../lookup/lookups.ts';
import {COMPARED_ANSWERS, NewAnswers} from '../counts/new-answers.ts';
import {
  describeEndOfCalls,
  makeCallsStop,
  makeErrorStop,
  type RunContext,
  streakWarning,
  wasRefused,
} from '../stop.ts';
import type {LookupResources} from './connection.ts';
import {bookCollected, joinFleet, logAttempt} from './join-fleet.ts';

export interface OpenedLookups {
  readonly executor: Executor;
  /** Makes the lookups of one reading of the list. */
  readonly lookups: () => Lookups;
  readonly closeOutlet: () => Promise<void>;
  readonly newAnswers: NewAnswers;
}

/** Opens what decides about calls and what makes them: this process, or a fleet. `rows`: number of finished rows. */
export async function openLookups(
  run: RunContext,
  means: LookupResources,
  fleetId: string,
  rows: () => number,
): Promise<OpenedLookups> {
  const {job, stopper} = run;
  const {offline, concurrency = Number.POSITIVE_INFINITY} = job.settings;
  if (job.redisUrl === undefined || offline) {
    const opened = openExecutor(run, means, localOutlet(run, means));
    if (offline) opened.executor.close('offline');
    return {...opened, closeOutlet: async () => {}};
  }
  const {ledger} = means;
  const fleet = await joinFleet(run, means, job.redisUrl, fleetId, rows);
  try {
    const opened = openExecutor(run, means, fleet);
    fleet.watch({
      slots: count => {
        opened.executor.slots = Math.min(count, concurrency);
      },
      // Stops even a run that publishes at an outage (`publish_on`). Workers hold values that can't be taken back,
      // so the rows with these values would lack results.
      outage: reason => stopper.stop(makeCallsStop(reason, ledger, job.endpoint)),
      refused: error => stopper.stop(makeErrorStop(error)),
    });
    stopper.onStop(() => void fleet.withdraw());
    if (ledger.isResumed) await stopper.unlessStopped(bookCollected(fleet, run, means));
    return {...opened, closeOutlet: () => fleet.close()};
  } catch (error) {
    await fleet.close();
    throw error;
  }
}

function localOutlet({io}: RunContext, {connection: {client}}: LookupResources): Dispatcher {
  return {
    async send({operation, params}) {
      return Object.assign(await client.send(operation, params), {boughtAt: io.now()});
    },
  };
}

/** The executor of a dispatcher's calls, and the lookups that need them. */
function openExecutor(
  {job, io, clock, stopper}: RunContext,
  {ledger, lanes, store, judge, turns}: LookupResources,
  dispatcher: Dispatcher,
): Omit<OpenedLookups, 'closeOutlet'> {
  const {resends, cost, publishOn, maxErrors, maxOutage, concurrency} = job.settings;
  const newAnswers = new NewAnswers(operation => store.latest(operation, COMPARED_ANSWERS));
  const executor = new Executor({
    ...{dispatcher, ledger, store, turns, lanes, judge, concurrency, publishOn},
    policy: {resends, cost},
    costOf: createLookupPricer(job),
    maxOutageMs: maxOutage,
    isSuspect: wasRefused(ledger),
    mayAllFail: maxErrors !== undefined && 'share' in maxErrors && maxErrors.share >= 1,
    events: {
      attempted: (booked, row) => {
        newAnswers.count(booked);
        logAttempt(io.log, booked, row);
      },
      closed: reason => io.warn(describeEndOfCalls(makeCallsStop(reason, ledger, job.endpoint))),
      refused: (operation, streak) => {
        if (streak.isKnownToAnswer) io.warn(streakWarning(operation, streak));
      },
      stopped: reason => stopper.stop(makeCallsStop(reason, ledger, job.endpoint)),
    },
    isAnswered: operation =>
      hasOperationAnswer(ledger.tally, operation) || store.latest(operation, 1).length > 0,
    hadSignals: operation => newAnswers.hadSignals(operation),
    now: clock,
    random: io.random,
  });
  return {executor, newAnswers, lookups: () => new Lookups(executor)};
}
