import {setTimeout as sleep} from 'node:timers/promises';
import {expect, test} from 'vitest';
import {createSandbox} from '../support/command.ts';
import {until} from '../support/until.ts';
import {FAST, startService} from './service.ts';

/** Commands over the same people at the same time, each a process of its own. */

const listOf = (values: number) => `ip\n${Array.from({length: values}, (_, n) => `192.0.2.${n}\n`).join('')}`;
const run = (output: string, ...flags: string[]) => ['run', 'list.csv', '-o', output, ...FAST, ...flags];

test('two commands over one list in one moment pay once for each value', async () => {
  await using service = await startService({latencyMs: 20});
  using sandbox = createSandbox({'list.csv': listOf(200)});
  const {env} = service;
  const ends = await Promise.all(['a.csv', 'b.csv'].map(output => sandbox.run(run(output), {env})));
  expect(ends).toMatchObject([{code: 0}, {code: 0}]);
  expect(service.ledger.calls).toBe(200);
  const answers = ['a.csv', 'b.csv'].map(output => sandbox.read(output));
  expect(answers[0]).toBe(answers[1]);
});

test('values of a process that is killed are bought by the other within seconds', async () => {
  await using service = await startService({latencyMs: 1_000});
  using sandbox = createSandbox({'list.csv': listOf(40)});
  const {env} = service;
  const killed = sandbox.start(run('a.csv', '--concurrency', '8'), {env});
  await until(() => service.ledger.calls >= 8);
  const other = sandbox.start(run('b.csv', '--concurrency', '8'), {env});
  await until(() => service.ledger.calls >= 20);
  // The answers before these calls are in the store by now.
  await sleep(300);
  killed.kill('SIGKILL');
  expect(await other.outcome).toMatchObject({code: 0});
  expect(service.ledger.calls).toBeLessThanOrEqual(48);
});
