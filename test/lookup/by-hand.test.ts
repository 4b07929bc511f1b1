import {afterEach, beforeEach, expect, test, vi} from 'vitest';
import type {Attempt} from '../../src/client/attempt.ts';
import type {Sender} from '../../src/client/client.ts';
import type {Budget} from '../../src/ledger/budget.ts';
import {type BookedAttempt, newEntry, type Reservation} from '../../src/ledger/entry.ts';
import type {Ledger} from '../../src/ledger/ledger.ts';
import {intelligenceLookup, type Outcome, type UnaskedCode} from '../../src/ledger/lookup.ts';
import {emptyTally} from '../../src/ledger/tally.ts';
import type {Ended, ExecutorStop, Task} from '../../src/lookup/executor.ts';
import {Lanes} from '../../src/lookup/lane.ts';
import {localOutlet} from '../../src/lookup/local-outlet.ts';
import type {Outlet} from '../../src/lookup/outlet.ts';
import {RateController} from '../../src/lookup/pace/rate-controller.ts';
import {QueueExecutor} from '../../src/lookup/queue-executor.ts';
import type {QueueExecutorOptions} from '../../src/lookup/queue-options.ts';
import {whole} from '../support/whole.ts';
import {simulated, unwaited} from './simulation.ts';

const {ok, reset, rejected} = simulated;
const boughtAt = 9;
const answered = {status: 'ok', data: '{}', boughtAt} as const;
const earlier = {...answered, boughtAt: 1};

interface ByHand
  extends Partial<
    Pick<QueueExecutorOptions, 'publishOn' | 'concurrency' | 'isAnswered' | 'now' | 'maxOutageMs'>
  > {
  readonly credits?: number;
  /** Share of the longest backoff that a value waits. */
  readonly random?: number;
  readonly outlet?: Partial<Outlet>;
}

function endOf(end: Ended) {
  return 'outcome' in end ? end.outcome : end.unasked;
}

/** An executor whose permits are given, and whose calls are answered, by the test. */
function byHand({concurrency = 4, publishOn = [], random = 0, ...options}: ByHand = {}) {
  let credits = options.credits ?? Number.POSITIVE_INFINITY;
  let lease = (_permits: number) => {};
  const answers = new Map<string, (attempt: Attempt) => void>();
  const sent: string[] = [];
  /** By value, in order: its outcome, or why it has none. */
  const ends: [value: string, Outcome | UnaskedCode][] = [];
  const stops: ExecutorStop[] = [];
  const reserve = vi.fn((batch: readonly Reservation[]) => {
    const granted = Math.min(batch.length, credits);
    credits -= granted;
    return granted;
  });
  const record = vi.fn(async ({charge}: BookedAttempt) => {
    if (charge === 'free') credits += 1;
  });
  const adopt = vi.fn();
  const requested = vi.fn();
  const executor = new QueueExecutor({
    lanes: [{name: 'all', operations: ['ip'], rate: 'unlimited', concurrency}],
    maxOutageMs: 60_000,
    publishOn,
    isAnswered: () => true,
    now: () => boughtAt,
    random: () => random,
    ...options,
    outlet: {
      send: (_, {ip = ''}) =>
        new Promise(resolve => {
          sent.push(ip);
          answers.set(ip, attempt => resolve({...attempt, boughtAt}));
        }),
      pacer: (_lane, _controller, granted) => {
        lease = granted;
        return {request: requested, sent() {}, stop() {}};
      },
      ...options.outlet,
    },
    ledger: whole<Ledger>({
      tally: emptyTally(),
      reserve,
      record,
      adopt,
      budget: whole<Budget>({affords: cost => cost <= credits}),
    }),
    policy: {resends: 2, cost: {throttled: 'free', rejected: 'free'}},
    events: {closed() {}, stopped: reason => stops.push(reason)},
  });
  const settle = () => new Promise(resolve => setImmediate(resolve));
  return {
    ...{executor, sent, ends, stops, reserve, record, adopt, requested},
    async submit(value: string, task: Partial<Task> = {}) {
      void executor.submit({
        ...unwaited,
        ...{
          lookup: intelligenceLookup('ip', value),
          cost: 1,
          entry: newEntry(intelligenceLookup('ip', value)),
        },
        ended: end => ends.push([value, endOf(end)]),
        ...task,
      });
      await settle();
    },
    async permit(permits = 16) {
      lease(permits);
      await settle();
    },
    async answer(value: string, attempt: Attempt = ok) {
      answers.get(value)?.(attempt);
      await settle();
    },
  };
}

beforeEach(() => {
  vi.useFakeTimers({toFake: ['setTimeout', 'clearTimeout']});
});
afterEach(() => {
  vi.useRealTimers();
});

test('once closed, each value without an outcome ends as not asked for, and calls in flight get theirs', async () => {
  const withdraw = vi.fn(async () => {});
  const run = byHand({concurrency: 3, random: 0.9, outlet: {withdraw}});
  for (const value of ['answered', 'no answer', 'backs off']) await run.submit(value);
  await run.permit();
  await run.answer('backs off', reset);
  for (const value of ['waits for a permit', 'waits for a slot']) await run.submit(value);
  expect([run.sent.length, run.ends]).toEqual([3, []]);
  run.executor.close('deadline');
  await run.answer('answered');
  await run.answer('no answer', reset);
  await run.submit('comes later');
  await run.permit();
  expect(Object.fromEntries(run.ends)).toEqual({
    answered,
    'no answer': 'deadline',
    'backs off': 'deadline',
    'waits for a permit': 'deadline',
    'waits for a slot': 'deadline',
    'comes later': 'deadline',
  });
  expect([run.ends.length, run.sent.length, run.executor.pace().waiting]).toEqual([6, 3, 0]);
  // Workers of a fleet must not send any more either.
  expect(withdraw).toHaveBeenCalledOnce();
  // A timer would keep the process alive.
  expect(vi.getTimerCount()).toBe(0);
});

test('once stopped, calls in flight get their outcome, and nothing else is sent or ends', async () => {
  const run = byHand({concurrency: 3, random: 0.9});
  for (const value of ['answered', 'no answer']) await run.submit(value);
  await run.permit();
  for (const value of ['waits for a permit', 'waits for a slot']) await run.submit(value);
  run.executor.stop();
  await run.answer('answered');
  await run.answer('no answer', reset);
  await run.permit();
  expect([run.ends, run.sent.length, run.record.mock.calls.length]).toEqual([[['answered', answered]], 2, 2]);
  expect(vi.getTimerCount()).toBe(0);
});

test.each([
  ['is sent if that call turns out free', rejected(404, 'not_found'), true],
  ['is skipped if that call is charged', ok, false],
])('the value after the last credit waits for the call in flight: it %s', async (_, attempt, isSent) => {
  const run = byHand({credits: 1, publishOn: ['budget']});
  for (const value of ['last', 'next']) await run.submit(value);
  await run.permit();
  await run.submit('third');
  await run.permit();
  expect([run.sent, run.ends]).toEqual([['last'], []]);
  await run.answer('last', attempt);
  await run.permit();
  expect(run.sent).toEqual(isSent ? ['last', 'next'] : ['last']);
  if (isSent) await run.answer('next');
  await run.permit();
  expect(Object.fromEntries(run.ends.slice(1))).toEqual({
    next: isSent ? answered : 'budget',
    third: 'budget',
  });
});

test('a renewal does not wait for a credit: at the credit limit its value keeps the earlier answer', async () => {
  const run = byHand({credits: 1, publishOn: ['budget']});
  await run.submit('last');
  await run.permit();
  await run.submit('renewed', {before: {outcome: earlier, validity: 'stale'}});
  expect([run.sent, run.ends]).toEqual([['last'], [['renewed', 'budget']]]);
});

test.each([
  ['at the credit limit', 'budget', true],
  ['at another limit', 'outage', false],
] as const)(
  'where a run is published %s, a renewal leaves the credits to values without an answer, for %s: %s',
  async (_, limit, renews) => {
    const run = byHand({publishOn: [limit]});
    await run.submit('renewed', {before: {outcome: earlier, validity: 'stale'}});
    await run.submit('new');
    await run.permit();
    expect(run.reserve.mock.calls[0]?.[0].map(one => one.renews)).toEqual([renews, false]);
  },
);

test('all calls of a value are of its one entry, and each is booked under a number of its own', async () => {
  const run = byHand();
  await run.submit('a');
  await run.permit();
  await run.answer('a', reset);
  await run.permit();
  await run.answer('a');
  const calls = run.reserve.mock.calls.map(([[one]]) => one as Reservation);
  expect(calls.map(({cost}) => cost)).toEqual([1, 1]);
  expect(calls[0]?.entry).toBe(calls[1]?.entry);
  const booked = run.record.mock.calls.map(([one]) => one);
  expect(booked.map(({dispatch}) => dispatch)).toEqual(calls.map(({dispatch}) => dispatch));
  expect(new Set(booked.map(({dispatch}) => dispatch)).size).toBe(2);
});

test('a value that was sent as often as it may be is not sent again: it fails, and the ledger has that', async () => {
  const run = byHand();
  const entry = newEntry(intelligenceLookup('ip', 'a'), {
    doubts: 3,
    lastCode: 'timeout',
    mayBeCarriedOut: true,
  });
  await run.submit('a', {entry});
  await run.permit();
  const outcome = {status: 'failed', error: 'timeout'};
  expect([run.sent, run.ends]).toEqual([[], [['a', outcome]]]);
  expect(run.adopt.mock.calls).toEqual([[entry, outcome]]);
});

test.each(['reserve', 'record'] as const)(
  'a ledger that fails to %s ends the run, and nothing more is sent',
  async step => {
    const run = byHand({random: 0.9});
    const error = new Error('disk full');
    for (const value of ['a', 'b']) await run.submit(value);
    if (step === 'record') run.record.mockRejectedValue(error);
    else
      run.reserve.mockImplementation(() => {
        throw error;
      });
    await run.permit(1);
    await run.answer('a');
    await run.permit();
    expect(run.stops).toEqual([{kind: 'error', error}]);
    expect(run.sent).toEqual(step === 'record' ? ['a'] : []);
  },
);

test('a value that another run bought meanwhile takes no call, and waits no longer', async () => {
  const run = byHand();
  await run.submit('bought', {isAnsweredMeanwhile: () => true});
  await run.submit('other');
  await run.permit();
  expect([run.sent, run.reserve.mock.calls.length, run.executor.pace().waiting]).toEqual([['other'], 1, 0]);
});

test('the values that wait are those that are not in flight, and a pause is a fleet’s before the run’s own', async () => {
  const pause = {reason: 'fleet', detail: 'gate', untilMs: 99} as const;
  const run = byHand({outlet: {pause}});
  for (const value of ['a', 'b', 'c']) await run.submit(value);
  await run.permit(2);
  expect(run.executor.pace()).toMatchObject({inFlight: 2, waiting: 1, pause});
});

test('a value that another run bought meanwhile leaves its permit to the next one', async () => {
  const run = byHand();
  await run.submit('bought', {isAnsweredMeanwhile: () => true});
  await run.submit('other');
  run.requested.mockClear();
  await run.permit(1);
  expect([run.sent, run.requested.mock.calls.length]).toEqual([[], 1]);
});

test('as many calls are in flight as a fleet has workers for at the moment', async () => {
  const run = byHand({concurrency: 1});
  for (const value of ['a', 'b', 'c', 'd', 'e']) await run.submit(value);
  run.executor.slots = 3;
  await run.permit();
  expect(run.sent).toEqual(['a', 'b', 'c']);
  run.executor.slots = 1;
  for (const value of ['a', 'b']) await run.answer(value);
  await run.permit();
  expect(run.sent).toHaveLength(3);
});

test('a value that was rejected so before is rejected again, whatever the others of its kind are', async () => {
  const run = byHand({isAnswered: () => false});
  const outcome = {status: 'failed', error: 'not_found', rejected: true, boughtAt: 1} as const;
  await run.submit('known', {before: {outcome, validity: 'past'}});
  await run.submit('new');
  await run.permit();
  for (const value of ['known', 'new']) await run.answer(value, rejected(404, 'not_found'));
  expect(Object.fromEntries(run.ends)).toEqual({
    known: {...outcome, boughtAt},
    new: {status: 'failed', error: 'not_found'},
  });
});

test('a minute passes before the last call of a value, if nothing else can tell an outage', async () => {
  const run = byHand();
  await run.submit('a');
  for (let n = 0; n < 3; n += 1) {
    await run.permit();
    await run.answer('a', reset);
  }
  expect(run.sent).toHaveLength(2);
});

const pacer = () => ({request() {}, sent() {}, stop() {}});
const lanesOf = (...rates: readonly number[]) =>
  new Lanes(
    rates.map((count, n) => {
      const name = (['ip', 'email'] as const)[n] ?? 'phone';
      return {name, operations: [name], rate: {count, perMs: 1_000}, concurrency: 1};
    }),
    whole<Outlet>({pacer}),
    () => {},
  );

test('a run that ends waits for the calls in flight of each lane', async () => {
  const lanes = lanesOf(9, 9);
  let end = () => {};
  void lanes.of('email').inSlot(
    () =>
      new Promise(resolve => {
        end = resolve;
      }),
  );
  const isIdle = vi.fn();
  const idle = lanes.idleWithin(1_000).then(isIdle);
  await new Promise(resolve => setImmediate(resolve));
  expect(isIdle).not.toHaveBeenCalled();
  end();
  await idle;
});

test('an answer is dated by its arrival; no clock that jumps paces', async () => {
  let time = 1;
  const attempts: Attempt[] = [ok, simulated.refused, reset];
  const now = vi.fn(() => time);
  const outlet = localOutlet(
    whole<Sender>({
      async send() {
        time += 1;
        return attempts[time - 2] as Attempt;
      },
    }),
    now,
    () => 0,
  );
  const sent = [];
  for (const _ of attempts) sent.push((await outlet.send('ip', {ip: '192.0.2.1'}, 1)).boughtAt);
  expect(sent).toEqual([2, 3, 4]);
  now.mockClear();
  const rate = {count: 9, perMs: 1_000};
  const pacer = outlet.pacer(
    {name: 'all', operations: ['ip'], rate, concurrency: 1},
    new RateController(9),
    () => {},
  );
  pacer.request();
  pacer.stop();
  expect(now).not.toHaveBeenCalled();
});
