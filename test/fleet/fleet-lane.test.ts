import {afterEach, beforeEach, expect, test, vi} from 'vitest';
import {FleetLane, type LeavingValue} from '../../src/fleet/fleet.ts';
import {type Chunk, chooseChunkSize} from '../../src/fleet/protocol.ts';
import type {Rate} from '../../src/job/setting-types.ts';
import {perSecond} from '../../src/lookup/rate-limit.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const askOf = (dispatch: number) =>
  ({dispatch, operation: 'ip', params: {ip: `v${dispatch}`}, cost: 1_000}) as const;

/** A run's lane. `sent` gets its chunks. */
function open(rate: Rate | 'unlimited', chunkValues = () => 8) {
  const sent: (readonly [Chunk, readonly LeavingValue[]])[] = [];
  const pace = {perSecond: perSecond(rate)};
  const send = (...chunk: (typeof sent)[number]) => void sent.push(chunk);
  const lane = new FleetLane({lane: 'ip', share: 0.5, timeoutMs: 1_000, chunkValues, send});
  let dispatch = 0;
  const add = async (values: number) => {
    for (let n = 0; n < values; n++) lane.add({...askOf(++dispatch), resolve: () => {}}, pace.perSecond);
    await vi.advanceTimersByTimeAsync(5);
    return sent.at(-1)?.[0];
  };
  return {add, sent, pace};
}

test('values leave in chunks of eight, each once and in order, and the rest after 5 ms', async () => {
  const {add, sent} = open('unlimited');
  await add(19);
  expect(sent.map(([{asks}]) => asks.length)).toEqual([8, 8, 3]);
  const numbers = Array.from({length: 19}, (_, n) => n + 1);
  expect(sent.flatMap(([{asks}]) => asks)).toEqual(numbers.map(askOf));
  // The attempts of a chunk go to its values by their place.
  expect(sent.flatMap(([, values]) => values.map(({dispatch}) => dispatch))).toEqual(numbers);
  await add(1);
  expect(sent.at(-1)?.[0]).toMatchObject({lane: 'ip', share: 0.5, timeoutMs: 1_000, asks: [{dispatch: 20}]});
});

const ofSecond = (count: number) => ({count, perMs: 1_000});

test.each([
  [20, 1, 8],
  [20, 4, 8],
  [800, 1, 60],
  [800, 2, 30],
  [8_000, 2, 128],
  [800, 0, 60],
])('at %d calls a second by %d workers, a chunk has %d values', async (perSecond, workers, values) => {
  expect(chooseChunkSize(perSecond / 1_000, workers)).toBe(values);
  const {add, sent} = open('unlimited', () => chooseChunkSize(perSecond / 1_000, workers));
  await add(values + 1);
  expect(sent.map(([{asks}]) => asks.length)).toEqual([values, 1]);
});

test.each([
  [ofSecond(500), {permits: 5, minTimeMs: 5_000 / 490}],
  [ofSecond(20), {permits: 1, minTimeMs: 1_000 / 19.6}],
  ['unlimited', undefined],
] as const)('a chunk names its rate less 2%%, and a lowered one: %o', async (rate, pace) => {
  const {add, pace: now} = open(rate);
  expect((await add(1))?.pace).toEqual(pace);
  now.perSecond = 12;
  const slower = (await add(1))?.pace;
  expect(slower?.permits).toBe(1);
  expect(slower?.minTimeMs ?? 0).toBeGreaterThan(1_000 / 19);
});
