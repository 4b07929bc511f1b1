import {mkdirSync} from 'node:fs';
import {expect, test} from 'vitest';
import {blocksOf, textOf} from '../docs/blocks.ts';
import {createSite, ROWS} from '../jobs/site.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {expectAccounts} from '../support/summary.ts';
import {startService} from './service.ts';

test('jobs/nightly-signups.yaml runs as it is, but for its rate, and again without a call', async () => {
  using sandbox = createSite();
  const run = async () => {
    const args = ['run', '--job', 'jobs/nightly-signups.yaml', '--rate', 'unlimited'];
    const {code, stdout, stderr} = await runHere(sandbox, args);
    expect([code, stdout], stderr).toEqual([0, '']);
    return sandbox.summary('signups.enriched.summary.json');
  };
  const first = await run();
  const endpoint = {kind: 'embedded'};
  expect(first).toMatchObject({job: 'nightly-signups', status: 'completed', rows: {written: ROWS}, endpoint});
  expectAccounts(first);
  expect(await run()).toMatchObject({calls: {total: 0}, credits: {spent: 0}});
});

test('without its secret a job for a live service does not ask another one', async () => {
  using sandbox = createSite();
  const outcome = await runHere(sandbox, ['run', '--job', 'jobs/ci.yaml', '--endpoint', 'live']);
  expect(outcome).toMatchObject({code: 2, stdout: ''});
  expect(outcome.stderr).toMatch(/^Error: The endpoint is live, and BULK_ENRICH_BASE_URL is not set\./);
});

test("the job of docs/nights.md ends with 4 for yesterday's list under today's name, and for one that was cut off", async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  const [job = ''] = blocksOf(textOf('docs/nights.md'), 'yaml');
  sandbox.write('job.yaml', job.replace('rows.read < 1000', 'rows.read < 20'));
  mkdirSync(sandbox.path('scored'));
  const night = async (day: number, users: readonly number[], more: readonly string[] = []) => {
    const date = `2026-01-0${day}`;
    const rows = users.map(user => `192.0.2.${user},u${user}@example.com,+49309018201${user % 100},DE\n`);
    sandbox.write(`exports/signups-${date}.csv`, `signup_ip,email,phone,country\n${rows.join('')}`);
    const args = ['run', '--job', 'job.yaml', '--rate', 'unlimited', '--date', date, ...more];
    const {code, stderr} = await runHere(sandbox, args, {env: service.env});
    return [code, sandbox.summary(`scored/signups-${date}.summary.json`).failed_if.join(), stderr];
  };
  const users = (from: number, count = 20) => Array.from({length: count}, (_, nth) => from + nth);
  const told = expect.stringMatching(/are known|same bytes/);
  const silent = expect.not.stringMatching(/are known|same bytes/);
  for (const day of [1, 2, 3, 4, 5]) expect(await night(day, users(20 * day))).toEqual([0, '', silent]);
  const cut = users(200, 19);
  expect(await night(6, cut)).toEqual([4, 'rows.read < 20', silent]);
  // Five nights knew less than 90%: all values known is unusual, but not when a day runs again.
  const old = [4, expect.stringContaining('earlier_list'), told];
  expect(await night(7, users(20).reverse())).toEqual(old);
  expect(await night(7, users(21).reverse(), ['--force'])).toEqual([0, '', silent]);
  expect(await night(8, users(100))).toEqual([4, old[1], expect.stringContaining('the one of 2026-01-05')]);
  expect(await night(8, users(100), ['--drift', 'off'])).toEqual([0, '', silent]);
});
