import {spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {beforeEach, expect, test} from 'vitest';
import {parseAllDocuments} from 'yaml';
import {KEY, startService} from '../e2e/service.ts';
import {opened} from '../support/opened.ts';
import {runIn} from './confinement.ts';
import {cronEnv} from './environments.ts';
import {setUpLive, systemdLine} from './schedule-lines.ts';
import {createSite, ROWS} from './site.ts';

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

/** The commands of docs/runbook.md below these words. */
function blockAfter(words: string): string {
  const text = read('docs/runbook.md');
  const [, block = ''] = /^```sh\n(.*?)^```$/ms.exec(text.slice(text.indexOf(words))) ?? [];
  return block;
}

const service = opened(startService);
const site = opened(createSite);
const MISSED = '2026-01-31';

beforeEach(() => {
  setUpLive(site, 'jobs/nightly-signups.yaml', 'nightly-signups.yaml');
  const job = site.read('nightly-signups.yaml');
  site.write('nightly-signups.yaml', job.replace(/^output: .*$/m, 'output: signups-{date}.csv'));
  site.write('../key', `${KEY}\n`);
});

const inPlace = (text: string) =>
  text
    .replaceAll('/srv/signups', site.directory)
    .replaceAll('https://api.example.com', service.url)
    .replaceAll('/etc/bulk-enrich/key', site.path('../key'));

test('cron: a missed day by hand, then the three commands that help with most', async () => {
  const command = inPlace(blockAfter('**cron**')).replace(/^sudo -u bulk-enrich /, '');
  const env = {...cronEnv(site), PATH: `${site.programs}:/usr/bin:/bin`};
  expect(command).toContain(`--date ${MISSED}`);
  const outcome = await runIn(site, command, {cwd: site.home, env});
  expect(outcome, outcome.stderr).toMatchObject({code: 0, stdout: ''});
  const {run_id: id, rows} = site.summary(`signups-${MISSED}.summary.json`);
  expect(rows.written).toBe(ROWS);

  const live = {...env, ...service.env};
  const [runs = '', one = '', doctor = ''] = blockAfter('Three commands').trimEnd().split('\n');
  const said = async (text: string) => {
    const {code, stdout, stderr} = await runIn(site, text, {cwd: site.directory, env: live});
    expect([code, stderr]).toEqual([0, '']);
    return stdout;
  };
  expect(await said(runs)).toContain(id.slice(0, 8));
  expect(JSON.parse(await said(one.replace('3f9c2a', id.slice(0, 6))))).toMatchObject({run_id: id});
  expect(await said(doctor)).toContain('A run would work here');
});

test('systemd: the flags for one start reach the command by the unit’s file', async () => {
  const [, more = ''] = /^echo 'MORE=(.*?)' >\/run\/bulk-enrich\.env/m.exec(blockAfter('**systemd**')) ?? [];
  expect(read('jobs/schedule/bulk-enrich.service')).toContain('EnvironmentFile=-/run/bulk-enrich.env');
  const line = systemdLine(site, service.url);
  const outcome = await runIn(site, `${line.command} ${more}`, line);
  expect(outcome, outcome.stderr).toMatchObject({code: 0, stdout: '', stderr: ''});
  expect(site.summary(`signups-${MISSED}.summary.json`).rows.written).toBe(ROWS);
});

test('Kubernetes: jq adds the flags, and makes a pod that only waits', () => {
  const manifests = parseAllDocuments(read('jobs/schedule/kubernetes-cronjob.yaml')).map(each => each.toJS());
  const {spec} = manifests.find(({kind}) => kind === 'CronJob').spec.jobTemplate;
  const filters = [...blockAfter('**Kubernetes**').matchAll(/jq '(.*?)'/g)].map(([, filter = '']) => filter);
  const containers = filters.map(filter => {
    const {stdout, stderr} = spawnSync('jq', [filter], {input: JSON.stringify({spec}), encoding: 'utf8'});
    expect(stderr).toBe('');
    return JSON.parse(stdout).spec.template.spec.containers[0];
  });
  const [as] = spec.template.spec.containers;
  const waiting = {...as, command: ['sleep', '3600'], args: []};
  expect(containers).toEqual([{...as, args: [...as.args, '--date', MISSED]}, waiting]);
});
