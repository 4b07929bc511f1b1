import {createHash} from 'node:crypto';
import {hostname} from 'node:os';
import {UsageError} from '../../errors.ts';
import type {Fleet} from '../../fleet/fleet.ts';
import type {Job} from '../../job/job.ts';
import {type EventLog, logEvent} from '../../job/log-events.ts';
import {createLookupPricer, toCredits} from '../../job/settings/cost.ts';
import {lookupForRequest, nextOccurrenceKey} from '../../ledger/lookup-outcome.ts';
import type {Ledger} from '../../ledger/run/ledger.ts';
import {type BookedAttempt, type LedgerEntry, removeInterruptedCall} from '../../ledger/run/ledger-entry.ts';
import {hasOperationAnswer, totalSpending} from '../../ledger/run/tally.ts';
import type {Dispatcher} from '../../lookup/call.ts';
import {Executor} from '../../lookup/executor.ts';
import {
  answerToKeep,
  concludeAttempt,
  historyAfterAttempt,
  repeatedRejection,
} from '../../lookup/retry-policy.ts';
import type {Operation} from '../../operations/table.ts';
import {say, setting} from '../../sentence.ts';
import {COMPARED_ANSWERS, NewAnswers} from '../counts/new-answers.ts';
import type {World} from '../io.ts';
import {endpointName} from '../scope.ts';
import type {RunIdentity} from '../state/run-identity.ts';
import {
  describeEndOfCalls,
  downWarning,
  makeCallsStop,
  makeErrorStop,
  type RunContext,
  streakWarning,
  wasRefused,
} from '../stop.ts';
import {type AccountLimits, stateDirectory} from './account.ts';
import {type LookupResources, sharedRate} from './connection.ts';

export interface OpenedLookups {
  readonly executor: Executor;
  readonly newAnswers: NewAnswers;
  readonly closeDispatcher: () => Promise<void>;
}

/** Opens what decides about calls and what makes them: this process, or a fleet. `rows`: number of finished rows. */
export async function openLookups(
  run: RunContext,
  resources: LookupResources,
  identity: RunIdentity,
  rows: () => number,
): Promise<OpenedLookups> {
  const {redisUrl, settings} = run.job;
  const newAnswers = await countNewAnswers(resources, identity);
  if (redisUrl === undefined || settings.offline) {
    const opened = openExecutor(run, resources, localDispatcher(run, resources), newAnswers);
    if (settings.offline) opened.executor.close('offline');
    return {...opened, closeDispatcher: async () => {}};
  }
  const fleet = await joinFleet(run, resources, redisUrl, identity.fleetId, rows);
  try {
    const opened = openExecutor(run, resources, fleet, newAnswers);
    await useFleet(fleet, run, resources, opened);
    return {...opened, closeDispatcher: () => fleet.close()};
  } catch (error) {
    await fleet.close();
    throw error;
  }
}

/** The counts of the run's new answers, with those that its earlier sessions bought. */
async function countNewAnswers(
  {ledger, store}: LookupResources,
  {startedAt, bought = ledger.bought, sessions}: RunIdentity,
): Promise<NewAnswers> {
  const newAnswers = new NewAnswers(operation => store.latest(operation, COMPARED_ANSWERS, startedAt));
  if (sessions > 1) await newAnswers.countBought(ledger.newAnswersAfter(bought));
  return newAnswers;
}

/** Follows the fleet's state, and books what an earlier session left with it. */
async function useFleet(
  fleet: Fleet,
  run: RunContext,
  {ledger, store}: LookupResources,
  {executor, newAnswers}: Pick<OpenedLookups, 'executor' | 'newAnswers'>,
): Promise<void> {
  const {job, stopper} = run;
  const {concurrency = Number.POSITIVE_INFINITY} = job.settings;
  fleet.watch({
    slots: count => {
      executor.slots = Math.min(count, concurrency);
    },
    // Stops even a run that publishes at an outage (`publish_on`). Workers hold values that can't be taken back,
    // so the rows with these values would lack results.
    outage: reason => stopper.stop(makeCallsStop(reason, ledger, job.endpoint)),
    refused: error => stopper.stop(makeErrorStop(error)),
  });
  stopper.onStop(() => void fleet.withdraw());
  if (ledger.isResumed) await stopper.unlessStopped(bookCollected(fleet, run, {ledger, store, newAnswers}));
}

function localDispatcher({io}: RunContext, {connection: {client}}: LookupResources): Dispatcher {
  return {
    async send({operation, params}) {
      return Object.assign(await client.send(operation, params), {boughtAt: io.now()});
    },
  };
}

function openExecutor(
  {job, io, clock, stopper}: RunContext,
  {ledger, lanes, store, judge, turns}: LookupResources,
  dispatcher: Dispatcher,
  newAnswers: NewAnswers,
): Omit<OpenedLookups, 'closeDispatcher'> {
  const {resends, cost, publishOn, maxErrors, maxOutage, concurrency} = job.settings;
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
      down: (operation, code) => io.warn(downWarning(operation, code)),
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
  return {executor, newAnswers};
}

/** Joins the fleet on this Redis, whose workers make the calls. `rows` returns the number of finished rows. */
async function joinFleet(
  {job, io, clock}: RunContext,
  {account, ledger, lanes}: LookupResources,
  redisUrl: string,
  fleetId: string,
  rows: () => number,
): Promise<Fleet> {
  if (account?.rate !== undefined && lanes.length > 1)
    throw new UsageError(
      'account_fleet',
      say`A fleet can't combine an account's rate (${account.path}) with rates by operation. Give the job one ${setting('rate')} for all operations.`,
    );
  const {Fleet} = await import('../../fleet/fleet.ts');
  const {sealingSecret} = await import('../../fleet/protocol.ts');
  return Fleet.join({
    redisUrl,
    runId: fleetId,
    endpoint: endpointName(job.endpoint),
    secret: sealingSecret(job.endpoint, io.env),
    lanes,
    rate: rateText(job, account),
    creditsAt: account && creditsCounter(account, io.env),
    timeoutMs: job.settings.timeout,
    maxOutageMs: job.settings.maxOutage,
    report: () => {
      const {calls, spent, maybeSpent} = totalSpending(ledger.spending);
      return {
        job: job.name,
        rows: rows(),
        calls,
        spent: toCredits(spent),
        maybeSpent: toCredits(maybeSpent),
        limit: job.settings.maxCredits ?? null,
      };
    },
    now: clock,
    date: io.now,
    warn: io.warn,
  });
}

/** Books calls that an earlier session booked as lost: workers of the fleet finished them since, and they are paid for. */
export async function bookCollected(
  fleet: Pick<Fleet, 'collect'>,
  {job: {settings}, io}: RunContext,
  {ledger, store, newAnswers}: Pick<LookupResources, 'ledger' | 'store'> & Pick<OpenedLookups, 'newAnswers'>,
): Promise<void> {
  const hadSignals = (operation: Operation) => newAnswers.hadSignals(operation);
  logEvent(io.log, 'fleet_collecting', {}, 'collecting what is left with the fleet');
  await fleet.collect(({operation, params, dispatch, cost}, attempt) => {
    const known = interruptedCall(ledger, lookupForRequest(operation, params).key, dispatch);
    // Skips an attempt that was lost. Also skips an attempt after which a later session sent the value again.
    if (known === undefined || (attempt.kind === 'ambiguous' && attempt.lost === true)) return;
    const history = historyAfterAttempt(removeInterruptedCall(known.history), attempt, settings);
    const {key} = known;
    const earlier = repeatedRejection(store.find([key], operation)?.get(key), attempt);
    const call = {operation, key, cost, dispatch, retry: false, earlier, hadSignals};
    const {booked} = concludeAttempt(call, attempt, history, settings, 'value');
    logAttempt(io.log, booked, undefined);
    ledger.bookLate(known, booked);
    newAnswers.count(booked);
    const answer = answerToKeep(booked);
    if (answer !== undefined) store.put(answer);
  });
}

/** The entry whose call was interrupted as number `dispatch`: of a value, or of a later row of a session token. */
function interruptedCall(ledger: Ledger, first: string, dispatch: number): LedgerEntry | undefined {
  for (let key = first; ; key = nextOccurrenceKey(key)) {
    const entry = ledger.find([key]).get(key);
    if (entry === undefined || entry.interrupted === dispatch) return entry;
  }
}

/** Identifies the state directory that counts the account's credits, as a hash; undefined for an account without limits. */
function creditsCounter(account: AccountLimits, env: World['env']): string | undefined {
  if (account.max_credits_per_day === undefined && account.max_credits_per_month === undefined)
    return undefined;
  const counter = `${hostname()} ${stateDirectory(env, `credits in ${account.path}`)}`;
  return createHash('sha256').update(counter).digest('hex').slice(0, 16);
}

/** The job's rates as text, such as `all=20/1s,ip=50/1s`. All runs of a fleet must have the same text. */
function rateText(job: Job, account: AccountLimits | undefined): string {
  const rates = {...job.settings.rate, all: sharedRate(job, account)};
  return Object.entries(rates)
    .map(([name, rate]) => `${name}=${rate === 'unlimited' ? rate : `${rate.count}/${rate.perMs / 1_000}s`}`)
    .sort()
    .join();
}

/** Logs one attempt: what it brought, and what it cost. `row`: number of a row that waits for it; undefined if none does. */
function logAttempt(log: EventLog, booked: BookedAttempt, row: number | undefined): void {
  if (!log.isLevelEnabled('debug')) return;
  const {operation, attempt, charge, cost} = booked;
  const fields = {
    row,
    operation,
    outcome: attempt.kind,
    status: 'status' in attempt ? attempt.status : undefined,
    code: 'code' in attempt ? attempt.code : undefined,
    booked: charge,
    credits: charge === 'free' ? 0 : toCredits(cost),
    ms: Math.round(attempt.latencyMs),
    request_id: 'pace' in attempt ? attempt.pace?.requestId : undefined,
  };
  logEvent(log, 'call', fields, 'call');
}
