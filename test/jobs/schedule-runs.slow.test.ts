import {existsSync, mkdirSync, readdirSync, readFileSync, rmSync} from 'node:fs';
import {expect, test} from 'vitest';
import {startService} from '../e2e/service.ts';
import {reply} from '../support/api-server-reply.ts';
import {opened} from '../support/opened.ts';
import {canBeAnother, readOnlyBy, runIn} from './confinement.ts';
import {crontabLines, type Line, podLine, setUpLive, systemdLine, workflowLine} from './schedule-lines.ts';
import {createSite, ROWS} from './site.ts';

const service = opened(startService);
const site = opened(createSite);

const started = (line: Line) => runIn(site, line.command, line);
const SILENT_SUCCESS = {code: 0, stdout: '', stderr: ''};

test.each([
  ['the output of the example', 'signups.enriched.csv'],
  ['an output with the date in its name', 'scored/signups-{date}.csv'],
])('crontab, with %s: after an outage or a power cut the same command resumes', async (_, output) => {
  setUpLive(site, 'jobs/nightly-signups.yaml', 'nightly-signups.yaml');
  const job = site.read('nightly-signups.yaml');
  site.write(
    'nightly-signups.yaml',
    job.replace(/^output: .*$/m, `output: ${output}`).replace(/^max_outage: .*$/m, 'max_outage: 1s'),
  );
  mkdirSync(site.path('scored'));
  const today = new Date().toISOString().slice(0, 10);
  const written = output.replace('{date}', today);
  const [nightly, reboot, ...others] = crontabLines(site, service.url) as [Line, Line];
  expect(others).toEqual([]);
  service.setScript(({call}) => (call > 10 ? reply.unavailable(3_600) : undefined));
  const down = await started(nightly);
  expect(down).toMatchObject({code: 5, stdout: '', stderr: expect.stringMatching(/^Stopped: /)});
  expect(existsSync(site.path(written))).toBe(false);

  service.setScript(undefined);
  expect(await started(reboot)).toEqual({...SILENT_SUCCESS, signal: undefined});
  const summary = site.summary(written.replace(/\.csv$/, '.summary.json'));
  expect(summary).toMatchObject({rows: {written: ROWS}, resumed: {times: 1}});

  const {calls} = service.ledger;
  expect(await started(reboot)).toMatchObject({...SILENT_SUCCESS, code: 1});
  expect(await started(nightly)).toMatchObject(SILENT_SUCCESS);
  expect(service.ledger.calls).toBe(calls);
});

test.skipIf(readOnlyBy === undefined)(
  'bulk-enrich.service: its command, with what ProtectSystem=strict leaves',
  async () => {
    setUpLive(site, 'jobs/nightly-signups.yaml', 'nightly-signups.yaml');
    const line = systemdLine(site, service.url);
    expect(await started(line)).toMatchObject(SILENT_SUCCESS);
    expect(site.summary('signups.enriched.summary.json').rows.written).toBe(ROWS);
    expect(existsSync(`${site.root}/cache/bulk-enrich/answers.db`)).toBe(true);
    expect(readdirSync(`${site.root}/state/bulk-enrich/runs`)).toHaveLength(1);
  },
);

test('github-actions.yaml: as it is given, in a repository without variables and secrets', async () => {
  const outcome = await started(workflowLine(site, undefined));
  expect(outcome, outcome.stderr).toMatchObject({code: 0, stdout: ''});
});

test('github-actions.yaml: the step, and the next one with the cache', async () => {
  setUpLive(site, 'jobs/ci.yaml', 'jobs/ci.yaml');
  const line = workflowLine(site, service.url);
  const first = await started(line);
  expect(first, first.stderr).toMatchObject({code: 0, stdout: ''});
  expect(readFileSync(site.path('../step-summary.md'), 'utf8')).toMatch(/^# ci \(signups\.csv\): Complete\n/);
  const {calls} = service.ledger;
  expect(calls).toBeGreaterThan(0);

  for (const name of site.files()) if (name.startsWith('signups.enriched')) rmSync(site.path(name));
  expect(await started(line)).toMatchObject({code: 0});
  expect(service.ledger.calls).toBe(calls);
  expect(readdirSync(site.path('.bulk-enrich/bulk-enrich/runs'))).toHaveLength(2);
});

test.skipIf(readOnlyBy === undefined || !canBeAnother)(
  "kubernetes-cronjob.yaml: the container's command, as its user, on a root that can only be read",
  async () => {
    setUpLive(site, 'jobs/nightly-signups.yaml', 'nightly-signups.yaml');
    const outcome = await started(podLine(site, service.url));
    expect(outcome, outcome.stderr).toMatchObject({code: 0, stdout: ''});
    expect(outcome.stderr).not.toContain('Warning');
    expect(site.summary('signups.enriched.summary.json').rows.written).toBe(ROWS);
    const kept = site.files().filter(name => name.startsWith('.'));
    expect(kept).toContain('.cache/bulk-enrich/answers.db');
    expect(kept).toContainEqual(expect.stringMatching(/^\.state\/bulk-enrich\/runs\/.*\.json$/));
  },
);
