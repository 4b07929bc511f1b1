import {pino} from 'pino';
import {describe, expect, test} from 'vitest';
import type {BookAttempt} from '../../src/fleet/chunk-queue.ts';
import type {Job} from '../../src/job/job.ts';
import {checkSettings} from '../../src/job/parse.ts';
import type {AnswerStore} from '../../src/ledger/answers/store.ts';
import type {KnownAnswer} from '../../src/ledger/answers/validity.ts';
import {lookupForRequest, type Outcome, TokenOccurrences} from '../../src/ledger/lookup-outcome.ts';
import {Ledger} from '../../src/ledger/run/ledger.ts';
import {addDoubt, newEntry, noAttempts} from '../../src/ledger/run/ledger-entry.ts';
import {NewAnswers} from '../../src/run/counts/new-answers.ts';
import type {RunIo} from '../../src/run/io.ts';
import {bookCollected} from '../../src/run/open/open-lookups.ts';
import type {RunContext} from '../../src/run/stop.ts';
import {newDirectory} from '../support/new-directory.ts';
import {whole} from '../support/whole.ts';

const params = {token: 'token-0', action_id: 'signup'};
const ask = {operation: 'verify', params, dispatch: 2, cost: 1_000} as const;
const redeemed = {verdict: {can_pass: true, redeemed: true}};
const known = {unknownFields: [], wrongTypes: []};
const timed = {latencyMs: 5, boughtAt: 1_000, pace: {limits: {}}} as const;
const answered = {kind: 'answered', status: 200, ...timed, data: redeemed, ...known} as const;
const run = whole<RunContext>({
  job: whole<Job>({settings: checkSettings(undefined, {resends: 1, cost: 3})}),
  io: whole<RunIo>({log: pino({level: 'silent'})}),
});

const within = newDirectory();
let sessions = 0;

interface Meanwhile {
  readonly isDoubtful?: boolean;
  readonly isLaterRow?: boolean;
  readonly isCountedAnew?: boolean;
  readonly dispatch?: number;
  readonly settled?: Outcome;
  /** The value's refusal of an earlier night. */
  readonly rejection?: KnownAnswer['rejection'];
}

/** The ledger's entry of a value whose call the killed session sent and this session found with the fleet. */
async function collected(
  found: {readonly ask: Parameters<BookAttempt>[0]; readonly attempt: Parameters<BookAttempt>[1]},
  {
    isDoubtful = false,
    isLaterRow = false,
    isCountedAnew = false,
    dispatch = 2,
    settled,
    rejection,
  }: Meanwhile = {},
) {
  const path = within(`${sessions++}.db`);
  const open = () => new Ledger(path, {scope: 'here'});
  const {operation, params} = found.ask;
  const first = lookupForRequest(operation, params);
  const killed = open();
  if (isLaterRow) {
    killed.reserve([{...first, cost: 1_000, entry: newEntry(first), dispatch: 1}]);
    await killed.bookAttempt({
      ...{key: first.key, operation, cost: 1_000, dispatch: 1, attempt: answered, charge: 'spent'},
      ...{history: noAttempts, retry: false, outcome: {status: 'ok', data: '{}', boughtAt: 1_000}},
    });
  }
  const {key} = isLaterRow ? new TokenOccurrences().next(first, taken => taken === first.key) : first;
  const call = {key, operation, cost: 1_000} as const;
  const entry = newEntry(call);
  if (isDoubtful) {
    killed.reserve([{...call, entry, dispatch: 1}]);
    const attempt = {kind: 'ambiguous', code: 'timeout', latencyMs: 5, boughtAt: 1_000} as const;
    await killed.bookAttempt({
      ...call,
      dispatch: 1,
      attempt,
      charge: 'maybe',
      history: addDoubt(noAttempts, attempt),
      retry: false,
    });
  }
  killed.reserve([{...call, entry, dispatch}]);
  killed.abandon();
  if (settled !== undefined) {
    const between = open();
    between.settleWithoutCall(between.find([key]).get(key) ?? newEntry(call), settled);
    between.close();
  }
  const ledger = open();
  if (isCountedAnew) ledger.beginCount({});
  const stored: unknown[] = [];
  const store = whole<AnswerStore>({
    put: ({outcome}) => void stored.push(outcome),
    find: () => new Map(rejection && [[key, whole<KnownAnswer>({rejection})]]),
  });
  const fleet = {collect: async (book: BookAttempt) => book(found.ask, found.attempt)};
  const newAnswers = new NewAnswers(() => [{is_vpn: false}]);
  await bookCollected(fleet, run, {ledger, store, newAnswers});
  const {outcome, history} = ledger.find([key]).get(key) ?? newEntry(call);
  const {doubts} = history;
  const {spent, maybeSpent} = ledger.spending[operation];
  ledger.close();
  const {answers} = newAnswers.of(operation);
  return {outcome, doubts, spent, maybeSpent, stored, answers};
}

test('a verdict that the fleet finished for a later row of its token is booked for that row', async () => {
  const verdict = {ask, attempt: answered};
  expect(await collected(verdict, {isLaterRow: true})).toMatchObject({
    ...{outcome: {status: 'ok'}, spent: 2_000, maybeSpent: 0, stored: [{status: 'ok'}]},
  });
});

test('a verdict that the fleet finished is uncertain if an earlier attempt may have redeemed its token', async () => {
  const verdict = {ask, attempt: answered};
  const outcome = {status: 'unknown', error: 'verdict_replay_uncertain'};
  expect(await collected(verdict, {isDoubtful: true})).toMatchObject({outcome});
  expect(await collected(verdict)).toMatchObject({outcome: {status: 'ok'}});
});

describe('a call that the fleet finished for a killed session', () => {
  const ip = {operation: 'ip', params: {ip: '192.0.2.1'}, dispatch: 2, cost: 1_000} as const;
  const found = {ask: ip, attempt: {...answered, data: {city: 'Oslo'}}};
  const failed = {kind: 'ambiguous', code: 'http_503', status: 503, ...timed} as const;
  const refused = {kind: 'rejected', about: 'value', code: 'odd_value', status: 422, ...timed} as const;

  test('is paid for once, at the price of its session, and its answer is stored for other runs', async () => {
    const {stored, ...booked} = await collected(found);
    expect(booked).toMatchObject({outcome: {status: 'ok'}, spent: 1_000, maybeSpent: 0, answers: 1});
    expect(stored).toHaveLength(1);
  });

  test('is used and not stored if it lacks the fields of earlier answers', async () => {
    const poor = {...found, attempt: {...found.attempt, lacksSignals: true}} as const;
    expect(await collected(poor)).toMatchObject({outcome: {status: 'ok'}, spent: 1_000, stored: []});
  });

  test('is paid for by a run that counts its credits anew, which had it not in doubt', async () => {
    expect(await collected(found, {isCountedAnew: true})).toMatchObject({spent: 1_000, maybeSpent: 0});
  });

  test('is booked too if a session without the fleet settled its value meanwhile', async () => {
    const settled = {status: 'unknown', error: 'interrupted'} as const;
    const {stored, ...booked} = await collected(found, {settled});
    expect(booked).toMatchObject({outcome: {status: 'ok'}, doubts: 0, spent: 1_000, maybeSpent: 0});
    expect(stored).toHaveLength(1);
  });

  test('uses up one of the sends of its value if it failed, not two', async () => {
    expect(await collected({ask: ip, attempt: failed})).toMatchObject({outcome: undefined, doubts: 1});
    const second = await collected({ask: ip, attempt: failed}, {isDoubtful: true});
    expect(second).toMatchObject({outcome: {status: 'failed'}, doubts: 2});
  });

  test('costs nothing if it was throttled', async () => {
    const attempt = {kind: 'throttled', code: 'http_429', status: 429, ...timed} as const;
    expect(await collected({ask: ip, attempt})).toMatchObject({spent: 0, maybeSpent: 0, doubts: 0});
  });

  test('is not stored if it was rejected, since the account may be the cause', async () => {
    const outcome = {status: 'failed', error: 'odd_value'};
    expect(await collected({ask: ip, attempt: refused})).toMatchObject({outcome, stored: []});
  });

  test.each([
    [
      'is stored if a rejection of an earlier night is old enough',
      true,
      {rejected: 'twice', boughtAt: 1_000},
    ],
    ['leaves a younger one as it is', false, {rejected: 'once', boughtAt: 7}],
  ])('that was rejected %s', async (_, confirms, outcome) => {
    const rejection = {error: 'odd_value', boughtAt: 7, confirms};
    const booked = await collected({ask: ip, attempt: refused}, {rejection});
    expect(booked).toMatchObject({outcome, stored: confirms ? [outcome] : []});
  });

  test('is not the outcome of a value that a later session sent again', async () => {
    const late = await collected({ask: ip, attempt: refused}, {dispatch: 3});
    expect(late).toMatchObject({outcome: undefined, maybeSpent: 1_000});
  });
});
