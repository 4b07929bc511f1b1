import {expect, vi} from 'vitest';
import type {Attempt} from '../../src/client/attempt.ts';
import type {Rate} from '../../src/job/values.ts';
import type {Budget} from '../../src/ledger/budget.ts';
import {newEntry} from '../../src/ledger/entry.ts';
import type {Ledger} from '../../src/ledger/ledger.ts';
import {emptyTally} from '../../src/ledger/tally.ts';
import {localOutlet} from '../../src/lookup/local-outlet.ts';
import type {LaneSettings} from '../../src/lookup/outlet.ts';
import {steadyClock} from '../../src/lookup/pace/steady-clock.ts';
import {QueueExecutor} from '../../src/lookup/queue-executor.ts';
import type {Operation} from '../../src/operations/table.ts';
import {whole} from '../support/whole.ts';
import {unwaited} from './simulation.ts';

const answered: Attempt = {
  kind: 'answered',
  status: 200,
  latencyMs: 1,
  pace: {limits: {}},
  data: {},
  unknownFields: [],
  wrongTypes: [],
};

/** When each call was handed to the client, by operation, over `seconds` of real time; there is always work. */
export async function dispatches(lanes: readonly LaneSettings[], seconds: number) {
  const sent = new Map<Operation, number[]>();
  const random = Math.random;
  const now = steadyClock(Date.now());
  const executor = new QueueExecutor({
    lanes,
    maxOutageMs: 60_000,
    publishOn: [],
    isAnswered: () => false,
    now,
    random,
    outlet: localOutlet(
      {
        async send(operation) {
          const times = sent.get(operation) ?? [];
          times.push(performance.now());
          sent.set(operation, times);
          await new Promise(resolve => setTimeout(resolve, 5 * random()));
          return answered;
        },
      },
      Date.now,
      now,
    ),
    ledger: whole<Ledger>({
      tally: emptyTally(),
      reserve: batch => batch.length,
      record: async () => {},
      adopt() {},
      budget: whole<Budget>({affords: () => true}),
    }),
    policy: {
      resends: 2,
      cost: {throttled: 'free', rejected: 'maybe'},
    },
    events: {closed() {}, stopped() {}},
  });
  const end = performance.now() + seconds * 1_000;
  const feed = async (operation: Operation) => {
    for (let n = 0; performance.now() < end; n++) {
      const lookup = {operation, key: `${operation}${n}`, params: {}};
      await executor.submit({...unwaited, lookup, cost: 1, entry: newEntry(lookup), ended() {}});
    }
  };
  await Promise.all(lanes.flatMap(({operations}) => operations.map(feed)));
  executor.stop();
  return sent;
}

export function busiestWindow(times: readonly number[], windowMs: number): number {
  let first = 0;
  let most = 0;
  for (const [last, time] of times.entries()) {
    while ((times[first] as number) <= time - windowMs) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

export const lane = (operation: Operation, count: number, perMs = 1_000): LaneSettings => ({
  name: operation,
  operations: [operation],
  rate: {count, perMs},
  concurrency: 64,
});

/** Calls a second once the canary is over, which holds the first calls back. */
function mean(times: readonly number[]): number {
  const steady = times.filter(time => time >= (times[0] ?? 0) + 500);
  const span = (steady.at(-1) ?? 0) - (steady[0] ?? 0);
  return ((steady.length - 1) * 1_000) / span;
}

/**
 * Expects that the rate is passed in no window.
 * @returns the share of it that was used, of the lane that used the least
 */
export async function expectPace(lanes: readonly LaneSettings[], seconds: number): Promise<number> {
  const sent = await dispatches(lanes, seconds);
  const shares = lanes.map(({operations, rate}) => {
    const times = operations.flatMap(operation => sent.get(operation) ?? []).sort((a, b) => a - b);
    const {count, perMs} = rate as Rate;
    expect(busiestWindow(times, perMs)).toBeLessThanOrEqual(count);
    expect(times.length).toBeGreaterThan(0);
    return mean(times) / ((count * 1_000) / perMs);
  });
  return Math.min(...shares);
}

/** Lets `work` have all its time at once, in which nothing else holds it up. */
export async function inVirtualTime<T>(work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'Date', 'performance'],
  });
  try {
    let isDone = false;
    const done = work().finally(() => {
      isDone = true;
    });
    while (!isDone) await vi.advanceTimersToNextTimerAsync();
    return await done;
  } finally {
    vi.useRealTimers();
  }
}
