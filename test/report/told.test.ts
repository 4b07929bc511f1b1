import {readFileSync, writeFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {sendPing} from '../../src/client/ping.ts';
import {takeLock} from '../../src/disk/lock.ts';
import {runJob} from '../../src/index.ts';
import {createSandbox, type Sandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {startPingServer} from '../support/ping-server.ts';

const LIST = 'email\njo@example.com\n';
const ARGS = ['run', 'in.csv', '--email', 'email', '--endpoint', 'embedded', '--no-store'];

function site(): Sandbox {
  const sandbox = createSandbox();
  sandbox.write('in.csv', LIST);
  return sandbox;
}

describe('messages to other services', () => {
  test('follows no redirect', async () => {
    await using elsewhere = await startPingServer();
    await using health = await startPingServer(`to ${elsewhere.url}`);
    expect(await sendPing(new URL(health.url))).toBe('http_302');
    expect([health.pings.length, elsewhere.pings]).toEqual([1, []]);
  });

  test('takes nothing of an answer without end', async () => {
    await using health = await startPingServer('flood');
    expect(await sendPing(new URL(health.url))).toBe('ok');
    const {sent} = health;
    expect(sent).toBeLessThan(16_000_000);
    await new Promise(resolve => setTimeout(resolve, 50));
    expect(health.sent).toBe(sent);
  });
});

describe('a run that finds another at its output', () => {
  test('tells no health check, leaves the metrics as they are, and is no alarm for cron or GitHub', async () => {
    using sandbox = site();
    await using health = await startPingServer();
    sandbox.write('out.prom', '# HELP bulk_enrich_x The other one writes it.\n');
    const lock = takeLock(sandbox.path('in.enriched.csv.run'), {ours: true, busy: () => ''});
    const told = ['--ping-url', health.url, '--metrics', 'out.prom'];
    const env = {GITHUB_ACTIONS: 'true'};
    const loud = await runHere(sandbox, [...ARGS, ...told], {env});
    expect([loud.code, loud.stderr]).toEqual([11, expect.stringMatching(/^::notice /)]);
    expect(loud.stderr).not.toContain('::error');
    expect(await runHere(sandbox, [...ARGS, ...told, '--quiet'])).toMatchObject({code: 11, stderr: ''});
    lock.release();
    expect(health.pings).toEqual([]);
    expect(sandbox.read('out.prom')).toContain('The other one writes it.');
  });
});

test('a health check is told of gaps as of a success, as schedules take them', async () => {
  using sandbox = createSandbox();
  await using health = await startPingServer();
  sandbox.write('in.csv', `${LIST}"jo@example.com",one too many\n`);
  expect((await runHere(sandbox, [...ARGS, '--ping-url', health.url])).code).toBe(3);
  expect(health.pings.map(told => told.split('/').at(-1))).toEqual(['start', health.url.split('/').at(-1)]);
});

describe('metrics on every exit', () => {
  const codeIn = (text: string) => /^bulk_enrich_last_run_exit_code\{.*\} (\d+)$/m.exec(text)?.[1];

  test('a key that is missing, a setting that is wrong, an output that is there', async () => {
    using sandbox = site();
    sandbox.write(
      'job.yaml',
      'name: nightly\ninput: in.csv\nendpoint: live\nmetrics: "{date}.prom"\ndate: 2026-01-05\n',
    );
    writeFileSync(sandbox.path('2026-01-05.prom'), success('nightly'));
    const withoutKey = await runHere(sandbox, ['run', '--job', 'job.yaml']);
    expect(withoutKey.code).toBe(2);
    const after = sandbox.read('2026-01-05.prom');
    expect(codeIn(after)).toBe('2');
    expect(after).toContain('bulk_enrich_last_run_success{job_name="nightly"} 0\n');
    expect(after).toContain('bulk_enrich_last_success_timestamp_seconds{job_name="nightly"} 1700000000\n');

    for (const wrong of [
      ['--rate', 'fast'],
      ['-o', 'in.csv'],
    ]) {
      writeFileSync(sandbox.path('out.prom'), success(''));
      const {code} = await runHere(sandbox, [...ARGS, '--metrics', 'out.prom', ...wrong]);
      expect([code, codeIn(sandbox.read('out.prom'))]).toEqual([2, '2']);
    }
    expect(sandbox.read('in.csv')).toBe(LIST);
  });

  test('of a job file that is missing or has a mistake, in the series that an alert goes by', async () => {
    using sandbox = site();
    const kept = (job = 'nightly') => {
      const text = sandbox.read('out.prom');
      expect(codeIn(text)).toBe('2');
      expect(text).toContain(`bulk_enrich_last_run_success{job_name="${job}"} 0\n`);
      expect(text).toContain(`bulk_enrich_last_success_timestamp_seconds{job_name="${job}"} 1700000000\n`);
      writeFileSync(sandbox.path('out.prom'), success('nightly'));
    };
    writeFileSync(sandbox.path('out.prom'), success('a \\"b\\"'));
    await runHere(sandbox, ['run', '--job', 'missing.yaml', '--metrics', 'out.prom']);
    kept('a \\"b\\"');
    // Settings on lines of their own count, before the mistake and after it.
    sandbox.write('broken.yaml', 'metrics: out.prom\nip: [ip\nname: "nightly\n');
    const broken = await runHere(sandbox, ['run', '--job', 'broken.yaml']);
    expect(broken).toMatchObject({code: 2, errorCode: 'job_syntax'});
    kept();
    writeFileSync(sandbox.path('out.prom'), '');
    sandbox.write('broken.yaml', 'ip: [ip\nname: other\nmetrics: out.prom\n');
    await runHere(sandbox, ['run', '--job', 'broken.yaml']);
    expect(sandbox.read('out.prom')).toContain('bulk_enrich_last_run_success{job_name="other"} 0\n');
  });

  test('of a command line that is not right', async () => {
    using sandbox = site();
    sandbox.write('job.yaml', 'name: nightly\ninput: in.csv\nendpoint: embedded\nmetrics: out.prom\n');
    writeFileSync(sandbox.path('out.prom'), success('nightly'));
    for (const wrong of [
      ['run', '--job', 'job.yaml', '--bogus'],
      ['run', '--bogus', '--job', 'job.yaml'],
      [...ARGS, '--metrics', 'new.prom', '--name', 'nightly', '--on-what', 'x'],
      ['run', '--job', 'job.yaml', '--rate'],
    ]) {
      const env = {GITHUB_ACTIONS: 'true'};
      const {code, stderr} = await runHere(sandbox, wrong, {env});
      expect([code, stderr], wrong.join(' ')).toEqual([2, expect.stringMatching(/^Error: /m)]);
      expect(stderr.match(/^::error /gm)).toHaveLength(1);
      const name = wrong.includes('new.prom') ? 'new.prom' : 'out.prom';
      expect(codeIn(sandbox.read(name))).toBe('2');
      writeFileSync(sandbox.path('out.prom'), success('nightly'));
    }
    await runHere(sandbox, ['run', '--help', '--metrics', 'out.prom']);
    await runHere(sandbox, ['plan', '--job', 'job.yaml', '--bogus']);
    expect(sandbox.read('out.prom')).toBe(success('nightly'));
  });

  test('from code, too', async () => {
    using sandbox = site();
    const metrics = sandbox.path('out.prom');
    const given = {input: sandbox.path('in.csv'), email: 'email', endpoint: 'live' as const, metrics};
    await expect(runJob(given, {env: {}})).rejects.toThrow(/BULK_ENRICH/);
    expect(codeIn(readFileSync(metrics, 'utf8'))).toBe('2');
  });

  test('a file that is no metrics stays as it is, whatever was wrong', async () => {
    using sandbox = site();
    const {code} = await runHere(sandbox, [...ARGS, '--metrics', 'in.csv']);
    expect([code, sandbox.read('in.csv')]).toEqual([2, LIST]);
  });

  const success = (job: string) =>
    `# HELP bulk_enrich_x x\nbulk_enrich_last_success_timestamp_seconds{job_name="${job}"} 1700000000\nbulk_enrich_last_run_success{job_name="${job}"} 1\n`;
});
