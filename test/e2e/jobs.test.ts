import {expect, test} from 'vitest';
import {createSite, ROWS} from '../jobs/site.ts';
import {runHere} from '../support/main.ts';
import {expectAccounts} from '../support/summary.ts';

test.each([
  ['nightly-signups', 'signups.enriched.csv'],
  ['one-off', 'contacts.enriched.csv'],
  ['ci', 'signups.enriched.ndjson'],
])('jobs/%s.yaml runs as it is, but for its rate', async (name, output) => {
  using sandbox = createSite();
  const args = ['run', '--job', `jobs/${name}.yaml`, '--rate', 'unlimited'];
  const outcome = await runHere(sandbox, args);
  expect(outcome.code, outcome.stderr).toBe(0);
  expect(outcome.stdout).toBe('');
  const summary = sandbox.summary(output.replace(/\.\w+$/, '.summary.json'));
  expect(summary).toMatchObject({
    job: name,
    status: 'completed',
    rows: {written: ROWS},
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
  using sandbox = createSite();
  const outcome = await runHere(sandbox, ['run', '--job', 'jobs/ci.yaml', '--endpoint', 'live']);
  expect(outcome).toMatchObject({code: 2, stdout: ''});
  expect(outcome.stderr).toMatch(/^Error: The endpoint is live, and BULK_ENRICH_BASE_URL is not set\./);
});
