import type Bottleneck from 'bottleneck';
import {afterEach, beforeEach, expect, test, vi} from 'vitest';
import {FleetLane, type LeavingValue} from '../../src/fleet/fleet-lane.ts';
import type {Limiters} from '../../src/fleet/limits.ts';
import {type Chunk, chunkValuesAt} from '../../src/fleet/protocol.ts';
import type {Rate} from '../../src/job/values.ts';
import {perSecond, RateController} from '../../src/lookup/pace/rate-controller.ts';
import {whole} from '../support/whole.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A run's lane. `sent` gets its chunks, `told` the spacing of leases that Redis is told. */
function open(rate: Rate | 'unlimited', chunkValues = () => 8) {
  const sent: (readonly [Chunk, readonly LeavingValue[]])[] = [];
  const told: number[] = [];
  const redis = {takesWrites: true};
  const limiter = {
    async updateSettings({minTime}: {minTime: number}) {
      told.push(Math.round(minTime * 100) / 100);
      if (!redis.takesWrites) throw new Error('OOM');
    },
  };
  const controller = new RateController(perSecond(rate));
  const lane = new FleetLane({
    settings: {name: 'ip', operations: ['ip'], rate, concurrency: 4},
    limiters: whole<Limiters>({open: () => async () => limiter as unknown as Bottleneck}),
    ...{share: 0.5, timeoutMs: 1_000, now: Date.now, chunkValues},
    send: (...chunk) => void sent.push(chunk),
  });
  let dispatch = 0;
  const add = async (values: number) => {
    for (let n = 0; n < values; n++) {
      dispatch += 1;
      const value = {dispatch, operation: 'ip', params: {ip: `v${dispatch}`}, resolve: () => {}} as const;
      lane.add(value, controller.perSecond(Date.now()));
    }
    await vi.advanceTimersByTimeAsync(5);
    return sent.at(-1)?.[0];
  };
  return {add, sent, told, redis, controller};
}

test('values leave in chunks of eight, each once and in order, and the rest after 5 ms', async () => {
  const {add, sent} = open('unlimited');
  await add(19);
  expect(sent.map(([{asks}]) => asks.length)).toEqual([8, 8, 3]);
  const numbers = Array.from({length: 19}, (_, n) => n + 1);
  expect(sent.flatMap(([{asks}]) => asks)).toEqual(
    numbers.map(dispatch => ({dispatch, operation: 'ip', params: {ip: `v${dispatch}`}})),
  );
  // The attempts of a chunk go to its values by their place.
  expect(sent.flatMap(([, values]) => values.map(({dispatch}) => dispatch))).toEqual(numbers);
  await add(1);
  expect(sent.at(-1)?.[0]).toMatchObject({lane: 'ip', share: 0.5, timeoutMs: 1_000, asks: [{dispatch: 20}]});
});

test.each([
  [20, 1, 8],
  [20, 4, 8],
  [800, 1, 60],
  [800, 2, 30],
  [8_000, 2, 128],
  [800, 0, 60],
])('at %d calls a second by %d workers, a chunk has %d values', async (perSecond, workers, values) => {
  expect(chunkValuesAt(perSecond / 1_000, workers)).toBe(values);
  const {add, sent} = open('unlimited', () => chunkValuesAt(perSecond / 1_000, workers));
  await add(values + 1);
  expect(sent.map(([{asks}]) => asks.length)).toEqual([values, 1]);
});

test('workers are told the rate less 2%, again once it changes, and every 5 s, as Redis may have restarted', async () => {
  const {add, told, controller} = open({count: 500, perMs: 1_000});
  // Five calls in the time in which 490 a second earn them.
  expect((await add(1))?.pace).toEqual({permits: 5, minTimeMs: 5_000 / 490});
  await add(1);
  expect(told).toEqual([10.2]);
  await vi.advanceTimersByTimeAsync(5_000);
  await add(1);
  expect(told).toEqual([10.2, 10.2]);
  controller.throttled(Date.now(), Date.now() + 1_000, 500);
  const slower = (await add(1))?.pace?.minTimeMs ?? 0;
  expect(slower).toBeGreaterThan(15);
  expect(told).toEqual([10.2, 10.2, Math.round(slower * 100) / 100]);
});

test('a rate that Redis refused is told again with the next chunk', async () => {
  const {add, told, redis} = open({count: 500, perMs: 1_000});
  redis.takesWrites = false;
  await add(1);
  redis.takesWrites = true;
  await add(1);
  await add(1);
  expect(told).toEqual([10.2, 10.2]);
});

test('without a rate nothing limits workers, until the service throttles', async () => {
  const {add, told, controller} = open('unlimited');
  expect((await add(1))?.pace).toBeUndefined();
  controller.throttled(Date.now(), Date.now(), 100);
  const pace = (await add(1))?.pace;
  expect(pace?.permits).toBe(5);
  expect([pace?.minTimeMs ?? 0, ...told].every(ms => ms > 50)).toBe(true);
  expect(told).toHaveLength(1);
});
