import {expect} from 'vitest';
import {startApiServer} from '../support/api-server.ts';
import {type Reply, reply} from '../support/api-server-reply.ts';
import {type FaultCase, VICTIM, withVictim} from './case.ts';
import {describeMoney, describeRun, KEY, World} from './world.ts';

const badAnswers: readonly (readonly [string, Reply])[] = [
  ['empty 200', reply.empty()],
  ['HTML with 200', reply.html()],
  ['`[]` with 200', reply.list()],
  ['truncated JSON with 200', reply.truncated()],
  ['wrong charset', reply.wrongCharset()],
  ['UTF-16 that says it is UTF-8', reply.wrongCharset('utf16le')],
  ['204', reply.empty(204)],
];

async function poured(body: Reply): Promise<string> {
  await using world = await World.open({script: ({value}) => (value === VICTIM ? body : undefined)});
  const ran = await world.run();
  world.expectSound(ran, {callsPerValue: 1});
  // Reading is bounded; the server's socket buffers come on top.
  expect(world.server.ledger.poured).toBeLessThan(32 * 2 ** 20);
  return `${describeRun(ran)}; ${describeMoney(ran)}`;
}

async function redirected(status: 301 | 302 | 307 | 308): Promise<string> {
  await using elsewhere = await startApiServer({key: KEY});
  await using world = await World.open({
    script: () => reply.redirect(`${elsewhere.url}/intelligence/ip`, status),
  });
  const ran = await world.run({command: status === 307});
  world.expectSound(ran, {callsPerValue: 1});
  expect([elsewhere.ledger.connections, elsewhere.ledger.requests]).toEqual([0, 0]);
  expect(world.server.ledger.calls).toBeLessThanOrEqual(4);
  return `${describeRun(ran)}; the other origin heard nothing`;
}

export const answerCases: readonly FaultCase[] = [
  ...badAnswers.map(
    ([fault, answer]): FaultCase => ({
      fault,
      expected: 'that value fails as bad_response, spent, never sent again',
      see: () => withVictim(answer),
    }),
  ),
  {
    fault: '`success: false` with 200',
    expected: 'that value fails with the service’s code',
    see: () => withVictim(reply.error(200, 'unknown_address')),
  },
  {
    fault: 'wrong types',
    expected: 'answered; digits become text, other fields are left empty and counted',
    async see() {
      await using world = await World.open({
        script: ({value}) => (value === VICTIM ? reply.wrongTypes() : undefined),
      });
      const ran = await world.run();
      world.expectSound(ran, {callsPerValue: 1});
      const row = ran.rows.find(each => each.ip === VICTIM);
      expect([row?.ip_status, row?.ip_is_vpn, row?.ip_city]).toEqual(['ok', '', '7']);
      const wrong = Object.keys(ran.summary.calls.wrong_types).length;
      expect(wrong).toBeGreaterThan(5);
      return `${describeRun(ran)}; ${describeMoney(ran)}; wrong types named in the summary`;
    },
  },
  {
    fault: '1 GB body',
    expected: 'fails as bad_response after about a megabyte',
    see: () => poured(reply.huge()),
  },
  {
    fault: '1 GB body, its length declared',
    expected: 'fails as bad_response after about a megabyte',
    see: () => poured(reply.huge(2 ** 30, 'declared')),
  },
  {
    fault: 'gzip bomb',
    expected: 'fails as bad_response, never unpacked',
    see: () => poured(reply.gzipBomb()),
  },
  ...([301, 302, 307, 308] as const).map(
    (status): FaultCase => ({
      fault: `${status} to another origin`,
      expected: 'exit 2 at once; neither the key nor anything else arrives there',
      see: () => redirected(status),
    }),
  ),
];
