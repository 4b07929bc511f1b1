import {afterEach, beforeEach, expect, test, vi} from 'vitest';
import type {Attempt} from '../../../src/client/attempt.ts';
import {intelligenceLookup, type Lookup, lookupOf} from '../../../src/ledger/lookup.ts';
import {emptyTally} from '../../../src/ledger/tally.ts';
import {noAttempts} from '../../../src/ledger/value-history.ts';
import {FlowControl} from '../../../src/lookup/pace/flow-control.ts';
import {InFlight} from '../../../src/lookup/pace/in-flight.ts';
import type {Unsettled} from '../../../src/lookup/pace/unsettled.ts';
import {policyNumbers} from '../../../src/lookup/policy.ts';
import {whole} from '../../support/whole.ts';

beforeEach(() => void vi.useFakeTimers({toFake: ['setTimeout', 'clearTimeout', 'Date']}));
afterEach(() => void vi.useRealTimers());

const lookup = intelligenceLookup('ip', '192.0.2.1');
const throttled = {
  kind: 'throttled',
  latencyMs: 1,
  status: 429,
  code: 'http_429',
  pace: {limits: {}, retryAfter: '600'},
} as const;
type Throttled = Extract<Parameters<FlowControl['ended']>[1], {kind: 'throttled'}>;

function opened(pending = 99, maxOutageMs = 3_600_000, isAnswered = true) {
  const left = {pending, sendsLeft: 9, areHeld: false};
  const [onOpen, onStop] = [vi.fn(), vi.fn()];
  const flow = new FlowControl({
    maxOutageMs,
    tasks: whole<Unsettled>(left),
    random: () => 0.5,
    slots: () => 9,
    isAnswered: () => isAnswered,
    refusals: operation => emptyTally().refusals[operation],
    now: Date.now,
    onOpen,
    onStop,
    onStreak: () => {},
  });
  return {flow, left, onOpen, onStop};
}

/** A gate that is closed for ten minutes, or for less by `answer`, while `pending` values wait. */
function closed(pending: number, maxOutageMs?: number, answer: Throttled = throttled) {
  const run = opened(pending, maxOutageMs);
  run.flow.sent(lookup);
  run.flow.ended(lookup, answer);
  return run;
}

test('a pause does not keep a process alive while nothing waits, and holds for later values', () => {
  const {flow, left, onOpen} = closed(1);
  expect(vi.getTimerCount()).toBe(1);
  left.pending = 0;
  flow.settled(lookup.key);
  expect(vi.getTimerCount()).toBe(0);
  // A lease that was on its way finds nothing.
  expect(flow.admit([], 4)).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
  expect(flow.admit([{lookup, history: noAttempts}], 4)).toEqual([]);
  vi.advanceTimersByTime(599_000);
  expect(onOpen).not.toHaveBeenCalled();
  vi.advanceTimersByTime(2_000);
  expect(onOpen).toHaveBeenCalledOnce();
  expect(flow.admit([{lookup, history: noAttempts}], 4)).toHaveLength(1);
});

test('a caller that was to give more keeps it, until it has none', () => {
  const {flow, left} = closed(Number.POSITIVE_INFINITY);
  flow.settled(lookup.key);
  expect(vi.getTimerCount()).toBe(1);
  left.pending = 0;
  flow.rest();
  expect(vi.getTimerCount()).toBe(0);
});

test('a run that gives up a throttling service at once comes back after half a minute, not at once', () => {
  const answer = {...throttled, pace: {limits: {}}};
  const {flow, onStop} = closed(1, 0, answer);
  vi.advanceTimersByTime(3);
  flow.ended(lookup, answer);
  expect(onStop).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({kind: 'outage', comeBackMs: Date.now() + 30_000}),
  );
});

const waiting = (one: Lookup) => ({lookup: one, history: noAttempts});
const failure = {kind: 'ambiguous', code: 'http_503', latencyMs: 1, status: 503} as const;

/** An outage, and the value whose call is to find out if it is over. */
function probing() {
  const {flow} = opened();
  for (let n = 0; n < policyNumbers.outageValues; n += 1) {
    const one = intelligenceLookup('ip', `192.0.2.${n}`);
    flow.sent(one);
    flow.ended(one, failure);
  }
  const probe = intelligenceLookup('ip', '198.51.100.7');
  vi.advanceTimersByTime(1_000);
  expect(flow.admit([waiting(probe), waiting(lookup)], 4)).toHaveLength(1);
  flow.sent(probe);
  expect([flow.admit([waiting(lookup)], 4), flow.isOutage]).toEqual([[], true]);
  return {flow, probe};
}

test.each<[string, Attempt]>([
  ['was lost with a worker', {kind: 'ambiguous', code: 'worker_lost', latencyMs: 1, lost: true}],
  ['a worker gave back', {kind: 'not_sent', code: 'fleet_gate', latencyMs: 1, closedMs: 0}],
])('in an outage, a call that %s lets the next one test the service', (_, attempt) => {
  const {flow, probe} = probing();
  flow.ended(probe, attempt);
  expect(flow.pause?.reason).toBe('outage');
  expect(flow.admit([waiting(lookup)], 4)).toHaveLength(1);
});

test('an answer that can not be read ends an outage: the service is back', () => {
  const {flow, probe} = probing();
  flow.ended(probe, {
    kind: 'unreadable',
    latencyMs: 1,
    pace: {limits: {}},
    status: 200,
    code: 'bad_response',
    detail: '',
  });
  expect(flow.pause).toBeUndefined();
});

test('an operation that is not answered yet does not hold others up', () => {
  const {flow} = opened(99, undefined, false);
  const emails = Array.from({length: 9}, (_, n) => intelligenceLookup('email', `a${n}@example.com`));
  expect(flow.admit([...emails, lookup].map(waiting), 9).at(-1)?.lookup).toBe(lookup);
});

test('a token that is refused beside ten addresses is one refused value: the run continues', () => {
  const {flow, onStop} = opened(99, undefined, false);
  for (let n = 0; n < 2 * policyNumbers.refusalStreak; n += 1) {
    const one = lookupOf('verify', {token: 's-1', action_id: 'signup', email: `a${n}@example.com`});
    flow.sent(one);
    flow.ended(one, {kind: 'rejected', latencyMs: 1, pace: {limits: {}}, status: 401, code: 'invalid_token'});
  }
  expect(onStop).not.toHaveBeenCalled();
});

test('answers that are read in one turn had arrived by then: waiting to be read is no time of the service', () => {
  const inFlight = new InFlight(0);
  inFlight.sent(0);
  inFlight.sent(0);
  inFlight.ended(10);
  inFlight.ended(15);
  expect([inFlight.count, inFlight.msUntil(20)]).toEqual([0, 20]);
});
