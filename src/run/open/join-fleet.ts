import {createHash} from 'node:crypto';
import {hostname} from 'node:os';
import {UsageError} from '../../errors.ts';
import type {Fleet} from '../../fleet/fleet.ts';
import type {Job} from '../../job/job.ts';
import {type EventLog, logEvent} from '../../job/log-events.ts';
import {toCredits} from '../../job/settings/cost.ts';
import {lookupForRequest, nextOccurrenceKey} from '../../ledger/lookup-outcome.ts';
import type {Ledger} from '../../ledger/run/ledger.ts';
import {type BookedAttempt, type LedgerEntry, removeInterruptedCall} from '../../ledger/run/ledger-entry.ts';
import {totalSpending} from '../../ledger/run/tally.ts';
import {answerToKeep, concludeAttempt, historyAfterAttempt} from '../../lookup/retry-policy.ts';
import {say, set} from '../../sentence.ts';
import {endpointName} from '../identity.ts';
import type {World} from '../io.ts';
import type {RunContext} from '../stop.ts';
import {type AccountLimits, stateDirectory} from './account.ts';
import {type LookupResources, sharedRate} from './connection.ts';

/** Joins the fleet on this Redis, whose workers make the calls. `rows` returns the number of finished rows. */
export async function joinFleet(
  {job, io, clock}: RunContext,
  {account, ledger, lanes}: LookupResources,
  redisUrl: string,
  fleetId: string,
  rows: () => number,
): Promise<Fleet> {
  if (account?.rate !== undefined && lanes.length > 1)
    throw new UsageError(
      'account_fleet',
      say`A fleet can't combine an account's rate (${account.path}) with rates by operation. Give the job one ${set('rate')} for all operations.`,
    );
  const {Fleet} = await import('../../fleet/fleet.ts');
  const {sealingSecret} = await import('../../fleet/encryption.ts');
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

/**
 * Books calls that an earlier session of this run gave to the fleet. At that session's end, the ledger booked them
 * as lost. Workers finished them since, and their answers are paid for.
 */
export async function bookCollected(
  fleet: Pick<Fleet, 'collect'>,
  {job: {settings}, io}: RunContext,
  {ledger, store}: Pick<LookupResources, 'ledger' | 'store'>,
): Promise<void> {
  logEvent(io.log, 'fleet_collecting', {}, 'collecting what is left with the fleet');
  await fleet.collect(({operation, params, dispatch, cost}, attempt) => {
    const known = interruptedCall(ledger, lookupForRequest(operation, params).key, dispatch);
    // Skips an attempt that was lost. Also skips an attempt after which a later session sent the value again.
    if (known === undefined || (attempt.kind === 'ambiguous' && attempt.lost === true)) return;
    const history = historyAfterAttempt(removeInterruptedCall(known.history), attempt, settings);
    const call = {operation, key: known.key, cost, dispatch, retry: false};
    const {booked} = concludeAttempt(call, attempt, history, settings, 'value');
    logAttempt(io.log, booked, undefined);
    ledger.bookLate(known, booked);
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

/**
 * Identifies the state directory that counts the account's credits: a hash of this host and the directory's
 * path. Undefined for an account without a credit limit.
 */
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
export function logAttempt(log: EventLog, booked: BookedAttempt, row: number | undefined): void {
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
