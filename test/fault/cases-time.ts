import {expect} from 'vitest';
import {reply} from '../support/api-server-reply.ts';
import type {FaultCase} from './case.ts';
import {addresses, describeRun, World} from './world.ts';

/** Faults that last: the runs are in the test's process, where time passes many times as fast; the sockets are real. */

const MINUTE = 60_000;
const FACTOR = 60;

/** From the first call on, as the server's process sees the time. */
function sinceFirst(): () => number {
  let first: number | undefined;
  return () => {
    first ??= Date.now();
    return Date.now() - first;
  };
}

function many(count: number): string[] {
  return Array.from({length: count}, (_, index) => `198.18.${Math.floor(index / 250)}.${(index % 250) + 1}`);
}

export const timeCases: readonly FaultCase[] = [
  {
    fault: '429 storm of three minutes',
    expected: 'asked now and then; no row fails, no attempt is used up, nothing is charged for it',
    async see() {
      await using world = await World.open({values: many(300)});
      const clock = sinceFirst();
      world.server.setScript(({call}) => {
        const at = clock();
        return call > 50 && at < 3 * MINUTE ? reply.throttle() : undefined;
      });
      const ran = await world.runFast(FACTOR);
      world.expectSound(ran, {callsPerValue: 60});
      expect(ran.summary.duration_ms).toBeGreaterThan(2.5 * MINUTE);
      expect(world.server.ledger.byStatus.get(429)).toBeLessThan(120);
      expect(ran.summary.credits).toMatchObject({spent: 300, maybe_spent: 0});
      return describeRun(ran);
    },
  },
  {
    fault: '503 outage of a minute, and recovery',
    expected: 'one probe at a time, then a ramp; no row fails',
    async see() {
      await using world = await World.open({values: many(300)});
      const clock = sinceFirst();
      world.server.setScript(({call}) => {
        const at = clock();
        return call > 100 && at < MINUTE ? reply.unavailable() : undefined;
      });
      const ran = await world.runFast(FACTOR);
      world.expectSound(ran, {callsPerValue: 4});
      expect(world.server.ledger.byStatus.get(503)).toBeLessThan(40);
      expect(ran.summary.pace.paused_ms).toBeGreaterThan(0.7 * MINUTE);
      return describeRun(ran);
    },
  },
  {
    fault: '500 for everything for an hour, --max-outage 15m, then run again',
    expected: 'exit 5 with the time to come back; the next run ends whole',
    async see() {
      await using world = await World.open({values: many(300)});
      world.server.setScript(({call}) => (call > 100 ? reply.empty(500) : undefined));
      const first = await world.runFast(10 * FACTOR);
      world.expectSound(first, {callsPerValue: 4});
      expect(first.summary.come_back_at).toBeDefined();
      world.server.setScript(undefined);
      const second = await world.runFast(FACTOR);
      world.expectSound(second, {callsPerValue: 5});
      return `${describeRun(first)}; then ${describeRun(second)}`;
    },
  },
  {
    fault: '500 for ever for the last value of the list',
    expected: 'a minute’s patience, as it could be an outage; then that value fails',
    async see() {
      const values = addresses(60);
      const script = ({value}: {value: string}) => (value === values.at(-1) ? reply.empty(500) : undefined);
      await using world = await World.open({values, script});
      const ran = await world.runFast(FACTOR);
      world.expectSound(ran);
      expect(ran.summary.duration_ms).toBeLessThan(2 * MINUTE);
      return describeRun(ran);
    },
  },
  {
    fault: 'no answer to one value for ever, among others',
    expected: 'that value fails after its resends; the others are answered',
    async see() {
      const values = many(400);
      const script = ({value}: {value: string}) => (value === values[20] ? reply.stall() : undefined);
      await using world = await World.open({values, script});
      const ran = await world.runFast(10, ['--rate', '60/s', '--timeout', '1s']);
      world.expectSound(ran);
      expect(ran.summary.pace.pauses).toBe(0);
      return describeRun(ran);
    },
  },
  {
    fault: '500 for ever for six values that are all that is left',
    expected: 'a last call for each, then they fail: no endless outage',
    async see() {
      const values = addresses(60);
      const script = ({value}: {value: string}) =>
        values.indexOf(value) >= 54 ? reply.empty(500) : undefined;
      await using world = await World.open({values, script});
      const ran = await world.runFast(FACTOR);
      world.expectSound(ran, {callsPerValue: 8});
      expect(ran.summary.duration_ms).toBeLessThan(10 * MINUTE);
      return describeRun(ran);
    },
  },
  {
    fault: 'a server that allows 10/s to a client set to 100/s, and later all',
    expected: 'within 15 s between 5 and 11/s; back at 100/s once it is allowed',
    async see() {
      await using world = await World.open({values: many(800)});
      world.server.setLimit({perSecond: 10});
      const passed: number[] = [];
      const arrived: number[] = [];
      const clock = sinceFirst();
      world.server.setScript(() => {
        const at = clock();
        if (at > 25_000) {
          world.server.setLimit(undefined);
          arrived.push(at);
        } else passed.push(at);
        return undefined;
      });
      const ran = await world.runFast(8, ['--rate', '100/s']);
      world.expectSound(ran, {callsPerValue: 40});
      const perSecond = (times: readonly number[], from: number, to: number) =>
        times.filter(at => at >= from && at < to).length / ((to - from) / 1_000);
      // Attempts, the refused ones among them.
      const held = perSecond(passed, 15_000, 25_000);
      expect(held).toBeGreaterThanOrEqual(5);
      expect(held).toBeLessThanOrEqual(11);
      const fastest = Math.max(
        ...arrived.map(at => arrived.filter(other => other >= at && other < at + 1_000).length),
      );
      expect(fastest).toBeGreaterThanOrEqual(90);
      return `${describeRun(ran)}; between 5 and 11/s, then 100/s again`;
    },
  },
];
