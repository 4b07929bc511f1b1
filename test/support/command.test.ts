import {expect, test} from 'vitest';
import {createSandbox} from './command.ts';

test('runs the built command in a directory, a home and an environment of its own', async () => {
  using sandbox = createSandbox();
  sandbox.write('list.csv', 'ip\n192.0.2.1\n');
  process.env.BULK_ENRICH_BASE_URL = '';
  const outcome = await sandbox.run(['run', '-', '-o', 'out.csv', '--endpoint', 'embedded'], {
    stdin: 'ip\n192.0.2.1\n',
  });
  delete process.env.BULK_ENRICH_BASE_URL;
  expect(outcome).toMatchObject({code: 0, signal: undefined, stdout: ''});
  expect(sandbox.files()).toEqual(['list.csv', 'out.csv', 'out.summary.json']);
  expect(sandbox.summary('out.summary.json').exit_code).toBe(0);
});
