import {expect, test, vi} from 'vitest';
import type {TimedAttempt} from '../../src/client/attempt.ts';
import {AnswerStore} from '../../src/ledger/answers/store.ts';
import {newEntry} from '../../src/ledger/run/entry.ts';
import {Ledger} from '../../src/ledger/run/ledger.ts';
import {noAttempts} from '../../src/ledger/run/value-history.ts';
import type {Call, LaneSettings} from '../../src/lookup/call.ts';
import {Gate} from '../../src/lookup/gate.ts';
import type {GateOptions} from '../../src/lookup/gate-options.ts';
import type {Operation} from '../../src/operations/table.ts';
import {newDirectory} from '../support/new-directory.ts';

const within = newDirectory();
const answered = {
  ...{kind: 'answered', status: 200, latencyMs: 1, pace: {limits: {}}},
  ...{data: {}, unknownFields: [], wrongTypes: [], boughtAt: 1},
} as TimedAttempt;

const lanes: readonly LaneSettings[] = [
  {name: 'ip', operations: ['ip'], rate: 'unlimited', concurrency: 4},
  {name: 'all', operations: ['email'], rate: 'unlimited', concurrency: 4},
];

/** A gate over a real ledger. `inFlight`: calls of which the answers are awaited. */
function opened(more: Partial<GateOptions> & {readonly maxCredits?: number} = {}) {
  const ledger = new Ledger(within('ledger.db'), {scope: 'here', maxCredits: more.maxCredits});
  const said: string[] = [];
  const gate = new Gate({
    ledger,
    lanes,
    store: new AnswerStore(),
    outlet: {send: async () => answered},
    policy: {resends: 2, cost: {throttled: 'free', rejected: 'maybe'} as never},
    maxOutageMs: 60_000,
    isAnswered: () => true,
    publishOn: [],
    events: {
      refused: () => {},
      stopped: ({kind}) => void said.push(`stopped: ${kind}`),
      closed: ({kind}) => void said.push(`closed: ${kind}`),
    },
    now: () => performance.now(),
    random: () => 0.5,
    ...more,
  });
  const inFlight = new Map<string, () => void>();
  /** Takes a call through the gate. Resolves with its key once it is answered and settled, or with why it did not leave. */
  const pass = async (operation: Operation, key: string): Promise<string> => {
    const entry = newEntry({operation, key});
    const more = {params: {[operation]: key}, row: 1, before: undefined, renews: false, dispatch: 0};
    const call: Call = {operation, key, entry, cost: 1, ...more, sentAt: 0, attempts: 0, version: 0};
    gate.open(call);
    const step = await gate.pass(call, async () => {
      await new Promise<void>(resolve => void inFlight.set(key, resolve));
      gate.learn(call, answered);
      ledger.record({
        ...{
          operation,
          key,
          cost: 1,
          dispatch: call.dispatch,
          attempt: answered,
          charge: 'spent',
          retry: false,
        },
        ...{history: noAttempts, outcome: {status: 'ok', data: '{}', boughtAt: 1}},
      });
      return {next: 'sent'} as const;
    });
    await gate.settled(call);
    return step.next === 'sent' ? key : step.next;
  };
  const answer = (...keys: readonly string[]) => {
    for (const key of keys) inFlight.get(key)?.();
  };
  return {ledger, gate, said, inFlight, pass, answer};
}

/** Two turns of the event loop. */
const turns = () => new Promise<void>(resolve => setImmediate(() => setImmediate(resolve)));

test('calls of all lanes leave in one transaction, with the bookings of the answers that the turn has read', async () => {
  const {ledger, inFlight, pass, answer} = opened();
  const reserve = vi.spyOn(ledger, 'reserve');
  const lease = () => reserve.mock.results.filter(({value}) => value > 0).length;
  const first = [pass('ip', 'a'), pass('email', 'b')];
  await turns();
  expect([[...inFlight.keys()], lease(), ledger.inFlight]).toEqual([['a', 'b'], 1, 2]);
  answer('a', 'b');
  const second = [pass('ip', 'c'), pass('email', 'd')];
  expect(await Promise.all(first)).toEqual(['a', 'b']);
  expect([lease(), ledger.inFlight]).toEqual([2, 2]);
  answer('c', 'd');
  expect(await Promise.all(second)).toEqual(['c', 'd']);
  expect([lease(), ledger.inFlight, ledger.spending.ip.spent]).toEqual([2, 0, 2]);
  ledger.close();
});

test('a value is settled once its booking is in the file', async () => {
  const {ledger, pass, answer} = opened();
  const done = pass('ip', 'a');
  await turns();
  answer('a');
  await done;
  // As a kill leaves it.
  ledger.abandon();
  const next = new Ledger(within('ledger.db'), {scope: 'here'});
  expect([next.interrupted, next.find(['a']).get('a')?.outcome?.status]).toEqual([0, 'ok']);
  next.close();
});

test('no more calls are in flight than there are slots, all lanes together', async () => {
  const {ledger, inFlight, pass, answer} = opened({concurrency: 3});
  const all = ['a', 'b', 'c', 'd', 'e'].map((key, nth) => pass(nth % 2 === 0 ? 'ip' : 'email', key));
  // The first answer lifts the limit of calls before it.
  await turns();
  expect(ledger.inFlight).toBe(3);
  answer(...inFlight.keys());
  await turns();
  await turns();
  answer(...inFlight.keys());
  expect((await Promise.all(all)).toSorted()).toEqual(['a', 'b', 'c', 'd', 'e']);
  ledger.close();
});

test('a call that a limit does not allow waits for those in flight, and then stops the run', async () => {
  const {ledger, said, inFlight, pass, answer} = opened({maxCredits: 1});
  const [first] = [pass('ip', 'a'), pass('ip', 'b')];
  await turns();
  expect([[...inFlight.keys()], said]).toEqual([['a'], []]);
  answer('a');
  expect(await first).toBe('a');
  await turns();
  expect([said, ledger.budget.committed]).toEqual([['stopped: budget'], 1]);
  ledger.close();
});

test('a closed gate ends waiting calls, and books those in flight', async () => {
  const {ledger, gate, pass, answer} = opened({concurrency: 1});
  const all = [pass('ip', 'a'), pass('ip', 'b')];
  await turns();
  gate.close('deadline');
  answer('a');
  expect(await Promise.all(all)).toEqual(['a', 'skip']);
  expect(ledger.spending.ip).toEqual({calls: 1, spent: 1, maybeSpent: 0});
  ledger.close();
});
