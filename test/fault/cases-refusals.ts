import {expect} from 'vitest';
import {reply} from '../support/api-server-reply.ts';
import {type FaultCase, withVictim} from './case.ts';
import {describeMoney, describeRun, OTHER_KEY, World} from './world.ts';

/** All calls from the sixth on meet this; then it is fixed, and the same command is given again. */
async function midRun(
  spoil: (world: World) => void,
  fix: (world: World) => void,
  key?: string,
): Promise<string> {
  // A key that is wrong and then right is what one meets at the command line.
  const command = key !== undefined;
  await using world = await World.open();
  world.server.setScript(({call}) => {
    if (call === 6) spoil(world);
    return undefined;
  });
  const first = await world.run({flags: ['--concurrency', '2'], command});
  world.expectSound(first);
  fix(world);
  const second = await world.run({command, ...(key === undefined ? {} : {key})});
  world.expectSound(second);
  // Answered values are not sent again: only the refused ones are.
  expect(world.server.ledger.charged).toBe(12);
  return `${describeRun(first)}; then ${describeRun(second)}; ${describeMoney(second)}`;
}

async function everybody(answer: Parameters<typeof withVictim>[0], most: number): Promise<string> {
  await using world = await World.open({script: () => answer});
  const ran = await world.run();
  world.expectSound(ran, {callsPerValue: 1});
  expect(world.server.ledger.calls).toBeLessThanOrEqual(most);
  return describeRun(ran);
}

export const refusalCases: readonly FaultCase[] = [
  {
    fault: '400 for one value',
    expected: 'that value fails with the service’s code; maybe charged',
    see: () => withVictim(reply.error(400, 'invalid_ip'), {command: true}),
  },
  {
    fault: '401 at the start',
    expected: 'exit 6 after at most the four calls of the canary',
    see: () => everybody(reply.unauthorized(), 4),
  },
  {
    fault: '401 in mid-run, then a good key',
    expected: 'exit 6, state saved; with the good key the run goes on and ends whole',
    see: () =>
      midRun(
        world => world.server.setKey(OTHER_KEY),
        () => {},
        OTHER_KEY,
      ),
  },
  {
    fault: '`invalid_token` with 200 at the start',
    expected: 'exit 6 after at most the four calls of the canary',
    see: () => everybody(reply.error(200, 'invalid_token'), 4),
  },
  {
    fault: '402 in mid-run, then credits again',
    expected: 'exit 7, state saved; later the run goes on and ends whole',
    see: () =>
      midRun(
        world => world.server.setScript(() => reply.noCredits()),
        world => world.server.setScript(undefined),
      ),
  },
  {
    fault: '403 for one value for ever',
    expected: 'that value fails; the others are answered',
    see: () => withVictim(reply.forbidden()),
  },
  {
    fault: '403 for everybody',
    expected: 'exit 6 after ten values',
    see: () => everybody(reply.forbidden(), 13),
  },
  {
    fault: '404 for one value',
    expected: 'that value fails; the others are answered',
    see: () => withVictim(reply.error(404, 'not_found')),
  },
  {
    fault: '404 for everybody',
    expected: 'exit 2 after ten values: the URL or the columns are wrong',
    see: () => everybody(reply.error(404, 'not_found'), 13),
  },
  {
    fault: 'HTML with 200 for everybody',
    expected: 'exit 2 after ten values: that is not the service',
    see: () => everybody(reply.html(), 13),
  },
  {
    fault: '408 and 425 once each',
    expected: 'sent again; maybe charged once more each',
    async see() {
      await using world = await World.open({
        script: ({call}) => (call === 2 ? reply.empty(408) : call === 4 ? reply.empty(425) : undefined),
      });
      const ran = await world.run();
      world.expectSound(ran, {callsPerValue: 2});
      return `${describeRun(ran)}; ${describeMoney(ran)}`;
    },
  },
];
