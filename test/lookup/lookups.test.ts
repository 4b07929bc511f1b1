import {afterEach, expect, test, vi} from 'vitest';
import type {Attempt} from '../../src/client/attempt.ts';
import {AnswerStore} from '../../src/ledger/answers/store.ts';
import {type CellResult, intelligenceLookup, type Lookup} from '../../src/ledger/lookup-outcome.ts';
import {Ledger} from '../../src/ledger/run/ledger.ts';
import type {LaneSettings, LookupOptions, Waiter} from '../../src/lookup/call.ts';
import {Executor} from '../../src/lookup/executor.ts';
import {Lookups} from '../../src/lookup/lookups.ts';
import {newDirectory} from '../support/new-directory.ts';

/** Turns and transactions of lookups through the executor over a real ledger; test/seams/night has what becomes of values. */

const within = newDirectory();
const open: Ledger[] = [];
afterEach(() => {
  for (const ledger of open.splice(0)) ledger.close();
});

const heard = {status: 200, latencyMs: 1, pace: {limits: {}}};
const answered: Attempt = {kind: 'answered', ...heard, data: {n: 1}, unknownFields: [], wrongTypes: []};

const lanes: readonly LaneSettings[] = [
  {name: 'ip', operations: ['ip'], rate: 'unlimited'},
  {name: 'all', operations: ['email'], rate: 'unlimited'},
];

function opened(more: Partial<LookupOptions> = {}) {
  const ledger = new Ledger(within('ledger.db'), {scope: 'here'});
  open.push(ledger);
  const inFlight = new Map<string, (attempt: Attempt) => void>();
  const executor = new Executor({
    ...{ledger, lanes, store: new AnswerStore(), maxOutageMs: 60_000, publishOn: []},
    ...{isAnswered: () => true, hadSignals: () => true, judge: () => 'fresh', costOf: () => 1},
    dispatcher: {
      async send({params}) {
        const [value = ''] = Object.values(params);
        return {...(await new Promise<Attempt>(resolve => void inFlight.set(value, resolve))), boughtAt: 7};
      },
    },
    policy: {resends: 2, cost: {throttled: 'free', rejected: 'maybe'}},
    events: {attempted: () => {}, refused: () => {}, down: () => {}, stopped: () => {}, closed: () => {}},
    now: () => performance.now(),
    random: () => 0,
    ...more,
  });
  const lookups = new Lookups(executor);
  /** Results of rows with these lookups, which come in the order of the rows. */
  const ask = (...all: readonly Lookup[]): Promise<CellResult>[] => {
    const waiters: Waiter[] = [];
    const results = all.map(
      (lookup, row) => new Promise<CellResult>(tell => void waiters.push({lookup, row, tell})),
    );
    void lookups.ask(waiters);
    return results;
  };
  const answer = (...values: readonly string[]) => {
    for (const value of values) inFlight.get(value)?.(answered);
  };
  return {ledger, sent: () => [...inFlight.keys()], ask, answer};
}

const ip = (value: string) => intelligenceLookup('ip', value);
const email = (value: string) => intelligenceLookup('email', value);
/** Some turns of the event loop. */
const turns = async () => {
  for (let n = 0; n < 4; n++) await new Promise<void>(resolve => setImmediate(resolve));
};

test('calls of all lanes leave in one transaction, with the bookings of the answers that the turn has read', async () => {
  const {ledger, sent, ask, answer} = opened();
  const reserve = vi.spyOn(ledger, 'reserve');
  const lease = () => reserve.mock.results.filter(({value}) => value > 0).length;
  const first = ask(ip('a'), email('b'));
  await turns();
  expect([sent(), lease(), ledger.inFlight]).toEqual([['a', 'b'], 1, 2]);
  const second = ask(ip('c'), email('d'));
  answer('a', 'b');
  await Promise.all(first);
  expect([lease(), ledger.inFlight]).toEqual([2, 2]);
  answer('c', 'd');
  await Promise.all(second);
  expect([lease(), ledger.inFlight, ledger.spending.ip.spent]).toEqual([2, 0, 2]);
});

test('a row has its result once the booking is in the file', async () => {
  const {ledger, ask, answer} = opened();
  const results = ask(ip('a'));
  await turns();
  answer('a');
  await Promise.all(results);
  // As a kill leaves it.
  ledger.abandon();
  const next = new Ledger(within('ledger.db'), {scope: 'here'});
  open.push(next);
  expect([next.interrupted, next.find([ip('a').key]).size]).toEqual([0, 1]);
});

test('three lanes share one slot in turn, however long their calls take', async () => {
  let time = 10_000;
  const order: string[] = [];
  const dispatcher = {
    async send({operation}: {operation: string}) {
      order.push(operation);
      await new Promise(setImmediate);
      time += 2_000;
      return {...answered, boughtAt: 7};
    },
  };
  const own = (['ip', 'phone', 'email'] as const).map(
    name => ({name, operations: [name], rate: 'unlimited'}) as const,
  );
  const {ask} = opened({dispatcher, lanes: own, concurrency: 1, now: () => time});
  const values = [1, 2, 3].flatMap(n =>
    own.map(({name}) => ({operation: name, key: `${name}${n}`, params: {[name]: `${n}`}})),
  );
  await Promise.all(ask(...values));
  expect(order.slice(0, 6)).toEqual(['ip', 'phone', 'email', 'ip', 'phone', 'email']);
}, 5_000);
