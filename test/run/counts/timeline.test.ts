import {expect, test} from 'vitest';
import {countAttempt, emptyTally} from '../../../src/ledger/run/tally.ts';
import {Timeline} from '../../../src/run/counts/timeline.ts';

/** A run whose every second has `calls` calls of `latencyMs` and as many rows. */
function running(seconds: number, calls: number, latencyMs: number) {
  const tally = emptyTally();
  const timeline = new Timeline(0, {tally, rows: 0, inFlightMs: 0});
  for (let second = 1; second <= seconds; second += 1) {
    for (let n = 0; n < calls; n += 1) countAttempt(tally, {kind: 'ambiguous', code: 'timeout', latencyMs});
    tally.operations.ip.calls += calls;
    timeline.sample(second * 1_000, {tally, rows: second * calls, inFlightMs: second * 3_000});
  }
  return {timeline, tally};
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

test('a point for each second: calls, rows, latency of those calls alone, and how many were in flight on average', () => {
  const {timeline, tally} = running(2, 10, 100);
  countAttempt(tally, {kind: 'ambiguous', code: 'timeout', latencyMs: 1_000});
  tally.operations.email.calls += 1;
  timeline.sample(2_400, {tally, rows: 20, inFlightMs: 6_300});
  timeline.sample(2_500, {tally, rows: 21, inFlightMs: 6_500}, true);
  const {summary} = timeline;
  expect(summary).toMatchObject({
    ms: [1_000, 1_000, 500],
    calls: [10, 10, 1],
    rows: [10, 10, 1],
    in_flight: [3, 3, 1],
  });
  expect(summary.latency_p50_ms[1]).toBeGreaterThanOrEqual(100);
  expect(summary.latency_p50_ms[1]).toBeLessThan(106);
  expect(summary.latency_p95_ms[2]).toBe(1_000);
});

test('a long run has few points that still add up', () => {
  const {ms, calls, in_flight} = running(6_000, 2, 50).timeline.summary;
  expect(ms.length).toBeLessThanOrEqual(240);
  expect(sum(ms)).toBeGreaterThan(5_960_000);
  expect(sum(calls) / sum(ms)).toBeCloseTo(2 / 1_000, 9);
  expect(in_flight.every(value => value === 3)).toBe(true);
  expect(Math.max(...ms) / Math.min(...ms)).toBeLessThanOrEqual(2);
});

test('a run that reads its input again loses no rows of the time before', () => {
  const {timeline, tally} = running(2, 10, 100);
  timeline.sample(3_000, {tally, rows: 4, inFlightMs: 6_000});
  expect(timeline.summary.rows).toEqual([10, 10, 0]);
});

test('stretches without calls have no latency, joined or not', () => {
  const {timeline} = running(500, 0, 0);
  const {ms, latency_p50_ms, latency_p95_ms} = timeline.summary;
  expect(ms.length).toBeGreaterThan(100);
  expect([...latency_p50_ms, ...latency_p95_ms].every(value => value === null)).toBe(true);
});

test('stretches are joined by their length and their calls; one without calls leaves the other’s latency', () => {
  const tally = emptyTally();
  const timeline = new Timeline(0, {tally, rows: 0, inFlightMs: 0});
  let [now, inFlightMs] = [0, 0];
  const stretch = (ms: number, inFlight: number, calls: number, latencyMs: number) => {
    [now, inFlightMs] = [now + ms, inFlightMs + inFlight * ms];
    for (let n = 0; n < calls; n += 1) countAttempt(tally, {kind: 'ambiguous', code: 'timeout', latencyMs});
    tally.operations.ip.calls += calls;
    timeline.sample(now, {tally, rows: tally.operations.ip.calls, inFlightMs});
  };
  stretch(1_000, 3, 10, 100);
  stretch(3_000, 7, 30, 200);
  stretch(1_000, 1, 5, 100);
  for (let n = 0; n < 239; n += 1) stretch(1_000, 0, 0, 0);
  const {ms, calls, rows, in_flight, latency_p50_ms, latency_p95_ms} = timeline.summary;
  const firstTwo = [ms, calls, rows, in_flight].map(list => list.slice(0, 2));
  expect(firstTwo).toEqual([
    [4_000, 2_000],
    [40, 5],
    [40, 5],
    [6, 1],
  ]);
  const latency = [latency_p50_ms, latency_p95_ms].map(list => list.slice(0, 2));
  expect(latency.map(both => both.map(value => Math.round((value ?? 0) / 25)))).toEqual([
    [8, 4],
    [8, 4],
  ]);
});
