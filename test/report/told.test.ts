import {describe, expect, test} from 'vitest';
import {pingHealthCheck} from '../../src/client/reachability.ts';
import {takeLock} from '../../src/disk/lock.ts';
import {runJob} from '../../src/index.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {startPingServer} from '../support/ping-server.ts';

const LIST = 'email\njo@example.com\n';
const RUN = 'run in.csv --email email --endpoint embedded --no-store';
const site = (files: Readonly<Record<string, string>> = {}) => createSandbox({'in.csv': LIST, ...files});

describe('messages to other services', () => {
  test('follows no redirect', async () => {
    await using elsewhere = await startPingServer();
    await using health = await startPingServer(`to ${elsewhere.url}`);
    expect(await pingHealthCheck(new URL(health.url))).toBe('http_302');
    expect([health.pings.length, elsewhere.pings]).toEqual([1, []]);
  });

  test('takes nothing of an answer without end', async () => {
    await using health = await startPingServer('flood');
    expect(await pingHealthCheck(new URL(health.url))).toBe('ok');
    const {sent} = health;
    expect(sent).toBeLessThan(16_000_000);
    await new Promise(resolve => setTimeout(resolve, 50));
    expect(health.sent).toBe(sent);
  });
});

describe('a run that finds another at its output', () => {
  test('tells no health check, leaves the metrics as they are, and is no alarm for cron or GitHub', async () => {
    using sandbox = site({'out.prom': '# HELP bulk_enrich_x The other one writes it.\n'});
    await using health = await startPingServer();
    const lock = takeLock(sandbox.path('in.enriched.csv.run'), {ours: true, busy: () => ''});
    const line = `${RUN} --ping-url ${health.url} --metrics out.prom`;
    const loud = await runHere(sandbox, line, {env: {GITHUB_ACTIONS: 'true'}});
    expect([loud.code, loud.stderr]).toEqual([11, expect.stringMatching(/^::notice /)]);
    expect(loud.stderr).not.toContain('::error');
    expect(await runHere(sandbox, `${line} --quiet`)).toMatchObject({
      code: 11,
      stderr: expect.stringContaining('Another run is writing this output'),
    });
    lock.release();
    expect(health.pings).toEqual([]);
    expect(sandbox.read('out.prom')).toContain('The other one writes it.');
  });
});

test('a health check is told of gaps as of a success, as schedules take them', async () => {
  using sandbox = site({'in.csv': `${LIST}"jo@example.com",one too many\n`});
  await using health = await startPingServer();
  expect((await runHere(sandbox, `${RUN} --ping-url ${health.url}`)).code).toBe(3);
  expect(health.pings.map(told => told.split('/').at(-1))).toEqual(['start', health.url.split('/').at(-1)]);
});

describe('metrics on every exit', () => {
  const success = (job: string) =>
    `# HELP bulk_enrich_x x\nbulk_enrich_last_success_timestamp_seconds{job_name="${job}"} 1700000000\nbulk_enrich_last_run_success{job_name="${job}"} 1\n`;
  const JOB = 'name: nightly\ninput: in.csv\nmetrics: out.prom\n';

  /** Each in the series that an alert goes by, which keeps the time of the last success. */
  test.each<[what: string, line: string, file: string, code?: number, job?: string]>([
    ['a key that is missing', 'run --job job.yaml', `${JOB}endpoint: live\n`],
    ['a setting that is wrong', `${RUN} --metrics out.prom --rate fast`, '', 2, ''],
    ['an output that is the list', `${RUN} --metrics out.prom -o in.csv`, '', 2, ''],
    ['a list that is missing', 'run none.csv --ip ip --endpoint embedded --metrics out.prom', '', 8, ''],
    ['a list that is empty', 'run empty.csv --ip ip --endpoint embedded --metrics out.prom', '', 8, ''],
    [
      'a path with its day',
      'run --job job.yaml',
      `${JOB.replace('out.prom', '"{date}.prom"\ndate: 2026-01-05')}endpoint: live\n`,
    ],
    ['a job file that is missing', 'run --job missing.yaml --metrics out.prom', '', 2, 'a \\"b\\"'],
    // Settings on lines of their own count, before the mistake and after it.
    ['a job file with a mistake', 'run --job job.yaml', 'metrics: out.prom\nip: [ip\nname: "nightly\n'],
    ['a name behind the mistake', 'run --job job.yaml', 'ip: [ip\nname: nightly\nmetrics: out.prom\n'],
    ['a flag that there is not', 'run --job job.yaml --bogus', `${JOB}endpoint: embedded\n`],
    ['the same before the job', 'run --bogus --job job.yaml', `${JOB}endpoint: embedded\n`],
    ['a flag without its value', 'run --job job.yaml --rate', `${JOB}endpoint: embedded\n`],
    ['metrics on the command line', `${RUN} --metrics out.prom --on-what x`, '', 2, ''],
  ])('%s', async (_, line, file, code = 2, job = 'nightly') => {
    using sandbox = site({'job.yaml': file, 'empty.csv': ''});
    const path = file.includes('{date}') ? '2026-01-05.prom' : 'out.prom';
    sandbox.write(path, success(job));
    const ended = await runHere(sandbox, line, {env: {GITHUB_ACTIONS: 'true'}});
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringMatching(/^Error: /m)]);
    expect(ended.stderr.match(/^::error /gm)).toHaveLength(1);
    const text = sandbox.read(path);
    expect(text).toMatch(new RegExp(`^bulk_enrich_last_run_exit_code\\{.*\\} ${code}$`, 'm'));
    expect(text).toContain(`bulk_enrich_last_run_success{job_name="${job}"} 0\n`);
    expect(text).toContain(`bulk_enrich_last_success_timestamp_seconds{job_name="${job}"} 1700000000\n`);
    expect(sandbox.read('in.csv')).toBe(LIST);
  });

  test.each(['run --help --metrics out.prom', 'plan --job job.yaml --bogus', `${RUN} --metrics in.csv`])(
    'no run, or a file that is no metrics: it stays as it is: %s',
    async line => {
      using sandbox = site({'job.yaml': JOB, 'out.prom': success('nightly')});
      await runHere(sandbox, line);
      expect([sandbox.read('out.prom'), sandbox.read('in.csv')]).toEqual([success('nightly'), LIST]);
    },
  );

  test('from code, too', async () => {
    using sandbox = site();
    const metrics = sandbox.path('out.prom');
    const given = {input: sandbox.path('in.csv'), email: 'email', endpoint: 'live' as const, metrics};
    await expect(runJob(given, {env: {}})).rejects.toThrow(/BULK_ENRICH/);
    expect(sandbox.read('out.prom')).toMatch(/^bulk_enrich_last_run_exit_code\{.*\} 2$/m);
  });
});
