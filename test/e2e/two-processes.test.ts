import {expect, test} from 'vitest';
import {createSandbox} from '../support/command.ts';
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
