import {existsSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {beforeAll, describe, expect, test} from 'vitest';
import {readRunSummaries} from '../../src/run/end/history.ts';
import {isCompleteRun} from '../../src/run/exit.ts';
import {startApiServer} from '../support/api-server.ts';
import {reply} from '../support/api-server-reply.ts';
import {createSandbox, type Sandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {opened} from '../support/opened.ts';
import {startPingServer} from '../support/ping-server.ts';

const KEY = 'key-that-must-not-leak-0123456789';
const server = opened(() => startApiServer({key: KEY}), beforeAll);

/** Rows whose every value can be told from any text of a report. */
const row = (n: number) => [`person${n}@example.com`, `198.51.100.${n}`, `+1202555${1000 + n}`];
const list = (rows: number) =>
  ['email,ip,phone', ...Array.from({length: rows}, (_, n) => row(n + 1).join(','))].join('\n');
const site = (rows = 5, files: Readonly<Record<string, string>> = {}) =>
  createSandbox({'in.csv': list(rows), ...files});

const env = (more: object) => ({BULK_ENRICH_BASE_URL: server.url, BULK_ENRICH_API_KEY: KEY, ...more});
const run = (sandbox: Sandbox, flags: string, more: Record<string, string> = {}) =>
  runHere(sandbox, `run in.csv --rate unlimited ${flags}`, {env: env(more)});

/** The complete runs of a job in the history, as text. */
function historyOf(sandbox: Sandbox, job: string): string[] {
  const env = {XDG_STATE_HOME: join(sandbox.home, 'state')};
  const runs = readRunSummaries({env, warn: sentence => expect.fail(String(sentence))});
  return runs.filter(run => run.job === job && isCompleteRun(run)).map(run => JSON.stringify(run));
}

const JOB = (name: string, more = '') => `name: ${name}
input: in.csv
output: out.csv
endpoint: live
rate: unlimited
ip: ip
force: true
${more}`;

const runJob = (sandbox: Sandbox, more: Record<string, string> = {}, flags: readonly string[] = []) =>
  runHere(sandbox, ['run', '--job', 'job.yaml', ...flags], {env: env(more)});

const github = (sandbox: Sandbox, step = 'step.md') => ({
  GITHUB_ACTIONS: 'true',
  GITHUB_STEP_SUMMARY: sandbox.path(step),
});

describe('--report and --metrics', () => {
  test('one HTML page, or Markdown, and Prometheus text, without values of rows and without the key', async () => {
    using sandbox = site(12, {'step.md': ''});
    await using health = await startPingServer();
    const more = github(sandbox);
    const html = await run(sandbox, `--report out.html --metrics out.prom --ping-url ${health.url}`, more);
    const markdown = await run(sandbox, '--report out.MD --force', more);
    expect([html.code, markdown.code]).toEqual([0, 0]);
    expect(sandbox.read('out.html')).toMatch(/^<!doctype html>.*United States \(US\)/s);
    expect(sandbox.read('out.MD')).toMatch(/^<!-- bulk-enrich report -->\n# in\.csv: Complete\n/);
    expect(sandbox.read('out.prom')).toContain('bulk_enrich_last_run_success{job_name=""} 1\n');
    expect(sandbox.read('out.prom')).toContain('bulk_enrich_run_rows{job_name="",outcome="ok"} 12\n');
    const made = ['out.html', 'out.MD', 'out.prom', 'step.md', 'in.enriched.summary.json'].map(sandbox.read);
    const texts = [...made, ...health.texts, ...health.pings, html.stderr, markdown.stderr].join('\n');
    expect(texts).not.toContain(KEY);
    for (const value of Array.from({length: 12}, (_, n) => row(n + 1)).flat())
      expect(texts.includes(value) || texts.includes(value.split('@')[0] as string), value).toBe(false);
    expect(sandbox.files().filter(name => name.includes('.tmp'))).toEqual([]);
  });

  test('an interrupted run has them too, and its resume completes them', async () => {
    using sandbox = site(4);
    const flags = '--report out.html --metrics out.prom';
    expect((await run(sandbox, `${flags} --max-credits 5`)).code).toBe(7);
    expect(sandbox.read('out.html')).toContain('Interrupted');
    expect(sandbox.read('out.prom')).toContain('bulk_enrich_last_run_exit_code{job_name=""} 7\n');
    expect((await run(sandbox, flags)).code).toBe(0);
    expect(sandbox.read('out.html')).toContain('Resumed');
    expect(sandbox.read('out.prom')).toContain('bulk_enrich_last_run_success{job_name=""} 1\n');
  });
});

describe('in GitHub Actions', () => {
  test('the report is appended to the step summary, and trouble is annotated on stderr', async () => {
    using sandbox = site(5, {'in.csv': `${list(5)}\nonly,two`, 'step.md': 'From the step itself.\n'});
    const {code, stdout, stderr} = await run(sandbox, '-o -', github(sandbox));
    expect(code).toBe(3);
    expect(stdout).not.toContain('::');
    expect(stderr).toMatch(/^::warning title=bulk-enrich%3A some values have no answer::5 rows written/m);
    expect(sandbox.read('step.md')).toMatch(/^From the step itself.\n# in\.csv: Complete, with gaps\n/);
  });

  test('a run on old answers is annotated as such', async () => {
    using sandbox = site(5);
    await run(sandbox, '');
    const {stderr} = await run(sandbox, '-o b.csv --offline --max-age 0s --stale 1d', github(sandbox));
    expect(stderr).toMatch(/^::warning title=bulk-enrich%3A some answers are past their age::.*\(offline\)/m);
  });

  test('the step summary stays within 1 MiB', async () => {
    using sandbox = site(5, {'step.md': 'x'.repeat(1_048_576 - 900)});
    await run(sandbox, '', github(sandbox));
    const bytes = Buffer.byteLength(sandbox.read('step.md'));
    expect(bytes).toBeGreaterThan(1_048_576 - 900);
    expect(bytes).toBeLessThanOrEqual(1_048_576);
  });

  test('a stop and a mistake are errors; nothing is said outside of GitHub', async () => {
    using sandbox = site();
    const stopped = await run(sandbox, '--max-credits 3 --quiet', github(sandbox));
    expect(stopped.stderr).toMatch(/^::error title=bulk-enrich stopped::The credit limit/m);
    const mistaken = await run(sandbox, '--email mail', github(sandbox));
    expect(mistaken.stderr).toMatch(/^::error title=bulk-enrich::/m);
    const elsewhere = await run(sandbox, '--max-credits 3', {GITHUB_STEP_SUMMARY: sandbox.path('other.md')});
    expect(elsewhere.stderr).not.toContain('::');
    expect(existsSync(sandbox.path('other.md'))).toBe(false);
  });

  test('a step summary that can not be written is a warning', async () => {
    using sandbox = site();
    const {code, stderr} = await run(sandbox, '', github(sandbox, 'missing/step.md'));
    expect(code).toBe(0);
    expect(stderr).toMatch(/^Warning: .*ENOENT/m);
  });
});

describe('--ping-url', () => {
  test('is told of the start, and of success or the exit code; the query stays', async () => {
    using sandbox = site();
    await using health = await startPingServer();
    const path = new URL(health.url).pathname;
    await run(sandbox, `--ping-url ${health.url}?create=1`);
    await run(sandbox, `--ping-url ${health.url}/ --restart --force --max-credits 3 --no-store -o b.csv`);
    await run(sandbox, `--ping-url ${health.url} --no-store`);
    expect(health.pings).toEqual([
      ...[`GET ${path}/start?create=1`, `GET ${path}?create=1`],
      ...[`GET ${path}/start`, `GET ${path}/7`],
      ...[`GET ${path}/start`, `GET ${path}/2`],
    ]);
  });

  test.each(['stall', 'refuse'] as const)(
    'a health check that does not work (%s) changes nothing',
    async behave => {
      using sandbox = site();
      await using health = await startPingServer(behave);
      const {code, stderr} = await run(sandbox, `--ping-url ${health.url}`);
      expect(code).toBe(0);
      expect(stderr).toMatch(/^Warning: .*health check \(--ping-url\)/m);
      expect(stderr).not.toContain(health.url);
      expect(health.pings).toHaveLength(2);
    },
  );
});

describe('drift', () => {
  /** The run of a night in which all IP addresses are of VPNs. */
  async function vpnNight(sandbox: Sandbox, ...flags: readonly string[]) {
    server.setScript(() => reply.json({success: true, data: {is_vpn: true}}));
    const ended = await runJob(sandbox, {GITHUB_ACTIONS: 'true'}, flags);
    server.setScript(undefined);
    return ended;
  }

  test('a job is compared with its last runs: the summary, the report and the terminal show figures that jumped', async () => {
    using sandbox = site(30, {'job.yaml': JOB('nightly', 'store: false\nreport: out.html')});
    for (let night = 0; night < 2; night += 1) {
      const {code, stderr} = await runJob(sandbox);
      expect(code).toBe(0);
      expect(stderr).not.toContain('unlike');
      expect(sandbox.summary('out.summary.json').drift).toEqual([]);
    }
    const {code, stderr} = await vpnNight(sandbox);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^Warning: .*ip\.is_vpn 100%/m);
    expect(stderr).toMatch(/^::warning title=bulk-enrich%3A unlike the job's last runs::/m);
    const jump = sandbox.summary('out.summary.json').drift.find(({what}) => what === 'ip.is_vpn');
    expect(jump).toMatchObject({now: 1, runs: 2});
    expect(sandbox.read('out.html')).toContain('Unlike the last runs');
    const kept = historyOf(sandbox, 'nightly');
    expect(kept).toHaveLength(3);
    expect(kept.join()).not.toMatch(/person|198\.51|key-that/);
  });

  test('new answers are judged by themselves among known ones, with those of the sessions before', async () => {
    using sandbox = site(100, {'job.yaml': JOB('nightly')});
    await runJob(sandbox);
    sandbox.write('in.csv', list(108));
    expect((await vpnNight(sandbox, '--max-credits', '7')).code).toBe(7);
    expect((await vpnNight(sandbox)).stderr).toMatch(/^Warning: .*ip\.is_vpn 100%/m);
    const {new_answers, fields} = sandbox.summary('out.summary.json');
    expect([new_answers?.ip, fields.ip?.is_vpn?.true]).toEqual([8, expect.closeTo(0.2, 1)]);
  });

  test('drift: fail 10% ends with 4, with the output in place', async () => {
    using sandbox = site(30, {'job.yaml': JOB('nightly', 'store: false\ndrift: fail 10%')});
    expect((await runJob(sandbox)).code).toBe(0);
    const {code, stderr} = await vpnNight(sandbox);
    expect(code).toBe(4);
    expect(stderr).toContain('::error title=bulk-enrich%3A unlike');
    expect(stderr).toMatch(
      /^30 rows written.* It differs from the job's last runs by more than drift allows\./m,
    );
    const ended = {status: 'completed', reason: 'drift', exit_code: 4};
    expect(sandbox.summary('out.summary.json')).toMatchObject(ended);
    expect(sandbox.read('out.csv').split('\n').length).toBeGreaterThan(30);
    expect(existsSync(sandbox.path('out.csv.run'))).toBe(false);
    // The user's own condition is named first.
    sandbox.write('job.yaml', JOB('nightly', 'store: false\ndrift: fail 10%\nfail_if: rows.read > 29'));
    expect((await vpnNight(sandbox)).code).toBe(4);
    const drift = expect.arrayContaining([expect.objectContaining({what: 'ip.is_vpn'})]);
    expect(sandbox.summary('out.summary.json')).toMatchObject({reason: 'fail_if', drift});
  });

  test('drift: off, or a job without a name, is compared with nothing; the share is a part of the setting', async () => {
    using sandbox = site(30, {'job.yaml': JOB('nightly', 'drift: fail 100%')});
    await runJob(sandbox);
    sandbox.write('in.csv', 'email,ip,phone\nx,y,z');
    expect((await runJob(sandbox)).code).not.toBe(4);
    sandbox.write('job.yaml', JOB('nightly', 'drift: off'));
    sandbox.write('in.csv', list(90));
    expect((await runJob(sandbox)).code).toBe(0);
    expect(sandbox.summary('out.summary.json').drift).toEqual([]);
  });

  test('a state directory that can not be used is a warning', async () => {
    using sandbox = site(5, {'job.yaml': JOB('nightly')});
    writeFileSync(join(sandbox.home, 'file'), '');
    const blocked = await runJob(sandbox, {XDG_STATE_HOME: join(sandbox.home, 'file')});
    expect(blocked.code).toBe(0);
    expect(blocked.stderr).toMatch(/^Warning: .*ENOTDIR/m);
    const homeless = await runJob(sandbox, {XDG_STATE_HOME: '', HOME: '/nonexistent'});
    expect(homeless.code).toBe(0);
    expect(homeless.stderr).toMatch(/^Warning: .*\/nonexistent/m);
  });

  test('a name can not lead out of the directory', async () => {
    using sandbox = site(5, {'job.yaml': JOB('..')});
    expect((await runJob(sandbox)).code).toBe(2);
  });
});
