import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {parse, parseAllDocuments} from 'yaml';
import {exitCodes} from '../../src/errors.ts';

const read = (name: string) => readFileSync(new URL(`../../jobs/${name}`, import.meta.url), 'utf8');

/** A scheduler's reaction to an exit code. */
type Fate = 'success' | 'again' | 'failed';

interface FailureRule {
  readonly action: 'Ignore' | 'FailJob';
  readonly onExitCodes?: {readonly containerName: string; readonly operator: 'In'; readonly values: number[]};
  readonly onPodConditions?: readonly {readonly type: string}[];
}

interface JobSpec {
  readonly backoffLimit: number;
  readonly podFailurePolicy: {readonly rules: readonly FailureRule[]};
  readonly template: {
    readonly spec: {
      readonly terminationGracePeriodSeconds: number;
      readonly containers: readonly {readonly name: string; readonly command: readonly string[]}[];
    };
  };
}

const cronJobs: readonly (readonly [string, JobSpec])[] = [
  ['schedule/kubernetes-cronjob.yaml', parse(read('schedule/kubernetes-cronjob.yaml')).spec.jobTemplate.spec],
  [
    'fleet/kubernetes.yaml',
    parseAllDocuments(read('fleet/kubernetes.yaml'))
      .map(document => document.toJS())
      .find(({kind}) => kind === 'CronJob').spec.jobTemplate.spec,
  ],
];

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

test('the unit repeats a run after an outage, but neither a complete one nor one that needs a person', () => {
  const fates = Object.fromEntries(ends.map(([name, code]) => [name, fateInSystemd(code)]));
  const {ok, incomplete, locked, temporary, ...others} = fates;
  expect([ok, incomplete, locked, temporary]).toEqual(['success', 'success', 'success', 'again']);
  expect(new Set(Object.values(others))).toEqual(new Set(['failed']));
});

test('a run whose key was refused is started once more, with the key as it is by then, and no other one is', () => {
  expect(unit).toMatch(/^LoadCredential=key:/m);
  expect(unit).toMatch(/^OnFailure=bulk-enrich-new-key\.service$/m);
  const again = read('schedule/bulk-enrich-new-key.service');
  // More often in a night, systemd refuses it; the timer's next night is later.
  expect(again).toMatch(/^StartLimitIntervalSec=20h\nStartLimitBurst=1$/m);
  const [, script = ''] = /^ExecStart=\/bin\/sh -c '(.*)'$/m.exec(again) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'bulk-enrich-unit-'));
  try {
    writeFileSync(join(folder, 'systemctl'), '#!/bin/sh\necho "$@"\n', {mode: 0o755});
    const started = ends.filter(([, code]) => {
      const env = {PATH: `${folder}:/usr/bin:/bin`, MONITOR_EXIT_STATUS: String(code)};
      const {status, stdout} = spawnSync('/bin/sh', ['-c', script], {env, encoding: 'utf8'});
      expect([status, stdout]).toEqual([
        0,
        expect.stringMatching(/^$|^start --no-block bulk-enrich\.service\n$/),
      ]);
      return stdout !== '';
    });
    expect(started).toEqual([['credentials', exitCodes.credentials]]);
  } finally {
    rmSync(folder, {recursive: true});
  }
});

/**
 * The fate of a night that ends like this, by the crontab's second line. The job's files are missing: it must not
 * depend on their names.
 */
function fateInCrontab(end: string): Fate {
  const folder = mkdtempSync(join(tmpdir(), 'bulk-enrich-cron-'));
  const [first = '', second = ''] = [...read('schedule/crontab').matchAll(/^(?:[\d*]+\s+){5}(.*)$/gm)].map(
    ([, command = '']) => command.replace('/srv/signups', folder),
  );
  const sh = (command: string, program: string) => {
    writeFileSync(join(folder, 'bulk-enrich'), `#!/bin/sh\n${program}\n`, {mode: 0o755});
    return spawnSync('/bin/sh', ['-c', command], {env: {PATH: `${folder}:/usr/bin:/bin`}}).status;
  };
  try {
    const code = sh(first, end);
    sh(second, `echo >again; exit ${exitCodes.limit}`);
    const isRepeated = existsSync(join(folder, 'again'));
    rmSync(join(folder, 'again'), {force: true});
    // It goes by the last end, which its own is by now.
    if (isRepeated) sh(second, 'echo >again');
    expect(existsSync(join(folder, 'again'))).toBe(false);
    if (isRepeated) return 'again';
    return code === exitCodes.ok || code === exitCodes.incomplete ? 'success' : 'failed';
  } finally {
    rmSync(folder, {recursive: true});
  }
}

test("the crontab's second line resumes after the exit codes that the unit repeats, and after no other", () => {
  for (const [name, code] of ends) {
    // Another run is active. If it was killed since, this resumes it; if not, this ends with the same code.
    const fate = name === 'locked' ? 'again' : fateInSystemd(code);
    expect([name, fateInCrontab(`exit ${code}`)]).toEqual([name, fate]);
  }
  // Stopped, killed, and the whole machine gone.
  for (const end of ['exit 130', 'exit 143', 'kill -KILL $$', 'kill -KILL $PPID $$'])
    expect([end, fateInCrontab(end)]).toEqual([end, 'again']);
});

describe.each(cronJobs)('the CronJob of %s', (_, job) => {
  test('reacts to every exit code as the unit does', async () => {
    const fates = await Promise.all(
      ends.map(async ([name, code]) => [name, await fateInKubernetes(job, code)]),
    );
    expect(fates).toEqual(ends.map(([name, code]) => [name, fateInSystemd(code)]));
  });

  test('resumes after a disruption with any exit code, and does not count it as a failure', () => {
    expect(job.podFailurePolicy.rules[0]).toEqual({
      action: 'Ignore',
      onPodConditions: [{type: 'DisruptionTarget'}],
    });
    expect(job.backoffLimit).toBeGreaterThan(6);
  });

  test('passes SIGTERM on, and waits for the run to end', async () => {
    const child = start(
      job,
      '/bin/sh',
      '-c',
      `trap 'kill $!; echo saved; exit ${exitCodes.terminated}' TERM; sleep 20 >/dev/null & echo up; wait`,
    );
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
