import {expect, test} from 'vitest';
import {createSandbox} from './command.ts';

test('runs the built command in a directory and a home of its own', async () => {
  using sandbox = createSandbox();
  sandbox.write('list.csv', 'ip\n192.0.2.1\n');
  const outcome = await sandbox.run(['run', '-', '-o', 'out.csv', '--endpoint', 'embedded'], {
    stdin: 'ip\n192.0.2.1\n',
  });
  expect(outcome).toMatchObject({code: 0, signal: undefined, stdout: ''});
  expect(sandbox.files()).toEqual(['list.csv', 'out.csv', 'out.summary.json']);
  expect(sandbox.summary('out.summary.json').exit_code).toBe(0);
});

test('takes nothing over from the environment of the tests', async () => {
  using sandbox = createSandbox();
  process.env.BULK_ENRICH_BASE_URL = '';
  const outcome = await sandbox.run(['lookup', 'ip', '192.0.2.1', '--endpoint', 'embedded']);
  delete process.env.BULK_ENRICH_BASE_URL;
  expect(outcome.code).toBe(0);
});
