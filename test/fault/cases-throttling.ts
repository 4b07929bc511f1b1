import {expect} from 'vitest';
import {reply} from '../support/api-server-reply.ts';
import {type FaultCase, withVictim} from './case.ts';
import {describeMoney, describeRun, World} from './world.ts';

const TWO_DAYS_MS = 2 * 86_400_000;
const inTwoDays = () => new Date(Date.now() + TWO_DAYS_MS);
/** Answers that ask to wait for two days, by the form in which they say so. */
const twoDays = {
  'Retry-After in seconds': () => reply.throttle(TWO_DAYS_MS / 1_000),
  'Retry-After as a date': () => reply.throttle(inTwoDays()),
  '503 with Retry-After': () => reply.unavailable(TWO_DAYS_MS / 1_000),
  RateLimit: () => reply.throttle(undefined, {headers: {RateLimit: '"day";r=0;t=172800'}}),
  'X-RateLimit-Reset': () =>
    reply.throttle(undefined, {
      headers: {
        'X-RateLimit-Remaining': '0',
        'X-RateLimit-Reset': String(Math.round(inTwoDays().getTime() / 1_000)),
      },
    }),
} as const;

export const throttlingCases: readonly FaultCase[] = [
  {
    fault: '429 with Retry-After',
    expected: 'everybody waits that long, then it goes on; free, and no attempt is used up',
    async see() {
      await using world = await World.open({
        values: Array.from({length: 60}, (_, index) => `203.0.113.${index + 1}`),
        script: ({call}) => (call === 20 ? reply.throttle(1) : undefined),
      });
      const ran = await world.run();
      world.expectSound(ran, {callsPerValue: 2});
      // Calls under way arrive later still; after them, none does for most of that second.
      const {arrivals} = world.server.ledger;
      const gaps = arrivals.map((at, index) => at - (arrivals[index - 1] ?? at));
      expect(Math.max(...gaps)).toBeGreaterThan(200);
      expect(ran.summary.pace.pauses).toBe(1);
      expect(ran.summary.pace.paused_ms).toBeGreaterThanOrEqual(1_000);
      return `${describeRun(ran)}; ${describeMoney(ran)}; all paused once`;
    },
  },
  {
    fault: '429 with Retry-After as a date',
    expected: 'measured against the response’s own clock',
    async see() {
      const hours = 3_600_000;
      const date = new Date(Date.now() - 5 * hours);
      const headers = {Date: date.toUTCString()};
      await using world = await World.open({
        script: ({call}) =>
          call === 3 ? reply.throttle(new Date(date.getTime() + 2_000), {headers}) : undefined,
      });
      const ran = await world.run();
      world.expectSound(ran, {callsPerValue: 2});
      expect(ran.summary.pace.paused_ms).toBeGreaterThan(900);
      expect(ran.summary.pace.paused_ms).toBeLessThan(10_000);
      return `${describeRun(ran)}; ${describeMoney(ran)}`;
    },
  },
  {
    fault: '429 without Retry-After',
    expected: 'everybody backs off a little; free',
    see: () => withVictim(reply.throttle(), {attempts: 2}),
  },
  {
    fault: '503 with Retry-After',
    expected: 'like 429',
    see: () => withVictim(reply.unavailable(1), {attempts: 1}),
  },
  {
    fault: '503 without Retry-After',
    expected: 'sent again; maybe charged once more',
    see: () => withVictim(reply.unavailable(), {attempts: 1}),
  },
  {
    fault: 'Retry-After beyond --max-outage',
    expected: 'exit 5 at once, with the time to come back in the summary',
    async see() {
      await using world = await World.open({
        script: ({call}) => (call > 5 ? reply.throttle(7_200) : undefined),
      });
      const ran = await world.run({flags: ['--concurrency', '1']});
      world.expectSound(ran);
      const wait = Date.parse(ran.summary.come_back_at ?? '') - Date.parse(ran.summary.finished_at);
      expect(wait).toBeGreaterThan(7_190_000);
      expect(wait).toBeLessThan(7_201_000);
      expect(world.server.ledger.calls).toBe(6);
      world.server.setScript(undefined);
      const second = await world.run();
      world.expectSound(second);
      return `${describeRun(ran)}; then ${describeRun(second)}; ${describeMoney(second)}`;
    },
  },
  ...Object.entries(twoDays).map(
    ([form, answer]): FaultCase => ({
      fault: `a wait of two days: ${form}`,
      expected: 'exit 5 after one call, with the time to come back',
      async see() {
        await using world = await World.open({script: ({call}) => (call > 5 ? answer() : undefined)});
        const ran = await world.run({flags: ['--concurrency', '1', '--max-outage', '5s']});
        world.expectSound(ran);
        const wait = Date.parse(ran.summary.come_back_at ?? '') - Date.parse(ran.summary.finished_at);
        expect(Math.abs(wait - TWO_DAYS_MS)).toBeLessThan(20_000);
        expect(world.server.ledger.calls).toBe(6);
        return `${describeRun(ran)}; ${describeMoney(ran)}`;
      },
    }),
  ),
  {
    fault: 'pace headers full of nonsense, on every answer',
    expected: 'as if they were not there',
    async see() {
      const nonsense = ['-1', 'NaN', '1e99', '9'.repeat(60), '', '0', 'Thu, 01 Jan 1970 00:00:00 GMT', '%00'];
      const at = (index: number) => nonsense[index % nonsense.length] ?? '';
      await using world = await World.open({
        script: ({call}) =>
          reply.ok({
            headers: {
              'Retry-After': at(call),
              RateLimit: `"x";r=${at(call + 1)};t=${at(call + 2)}`,
              'X-RateLimit-Remaining': call % 2 === 0 ? '0' : at(call + 3),
              'X-RateLimit-Reset': call % 2 === 0 ? '60' : at(call + 4),
            },
          }),
      });
      const ran = await world.run();
      world.expectSound(ran, {callsPerValue: 1});
      expect(ran.summary.pace.pauses).toBe(0);
      return `${describeRun(ran)}; ${describeMoney(ran)}; no pause`;
    },
  },
  {
    fault: '500 for one value for ever',
    expected: 'that value fails after its resends; the others are answered',
    async see() {
      const values = Array.from({length: 250}, (_, index) => `203.0.113.${index + 1}`);
      const script = ({value}: {value: string}) => (value === '203.0.113.20' ? reply.empty(500) : undefined);
      await using world = await World.open({values, script, latencyMs: 150});
      const ran = await world.run({flags: ['--concurrency', '8']});
      world.expectSound(ran);
      expect(ran.summary.pace.pauses).toBe(0);
      return `${describeRun(ran)}; ${describeMoney(ran)}`;
    },
  },
];
