import {spawnSync} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {expect, it} from 'vitest';
import {parse} from 'yaml';
import {exitCodes} from '../../src/errors.ts';

const read = (name: string) => readFileSync(new URL(`../../jobs/schedule/${name}`, import.meta.url), 'utf8');

it.each(['crontab', 'bulk-enrich.service', 'kubernetes-cronjob.yaml', 'github-actions.yaml'])(
  '%s runs a job file that is there',
  name => {
    const files = [...read(name).matchAll(/--job[, ]+([\w./-]+\.yaml)/g)].map(match => match[1] ?? '');
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      expect(existsSync(new URL(`../../jobs/${file.replace('jobs/', '')}`, import.meta.url))).toBe(true);
    }
  },
);

it('the CronJob gives up at once where running again changes nothing, and gives SIGTERM its time', () => {
  const {jobTemplate} = parse(read('kubernetes-cronjob.yaml')).spec;
  const {usage, credentials, credits, input, state} = exitCodes;
  expect(jobTemplate.spec.podFailurePolicy.rules[0].onExitCodes.values).toEqual([
    usage,
    credentials,
    credits,
    input,
    state,
  ]);
  expect(jobTemplate.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(5);
});

it('the workflow keeps the answers between runs, also when the job fails', () => {
  const {steps} = parse(read('github-actions.yaml')).jobs.enrich;
  const save = steps.find((step: {uses?: string}) => step.uses?.startsWith('actions/cache/save'));
  expect(save).toMatchObject({if: 'always()', with: {path: '.bulk-enrich'}});
  const job = parse(readFileSync(new URL('../../jobs/ci.yaml', import.meta.url), 'utf8'));
  expect([job.cache, job.state].every((path: string) => path.startsWith('.bulk-enrich/'))).toBe(true);
});

const analyze = spawnSync('systemd-analyze', ['--version']).status === 0;
it.skipIf(!analyze)(
  'systemd finds nothing wrong with the timer (skipped where systemd is not installed)',
  () => {
    const timer = new URL('../../jobs/schedule/bulk-enrich.timer', import.meta.url).pathname;
    expect(spawnSync('systemd-analyze', ['verify', timer], {encoding: 'utf8'}).stderr).not.toMatch(
      /bulk-enrich\.timer:\d+/,
    );
  },
);
