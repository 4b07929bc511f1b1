import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {expect, test} from 'vitest';
import {startApiServer} from '../support/api-server.ts';
import {createSandbox} from '../support/command.ts';
import {held} from '../support/main.ts';
import {root} from './blocks.ts';

/** The README's row on a script without a memory, which is the script of the bench. */
test('a script pays for each row, writes as answers come, pays for all again, and ends at the first failure', async () => {
  const {gate, letGo} = held();
  let isDown = false;
  await using server = await startApiServer({
    key: 'bench',
    script: ({call}) => {
      if (isDown) return {kind: 'answer', status: 503};
      if (call === 4) setTimeout(letGo, 100);
      return call === 1 ? gate : undefined;
    },
  });
  using sandbox = createSandbox();
  const list = ['192.0.2.1', '192.0.2.2', '192.0.2.1', '192.0.2.1'];
  sandbox.write('list.csv', `row,ip\n${list.map((ip, at) => `${at + 1},${ip}`).join('\n')}\n`);
  const run = async () => {
    const child = spawn(process.execPath, [`${root}bench/hand-written.mjs`], {
      env: {
        BENCH_IN_FLIGHT: '64',
        BENCH_URL: server.url,
        BENCH_INPUT: sandbox.path('list.csv'),
        BENCH_OUTPUT: sandbox.path('out.csv'),
      },
      stdio: 'ignore',
    });
    const [code] = (await once(child, 'exit')) as [number];
    return code;
  };
  expect(await run()).toBe(0);
  expect(server.ledger.calls).toBe(4);
  expect(sandbox.read('out.csv').split('\n').at(-2)).toMatch(/^1,/);
  expect(await run()).toBe(0);
  expect(server.ledger.calls).toBe(8);
  isDown = true;
  expect(await run()).not.toBe(0);
});
