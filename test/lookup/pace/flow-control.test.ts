import {afterEach, beforeEach, expect, test, vi} from 'vitest';
import {intelligenceLookup} from '../../../src/ledger/lookup.ts';
import {emptyTally} from '../../../src/ledger/tally.ts';
import {FlowControl} from '../../../src/lookup/pace/flow-control.ts';
import type {Unsettled} from '../../../src/lookup/pace/unsettled.ts';
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

/** A gate that is closed for ten minutes, or for less by `answer`, while `pending` values wait. */
function closed(pending: number, maxOutageMs = 3_600_000, answer: Throttled = throttled) {
  const left = {pending, sendsLeft: 9, areHeld: false};
  const [onOpen, onStop] = [vi.fn(), vi.fn()];
  const flow = new FlowControl({
    maxOutageMs,
    tasks: whole<Unsettled>(left),
    random: () => 0.5,
    slots: () => 4,
    isAnswered: () => true,
    refusals: operation => emptyTally().operations[operation],
    now: Date.now,
    onOpen,
    onStop,
    onStreak: () => {},
  });
  flow.sent(lookup);
  flow.ended(lookup, answer);
  return {flow, left, onOpen, onStop};
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
  expect(flow.admit([{lookup, doubts: 0, isUrgent: () => false}], 4)).toEqual([]);
  vi.advanceTimersByTime(599_000);
  expect(onOpen).not.toHaveBeenCalled();
  vi.advanceTimersByTime(2_000);
  expect(onOpen).toHaveBeenCalledOnce();
  expect(flow.admit([{lookup, doubts: 0, isUrgent: () => false}], 4)).toHaveLength(1);
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
