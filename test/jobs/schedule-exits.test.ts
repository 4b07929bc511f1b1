import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {exitCodes} from '../../src/errors.ts';
import {newDirectory} from '../support/new-directory.ts';
import {type Manifests, manifestsOf, type Pod} from './manifests.ts';

const within = newDirectory();
const read = (name: string) => readFileSync(new URL(`../../jobs/${name}`, import.meta.url), 'utf8');

/** A scheduler's reaction to an exit code. */
type Fate = 'success' | 'again' | 'failed';

interface JobSpec {
  readonly backoffLimit: number;
  readonly activeDeadlineSeconds: number;
  readonly podFailurePolicy: {
    readonly rules: readonly {readonly onExitCodes?: {readonly values: number[]}}[];
  };
  readonly template: Pick<Pod, 'spec'>;
}

const cronJobIn = (manifests: Manifests) => manifests.find(({kind}) => kind === 'CronJob');
const cronJobs = ['schedule/kubernetes-cronjob.yaml', 'fleet/kubernetes.yaml'].map(
  (name): readonly [string, JobSpec] => [name, cronJobIn(manifestsOf(name)).spec.jobTemplate.spec],
);

function start({template}: JobSpec, ...args: readonly string[]) {
  const [program = '', ...words] = template.spec.containers[0]?.command ?? [];
  return spawn(program, [...words, ...args], {stdio: ['ignore', 'pipe', 'inherit']});
}

/** The container's exit code after a run with this exit code. */
async function endOf(job: JobSpec, code: number): Promise<number> {
  const [ended] = await once(start(job, '/bin/sh', '-c', `exit ${code}`), 'exit');
  return ended as number;
}

async function fateInKubernetes(job: JobSpec, code: number): Promise<Fate> {
  const ended = await endOf(job, code);
  if (ended === 0) return 'success';
  const rule = job.podFailurePolicy.rules.find(({onExitCodes}) => onExitCodes?.values.includes(ended));
  return rule === undefined ? 'again' : 'failed';
}

const unit = read('schedule/bulk-enrich.service');
const codesOf = (name: string) =>
  (new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '').split(' ').map(Number);

function fateInSystemd(code: number): Fate {
  if (code === 0 || codesOf('SuccessExitStatus').includes(code)) return 'success';
  return codesOf('RestartForceExitStatus').includes(code) ? 'again' : 'failed';
}

/** Signals have a test of their own: systemd sends them itself. */
const ends = Object.entries(exitCodes).filter(([, code]) => code < 128);

test('the unit repeats a run after an outage or with a refused key, but neither a complete one nor one that needs a person', () => {
  const fates = Object.fromEntries(ends.map(([name, code]) => [name, fateInSystemd(code)]));
  const {ok, incomplete, locked, temporary, credentials, ...others} = fates;
  expect([ok, incomplete, locked]).toEqual(['success', 'success', 'success']);
  expect([temporary, credentials]).toEqual(['again', 'again']);
  expect(new Set(Object.values(others))).toEqual(new Set(['failed']));
});

test('a restart reads a key file that was replaced: systemd copies it at each start', () => {
  expect(unit).toMatch(/^LoadCredential=key:/m);
});

test('flags for one start of the unit come from a file, and are none without it', () => {
  expect(unit).toMatch(/^Environment=MORE=\nEnvironmentFile=-\/run\/bulk-enrich\.env$/m);
  expect(unit).toMatch(/^ExecStart=.* \$MORE$/m);
});

/** Runs the crontab's line for a reboot; true if it starts the command. `left`: a directory that a run has left. */
function resumesAtReboot(left: string | undefined): boolean {
  const folder = mkdtempSync(within('cron-'));
  const [, line = ''] = /^@reboot\s+(.*)$/m.exec(read('schedule/crontab')) ?? [];
  writeFileSync(join(folder, 'bulk-enrich'), '#!/bin/sh\necho "$@" >>started\n', {mode: 0o755});
  if (left !== undefined) mkdirSync(join(folder, left), {recursive: true});
  const env = {PATH: `${folder}:/usr/bin:/bin`};
  spawnSync('/bin/sh', ['-c', line.replace('/srv/signups', folder)], {env});
  return existsSync(join(folder, 'started'));
}

test('after a power cut the crontab resumes an unfinished run, and starts no other', () => {
  for (const left of ['out.csv.run', 'scored/out-2026-01-05.csv.run'])
    expect(resumesAtReboot(left)).toBe(true);
  for (const left of ['scored', undefined]) expect(resumesAtReboot(left)).toBe(false);
});

describe.each(cronJobs)('the CronJob of %s', (_, job) => {
  test('reacts to every exit code as the unit does', async () => {
    const fates = await Promise.all(
      ends.map(async ([name, code]) => [name, await fateInKubernetes(job, code)]),
    );
    expect(fates).toEqual(ends.map(([name, code]) => [name, fateInSystemd(code)]));
  });

  test('resumes after a disruption with any exit code, and does not count it as a failure', () => {
    const ignored = {action: 'Ignore', onPodConditions: [{type: 'DisruptionTarget'}]};
    expect(job.podFailurePolicy.rules[0]).toEqual(ignored);
    expect(job.backoffLimit).toBeGreaterThan(6);
  });

  test('stops a run that hangs before the next night, and keeps what it writes from others', () => {
    expect(job.activeDeadlineSeconds).toBeLessThan(24 * 3600);
    expect(job.template.spec.containers[0]?.command.join('\n')).toMatch(/^umask 077$/m);
  });

  test('passes SIGTERM on, and waits for the run to end', async () => {
    const run = `trap 'kill $!; echo saved; exit ${exitCodes.terminated}' TERM; sleep 20 >/dev/null & echo up; wait`;
    const child = start(job, '/bin/sh', '-c', run);
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (said === '') child.kill('SIGTERM');
      said += text;
    });
    const [code] = await once(child, 'close');
    expect([code, said]).toEqual([exitCodes.terminated, 'up\nsaved\n']);
    expect(job.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(5);
  });

  test('gets a second signal, and still waits for the run to end', async () => {
    const run = `trap 'n=$n.; echo told; [ $n = . ] || exit ${exitCodes.state}' TERM; echo up; while :; do sleep 0.02; done`;
    const child = start(job, '/bin/sh', '-c', run);
    child.stdout.setEncoding('utf8').on('data', () => child.kill('SIGTERM'));
    expect(await once(child, 'close')).toEqual([exitCodes.state, null]);
  });
});
