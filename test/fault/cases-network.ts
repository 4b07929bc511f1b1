import {expect} from 'vitest';
import {reply} from '../support/api-server-reply.ts';
import {until} from '../support/until.ts';
import {type FaultCase, VICTIM, withVictim} from './case.ts';
import type {Faults} from './proxy.ts';
import {describeMoney, describeRun, World} from './world.ts';

/** So long that only what never ends comes to it, however busy the machine is. */
const TIMEOUT = '5s';

/** The third request through the proxy meets this. */
async function thirdRequest(faults: Faults, calls: number): Promise<string> {
  await using world = await World.open();
  const proxy = await world.proxy({onRequest: ({request}) => (request === 3 ? faults : undefined)});
  const ran = await world.run({url: proxy.url});
  world.expectSound(ran);
  expect(world.server.ledger.calls).toBe(calls);
  return `${describeRun(ran)}; ${describeMoney(ran)}`;
}

async function unreachable(url: string, flags: readonly string[] = []): Promise<string> {
  await using world = await World.open();
  const ran = await world.run({url, flags: ['--max-outage', '1s', ...flags]});
  world.expectSound(ran);
  expect(ran.summary.calls).toMatchObject({total: 0, unsent: expect.any(Number)});
  expect(Date.parse(ran.summary.come_back_at ?? '')).toBeGreaterThan(Date.parse(ran.summary.finished_at));
  return `${describeRun(ran)}; ${describeMoney(ran)}`;
}

export const networkCases: readonly FaultCase[] = [
  {
    fault: 'connection refused for a second',
    expected: 'waits, then goes on; what was not sent is free and fails no row',
    async see() {
      await using world = await World.open();
      const proxy = await world.proxy();
      proxy.refuse();
      const started = world.run({url: proxy.url});
      await until(() => world.hasSaid('"outcome":"not_sent"'));
      await new Promise(resolve => setTimeout(resolve, 1_000));
      await proxy.accept();
      const ran = await started;
      world.expectSound(ran, {callsPerValue: 1});
      expect(ran.summary.calls.unsent).toBeGreaterThan(0);
      return `${describeRun(ran)}; ${describeMoney(ran)}`;
    },
  },
  {
    fault: 'connection refused for longer than --max-outage',
    expected: 'exit 5 with the time to come back; nothing charged',
    see: () => unreachable('http://127.0.0.1:9'),
  },
  {
    fault: 'DNS failure',
    expected: 'exit 5 with the time to come back; nothing charged',
    see: () => unreachable('https://api.invalid'),
  },
  {
    fault: 'TLS handshake fails',
    expected: 'exit 5: nothing was sent, and it may be fixed at the other end',
    async see() {
      await using world = await World.open();
      return unreachable(world.server.url.replace('http:', 'https:'));
    },
  },
  {
    fault: 'certificate that can’t be trusted',
    expected: 'exit 2 at once, nothing sent',
    async see() {
      await using world = await World.open({tls: true});
      const ran = await world.run();
      world.expectSound(ran);
      expect(world.server.ledger.requests).toBe(0);
      expect(ran.stderr).toContain('NODE_EXTRA_CA_CERTS');
      return `${describeRun(ran)}; ${describeMoney(ran)}`;
    },
  },
  {
    fault: 'reset before the request',
    expected: 'sent again; maybe charged once more',
    see: () => thirdRequest({reset: 'before'}, 12),
  },
  {
    fault: 'reset during the request',
    expected: 'sent again; maybe charged once more',
    see: () => thirdRequest({reset: 'during'}, 12),
  },
  {
    fault: 'reset after the request',
    expected: 'sent again; charged twice, of which one is maybe',
    see: () => thirdRequest({reset: 'after'}, 13),
  },
  {
    fault: 'reset after the request, --resends 0',
    expected: 'that value is unknown, and not sent again',
    see: () => withVictim(reply.drop('reset'), {flags: ['--resends', '0']}),
  },
  {
    fault: 'stale keep-alive sockets: each closed right after its answer',
    expected: 'no row fails; a call that met the closing socket is sent again',
    async see() {
      await using world = await World.open({script: () => reply.ok({after: 'close'})});
      const ran = await world.run({flags: ['--concurrency', '2']});
      world.expectSound(ran);
      return describeRun(ran);
    },
  },
  {
    fault: 'timeout before the headers',
    expected: 'sent again; maybe charged once more',
    see: () => withVictim(reply.stall(), {attempts: 1, flags: ['--timeout', TIMEOUT]}),
  },
  {
    fault: 'body that drips for ever',
    expected: 'cut off at --timeout and sent again',
    see: () => withVictim(reply.drip(20, {endless: true}), {attempts: 1, flags: ['--timeout', TIMEOUT]}),
  },
  {
    fault: 'cut body',
    expected: 'sent again; maybe charged once more',
    see: () => withVictim(reply.cut(), {attempts: 1}),
  },
  {
    fault: 'no HTTP at all',
    expected: 'fails the value as bad_response, maybe charged; never sent again',
    see: () => withVictim(reply.raw('nonsense\r\n\r\n', {ending: 'close'}), {attempts: 1}),
  },
  {
    fault: 'latency, jitter, little bandwidth and slow closes',
    expected: 'slower, and nothing else',
    async see() {
      await using world = await World.open();
      const proxy = await world.proxy({
        latencyMs: 20,
        jitterMs: 40,
        bytesPerSecond: 20_000,
        slowCloseMs: 200,
      });
      const ran = await world.run({url: proxy.url});
      world.expectSound(ran, {callsPerValue: 1});
      return `${describeRun(ran)}; ${describeMoney(ran)}`;
    },
  },
  {
    fault: 'connection lost in mid-run for longer than --max-outage, then run again',
    expected: 'exit 5, state saved; the second run goes on and asks for nothing twice that was answered',
    async see() {
      await using world = await World.open({
        script: ({call}) => (call > 5 ? reply.drop('reset') : undefined),
      });
      const first = await world.run({flags: ['--max-outage', '1s']});
      world.expectSound(first, {callsPerValue: 9});
      world.server.setScript(undefined);
      const second = await world.run();
      world.expectSound(second, {callsPerValue: 9});
      expect(world.server.ledger.values.ip.get(VICTIM)).toBe(1);
      return `${describeRun(first)}; then ${describeRun(second)}`;
    },
  },
];
