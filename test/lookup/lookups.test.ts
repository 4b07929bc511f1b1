import {afterEach, expect, test, vi} from 'vitest';
import type {Attempt} from '../../src/client/attempt.ts';
import {AnswerStore} from '../../src/ledger/answers/store.ts';
import {
  type CellResult,
  intelligenceLookup,
  type Lookup,
  lookupForRequest,
} from '../../src/ledger/lookup-outcome.ts';
import {Ledger} from '../../src/ledger/run/ledger.ts';
import type {LaneSettings, LookupOptions, Waiter} from '../../src/lookup/call.ts';
import {Gate} from '../../src/lookup/gate.ts';
import {Lookups} from '../../src/lookup/lookups.ts';
import {newDirectory} from '../support/new-directory.ts';

/** Lookups through a gate over a real ledger. The attempts are this file's. */

const within = newDirectory();
const open: Ledger[] = [];
afterEach(() => {
  for (const ledger of open.splice(0)) ledger.close();
});

const heard = {status: 200, latencyMs: 1, pace: {limits: {}}};
const answered: Attempt = {kind: 'answered', ...heard, data: {n: 1}, unknownFields: [], wrongTypes: []};
const reset: Attempt = {kind: 'ambiguous', code: 'econnreset', latencyMs: 1};
const refused: Attempt = {kind: 'not_sent', code: 'econnrefused', latencyMs: 1};
const throttled: Attempt = {kind: 'throttled', ...heard, status: 429, code: 'http_429'};
const rejected: Attempt = {kind: 'rejected', ...heard, status: 422, code: 'not_supported'};
const noCredits: Attempt = {...heard, kind: 'fatal', reason: 'credits', code: 'http_402', status: 402};
const ok = {status: 'ok', data: '{"n":1}', boughtAt: 7};

const lanes: readonly LaneSettings[] = [
  {name: 'ip', operations: ['ip'], rate: 'unlimited', concurrency: 4},
  {name: 'all', operations: ['email', 'verify'], rate: 'unlimited', concurrency: 4},
];

interface Given extends Partial<LookupOptions> {
  readonly maxCredits?: number;
  /** The attempts of each address, in turns; the last one again and again. A test answers all others by `answer`. */
  readonly attempts?: readonly Attempt[];
}

function opened({maxCredits, attempts, ...more}: Given = {}) {
  const ledger = new Ledger(within('ledger.db'), {scope: 'here', maxCredits});
  open.push(ledger);
  const said: string[] = [];
  const sent: string[] = [];
  const inFlight = new Map<string, (attempt: Attempt) => void>();
  const gate = new Gate({
    ...{ledger, lanes, store: new AnswerStore(), maxOutageMs: 60_000, isAnswered: () => true, publishOn: []},
    dispatcher: {
      async send({params}) {
        const [value = ''] = Object.values(params);
        const nth = sent.filter(one => one === value).length;
        sent.push(value);
        const attempt = value.includes('@') ? undefined : attempts?.[Math.min(nth, attempts.length - 1)];
        const answer = attempt ?? new Promise<Attempt>(resolve => void inFlight.set(value, resolve));
        return {...(await answer), boughtAt: 7};
      },
    },
    policy: {resends: 2, cost: {throttled: 'free', rejected: 'maybe'}},
    costOf: () => 1,
    judge: ({key}, {boughtAt}) => (boughtAt === 7 && key !== '' ? 'fresh' : 'stale'),
    events: {
      attempted: ({attempt}) => void said.push(attempt.kind),
      refused: () => {},
      stopped: ({kind}) => void said.push(`stopped: ${kind}`),
      closed: ({kind}) => void said.push(`closed: ${kind}`),
    },
    now: () => performance.now(),
    random: () => 0,
    ...more,
  });
  const lookups = new Lookups(gate);
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
  return {ledger, gate, said, sent, ask, answer};
}

const ip = (value: string) => intelligenceLookup('ip', value);
const email = (value: string) => intelligenceLookup('email', value);
const session = (token: string) => lookupForRequest('verify', {token, action_id: 'login'});
/** Some turns of the event loop. */
const turns = async () => {
  for (let n = 0; n < 4; n++) await new Promise<void>(resolve => setImmediate(resolve));
};

test.each<
  [string, Attempt[], unknown, {readonly sends: number; readonly spent?: number; readonly maybe?: number}]
>([
  ['an answer', [answered], ok, {sends: 1, spent: 1}],
  ['two resets, then an answer', [reset, reset, answered], ok, {sends: 3, spent: 1, maybe: 2}],
  ['resets', [reset], {status: 'failed', error: 'econnreset'}, {sends: 3, maybe: 3}],
  ['no connection, four times', [refused, refused, refused, refused, answered], ok, {sends: 5, spent: 1}],
  ['throttled twice', [throttled, throttled, answered], ok, {sends: 3, spent: 1}],
  [
    'a rejection',
    [rejected],
    {status: 'failed', error: 'not_supported', rejected: true, boughtAt: 7},
    {sends: 1, maybe: 1},
  ],
])('a value that gets %s', async (_, attempts, result, {sends, spent = 0, maybe = 0}) => {
  const {ledger, sent, said, ask} = opened({attempts});
  // Without another value, the last resend would wait a minute: it could be an outage.
  void ask(email('jo@example.com'));
  expect(await Promise.all(ask(ip('192.0.2.1'), ip('192.0.2.1')))).toEqual([result, result]);
  expect([sent.length - 1, said.length]).toEqual([sends, sends]);
  expect(ledger.spending.ip).toMatchObject({spent, maybeSpent: maybe});
});

test('a value without resends is unknown after one call that may have been charged', async () => {
  const policy = {resends: 0, cost: {throttled: 'free', rejected: 'maybe'}} as const;
  const {sent, ask} = opened({attempts: [reset], policy});
  expect(await ask(ip('192.0.2.1'))[0]).toEqual({status: 'unknown', error: 'econnreset'});
  expect(sent).toHaveLength(1);
});

test('a call that no other can follow stops the run, and its value stays open', async () => {
  const {ledger, said, ask} = opened({attempts: [noCredits]});
  void ask(ip('192.0.2.1'));
  await turns();
  expect(said).toEqual(['stopped: fatal', 'fatal']);
  expect(ledger.find([ip('192.0.2.1').key]).get(ip('192.0.2.1').key)?.outcome).toBeUndefined();
});

test('rows with one value share its call, while it is under way and later', async () => {
  const {sent, ask, answer} = opened();
  const first = ask(ip('192.0.2.1'), ip('192.0.2.1'));
  await turns();
  const second = ask(ip('192.0.2.1'));
  await turns();
  answer('192.0.2.1');
  expect(await Promise.all([...first, ...second])).toEqual([ok, ok, ok]);
  expect(await Promise.all(ask(ip('192.0.2.1'), ip('192.0.2.1')))).toEqual([ok, ok]);
  expect(sent).toEqual(['192.0.2.1']);
});

test('each row with a session token has a call of its own, one after another', async () => {
  const {sent, ask, answer} = opened();
  const [first, second] = ask(session('t'), session('t'));
  await turns();
  expect(sent).toEqual(['t']);
  answer('t');
  await first;
  await turns();
  expect(sent).toEqual(['t', 't']);
  answer('t');
  expect(await second).toEqual(ok);
});

test.each([
  ['fresh', 0, ok],
  ['stale', 1, ok],
  ['stale, while no call is possible', 0, {...ok, stale: 'offline'}],
  ['past, while no call is possible', 0, {status: 'skipped', error: 'offline'}],
])('an answer in the store that is %s', async (text, calls, result) => {
  const [validity, closed] = text.split(', ') as ['fresh' | 'stale' | 'past', string?];
  const find: AnswerStore['find'] = keys =>
    new Map(keys.map(key => [key, {validity, outcome: {status: 'ok', data: '{"n":1}', boughtAt: 7}}]));
  const {gate, sent, ask} = opened({attempts: [answered], store: Object.assign(new AnswerStore(), {find})});
  if (closed !== undefined) gate.close('offline');
  expect(await ask(ip('192.0.2.1'))[0]).toEqual(result);
  expect(sent).toHaveLength(calls);
});

test('calls of all lanes leave in one transaction, with the bookings of the answers that the turn has read', async () => {
  const {ledger, sent, ask, answer} = opened();
  const reserve = vi.spyOn(ledger, 'reserve');
  const lease = () => reserve.mock.results.filter(({value}) => value > 0).length;
  const first = ask(ip('a'), email('b'));
  await turns();
  expect([sent, lease(), ledger.inFlight]).toEqual([['a', 'b'], 1, 2]);
  const second = ask(ip('c'), email('d'));
  answer('a', 'b');
  await Promise.all(first);
  expect([lease(), ledger.inFlight]).toEqual([2, 2]);
  answer('c', 'd');
  await Promise.all(second);
  expect([lease(), ledger.inFlight, ledger.spending.ip.spent]).toEqual([2, 0, 2]);
});

test('a row has its result once the booking is in the file', async () => {
  const {ledger, ask} = opened({attempts: [answered]});
  await Promise.all(ask(ip('a')));
  // As a kill leaves it.
  ledger.abandon();
  const next = new Ledger(within('ledger.db'), {scope: 'here'});
  open.push(next);
  expect([next.interrupted, next.find([ip('a').key]).size]).toEqual([0, 1]);
});

test('no more calls are in flight than there are slots, all lanes together', async () => {
  const {ledger, sent, ask, answer} = opened({concurrency: 3});
  const all = ask(ip('a'), email('b'), ip('c'), email('d'), ip('e'));
  await turns();
  expect(ledger.inFlight).toBe(3);
  answer(...sent);
  await turns();
  answer(...sent);
  expect(await Promise.all(all)).toEqual(Array(5).fill(ok));
});

test.each([
  ['stops the run', [], ['stopped: budget']],
  ['ends its value, if the run publishes at a limit', ['budget'], []],
] as const)(
  'a call that a limit does not allow waits for those in flight, then %s',
  async (_, publishOn, stops) => {
    const {ledger, said, sent, ask, answer} = opened({maxCredits: 1, publishOn});
    const [first, second] = ask(ip('a'), ip('b'));
    await turns();
    expect([sent, said]).toEqual([['a'], []]);
    answer('a');
    expect(await first).toEqual(ok);
    await turns();
    expect([said, ledger.budget.committed]).toEqual([['answered', ...stops], 1]);
    if (stops.length === 0) expect(await second).toEqual({status: 'skipped', error: 'budget'});
  },
);

test('a throttle that ends between a turn’s answers and its admission holds no call back', async () => {
  let time = 0;
  let calls = 0;
  const dispatcher = {
    async send() {
      calls += 1;
      if (calls === 1)
        setImmediate(() => {
          time = 60;
        });
      return {...(calls === 1 ? throttled : answered), boughtAt: 7};
    },
  };
  const {ask} = opened({dispatcher, now: () => time});
  expect(await ask(ip('192.0.2.1'))[0]).toEqual(ok);
}, 3_000);

test('a closed gate ends waiting calls, and books those in flight', async () => {
  const {ledger, gate, ask, answer} = opened({concurrency: 1});
  const all = ask(ip('a'), ip('b'));
  await turns();
  gate.close('deadline');
  answer('a');
  expect(await Promise.all(all)).toEqual([ok, {status: 'skipped', error: 'deadline'}]);
  expect(ledger.spending.ip).toEqual({calls: 1, spent: 1, maybeSpent: 0});
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
    name => ({name, operations: [name], rate: 'unlimited', concurrency: 4}) as const,
  );
  const {ask} = opened({dispatcher, lanes: own, concurrency: 1, now: () => time});
  const values = [1, 2, 3].flatMap(n =>
    own.map(({name}) => ({operation: name, key: `${name}${n}`, params: {[name]: `${n}`}})),
  );
  await Promise.all(ask(...values));
  expect(order.slice(0, 6)).toEqual(['ip', 'phone', 'email', 'ip', 'phone', 'email']);
}, 5_000);
