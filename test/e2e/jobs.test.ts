import {cpSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import {createSandbox, type Sandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {expectAccounts} from '../support/summary.ts';

function sandboxWithJobs(): Sandbox {
  const sandbox = createSandbox();
  for (const folder of ['jobs', 'samples'])
    cpSync(fileURLToPath(new URL(`../../${folder}`, import.meta.url)), sandbox.path(folder), {
      recursive: true,
    });
  return sandbox;
}

test.each([
  ['nightly-signups', 'signups.enriched.csv', 400],
  ['one-off', 'contacts.enriched.csv', 150],
  ['ci', 'signups.enriched.ndjson', 400],
])('jobs/%s.yaml runs as it is, but for its rate', async (name, output, rows) => {
  using sandbox = sandboxWithJobs();
  const args = ['run', '--job', `jobs/${name}.yaml`, '--progress', 'none', '--rate', 'unlimited'];
  const outcome = await runHere(sandbox, args);
  expect(outcome.code, outcome.stderr).toBe(0);
  expect(outcome.stdout).toBe('');
  const summary = sandbox.summary(output.replace(/\.\w+$/, '.summary.json'));
  expect(summary).toMatchObject({
    job: name,
    status: 'completed',
    rows: {written: rows},
    endpoint: {kind: 'embedded'},
  });
  expectAccounts(summary);
  if (name !== 'nightly-signups') return;

  const again = await runHere(sandbox, args);
  expect(again.code, again.stderr).toBe(0);
  expect(sandbox.summary('signups.enriched.summary.json')).toMatchObject({
    calls: {total: 0},
    credits: {spent: 0},
  });
});

test('without its secret a job for a live service does not ask another one', async () => {
  using sandbox = sandboxWithJobs();
  const outcome = await runHere(sandbox, ['run', '--job', 'jobs/ci.yaml', '--endpoint', 'live']);
  expect(outcome).toMatchObject({code: 2, stdout: ''});
  expect(outcome.stderr).toMatch(/^Error: No service is configured\./);
});
