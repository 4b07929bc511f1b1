import {expect, test} from 'vitest';
import {renderSample} from '../../src/cli/terminal/sample.ts';
import type {SampleReport} from '../../src/estimate/sampled-run.ts';
import type {Job} from '../../src/job/job.ts';
import {startService} from '../e2e/service.ts';
import {reply} from '../support/api-server-reply.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {startPingServer} from '../support/ping-server.ts';
import {until} from '../support/until.ts';
import {whole} from '../support/whole.ts';

const LIST = `ip\n${Array.from({length: 9}, (_, n) => `192.0.2.${n}\n`).join('')}`;
const ARGS = ['list.csv', '--ip', 'ip', '--rate', 'unlimited', '--score', 'none'];

test.each<[string, readonly string[], {sampleLater: number; toPay: RegExp}]>([
  [
    'kept, so the run pays for the others only',
    [],
    {sampleLater: 9, toPay: /kept[\s\S]*\b9 credits \(\d+ at worst\), the sample's 3 included/},
  ],
  [
    'kept nowhere, so the run pays for all of them',
    ['--no-store'],
    {
      sampleLater: 12,
      toPay: /not kept \(--no-store\)[\s\S]*\b9 credits \(\d+ at worst\), plus 3 spent on the sample/,
    },
  ],
])('the answers of a sample are %s', async (_, flags, {sampleLater, toPay}) => {
  await using service = await startService();
  using sandbox = createSandbox();
  sandbox.write('list.csv', LIST);
  const run = (...more: string[]) =>
    runHere(sandbox, ['run', ...ARGS, ...flags, ...more], {env: service.env});
  const sample = await run('--sample', '3');
  expect([sample.code, sample.stdout]).toEqual([0, expect.stringMatching(toPay)]);
  expect(sample.stdout).toMatch(/^ip +3 +3 +0 +3 +100% +9$/m);
  expect((await run()).code).toBe(0);
  expect(service.ledger.calls).toBe(sampleLater);
});

test('a sample records its calls beside the last run’s', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  sandbox.write('list.csv', LIST);
  sandbox.write('calls.ndjson', 'of the last run');
  await runHere(sandbox, ['run', ...ARGS, '--sample', '3', '--calls', 'calls.ndjson'], {env: service.env});
  expect(sandbox.read('calls.ndjson')).toBe('of the last run');
  expect(sandbox.read('calls.sample.ndjson').trim().split('\n')).toHaveLength(3);
});

test('a sample leaves metrics and the health check alone, and finishes no earlier day', async () => {
  await using service = await startService();
  await using health = await startPingServer();
  using sandbox = createSandbox();
  sandbox.write('list.csv', LIST);
  const daily = ['run', ...ARGS, '-o', 'out-{date}.csv', '--metrics', 'out.prom', '--ping-url', health.url];
  const run = (...more: string[]) => runHere(sandbox, [...daily, ...more], {env: service.env});
  expect((await run('--date', '2026-01-01', '--max-credits', '2', '--concurrency', '1')).code).toBe(7);
  const [metrics, pings] = [sandbox.read('out.prom'), health.pings.length];
  const sample = await run('--sample', '3');
  expect([sample.code, sample.stderr]).toEqual([0, expect.not.stringContaining('2026-01-01')]);
  expect([sandbox.read('out.prom'), health.pings.length]).toEqual([metrics, pings]);
  expect(service.ledger.calls).toBeLessThanOrEqual(2 + 3);
});

test('a call without a usable answer is paid for again', async () => {
  await using service = await startService({script: () => reply.html()});
  using sandbox = createSandbox();
  sandbox.write('list.csv', LIST);
  const {stdout} = await runHere(sandbox, ['run', ...ARGS, '--sample', '3'], {env: service.env});
  expect(stdout).toMatch(/not kept[\s\S]*plus 3 spent on the sample/);
});

test('repeated calls make each value more expensive in the projection', async () => {
  await using service = await startService({
    script: ({attempt}) => (attempt === 1 ? reply.error(500, 'down') : undefined),
  });
  using sandbox = createSandbox();
  sandbox.write('list.csv', LIST);
  const {stdout} = await runHere(sandbox, ['run', ...ARGS, '--sample', '3'], {env: service.env});
  expect(stdout).toMatch(/\b18 credits \(\d+ at worst\)/);
});

test('a value that a condition leaves out costs nothing in the projection', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  const rows = Array.from({length: 9}, (_, n) => `192.0.2.${n},person${n}@example.com\n`);
  sandbox.write('list.csv', `ip,email\n${rows.join('')}`);
  sandbox.write(
    'job.yaml',
    'input: list.csv\nendpoint: live\nip: ip\nemail: {column: email, when: risk.score > 100}\n',
  );
  const {stdout} = await runHere(sandbox, ['run', '--job', 'job.yaml', '--sample', '3'], {env: service.env});
  expect(service.ledger.calls).toBe(3);
  expect(stdout).toMatch(/^email +3 +0 +0 +0 +– +0$/m);
  expect(stdout).toMatch(/All rows cost about 9 credits \(54 at worst\)/);
});

test('a condition on one of two columns of an operation leaves out that column alone', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  const rows = Array.from({length: 40}, (_, n) => `192.0.2.${n},a${n}@example.com,b${n}@example.com\n`);
  sandbox.write('list.csv', `ip,e1,e2\n${rows.join('')}`);
  sandbox.write(
    'job.yaml',
    'input: list.csv\nendpoint: live\nip: ip\nemail: [e1, {column: e2, when: risk.score > 100}]\n',
  );
  const {stdout} = await runHere(sandbox, ['run', '--job', 'job.yaml', '--sample', '20'], {env: service.env});
  expect(stdout).toMatch(/^email .* 40$/m);
  expect(stdout).toMatch(/All rows cost about 80 credits/);
});

test('a condition that no row of the sample decides is taken to hold', async () => {
  await using service = await startService();
  const samples: string[] = [];
  // The row with the email address is the sampled one in one of both lists, whichever row is chosen.
  for (const emails of [
    ['', 'b@example.com'],
    ['a@example.com', ''],
  ]) {
    using sandbox = createSandbox();
    sandbox.write('list.csv', `ip,email\n${emails.map((email, n) => `192.0.2.${n},${email}\n`).join('')}`);
    sandbox.write(
      'job.yaml',
      'input: list.csv\nendpoint: live\nip: ip\nemail: {column: email, when: risk.score > 100}\n',
    );
    const args = ['run', '--job', 'job.yaml', '--sample', '1'];
    samples.push((await runHere(sandbox, args, {env: service.env})).stdout);
  }
  const figures = samples.map(text => /^email +.*$/m.exec(text)?.[0].replaceAll(/ +/g, ' '));
  expect(figures.sort()).toEqual(['email 1 0 0 0 – 0', 'email 1 0 0 0 – 1']);
});

test('a sample is of rows that a run looks up: of none beyond --limit, and of none that can not be read', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  const broken = '192.0.2.1,too,many\n'.repeat(40);
  sandbox.write('list.csv', `ip,n\n192.0.2.1,1\n192.0.2.2,1\n${broken}192.0.2.3,1\n192.0.2.4,1\n`);
  const args = ['run', ...ARGS, '--max-rejects', '100%', '--sample', '3'];
  const sample = (...more: string[]) => runHere(sandbox, [...args, ...more], {env: service.env});
  expect((await sample('--limit', '2')).stdout).toMatch(/^ip +2 +2 +0 +2 .*Sampled 2 of 2 rows\./ms);
  expect((await sample()).stdout).toMatch(/^ip +3 +3 .*Sampled 3 of 4 rows\./ms);
});

test('of a sample, verdicts are paid for again, and values that the service rejects are not', async () => {
  await using service = await startService({
    script: ({value}) => (value === '192.0.2.3' ? reply.error(422, 'odd') : undefined),
  });
  using sandbox = createSandbox();
  sandbox.write('list.csv', 'ip,token\n192.0.2.1,t1\n192.0.2.2,t2\n192.0.2.3,t3\n');
  const sample = async (...more: string[]) => {
    const args = ['run', ...ARGS, '--concurrency', '1', '--sample', '3', ...more];
    return (await runHere(sandbox, args, {env: service.env})).stdout;
  };
  expect(await sample()).toMatch(/The sample cost 3 credits\. Its answers are kept/);
  expect(await sample('--verdict', 'token=token,action=a')).toMatch(
    /^ip +3 +3 +3 +0 .*The sample cost 3 credits\. Its answers are not kept/ms,
  );
  expect(service.ledger.calls).toBe(6);
});

test('where a sample needs no call, the others cost their price', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  sandbox.write('list.csv', LIST);
  const sample = async () => {
    const args = ['run', ...ARGS, '--cost', 'ip=2.5', '--sample', '3'];
    return (await runHere(sandbox, args, {env: service.env})).stdout;
  };
  expect(await sample()).toMatch(/All rows cost about 23 credits .*, the sample's 7\.5 included/);
  expect(await sample()).toMatch(/All rows cost about 15 credits .*, the sample's 0 included/);
  expect(service.ledger.calls).toBe(3);
});

test('answers that the store could not take are told of as not kept', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  sandbox.write('list.csv', LIST);
  sandbox.write('store/answers.db', 'no database');
  const args = ['run', ...ARGS, '--sample', '3', '--store', 'store'];
  const {stdout} = await runHere(sandbox, args, {env: service.env});
  expect(stdout).toMatch(/not kept[\s\S]*plus 3 spent on the sample/);
});

test.each([
  ['run', []],
  ['sample', ['--sample', '3']],
])('the next %s takes over what a sample that was killed paid for', async (_, next) => {
  await using service = await startService({script: ({call}) => (call > 2 ? reply.stall() : undefined)});
  using sandbox = createSandbox();
  sandbox.write('list.csv', LIST);
  const one = ['--concurrency', '1'];
  const sample = sandbox.start(['run', ...ARGS, ...one, '--sample', '3'], {env: service.env});
  await until(() => service.ledger.calls > 2);
  sample.kill('SIGKILL');
  await sample.outcome;
  service.setScript(undefined);
  const {code} = await runHere(sandbox, ['run', ...ARGS, ...next], {env: service.env});
  expect(code).toBe(0);
  const values = next.length > 0 ? 3 : 9;
  expect(service.ledger.calls).toBe(values + 1);
  const {stdout} = await runHere(sandbox, ['spend', '--json']);
  expect(JSON.parse(stdout).total).toMatchObject({spent: values, maybe_spent: 1});
  expect(sandbox.files().filter(name => name.includes('-sample'))).toEqual([]);
});

test('the limits of --fail-if are for all rows: a sample does not fail by them', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  sandbox.write('list.csv', LIST);
  const run = (...more: string[]) =>
    runHere(sandbox, ['run', ...ARGS, '--fail-if', 'rows.written < 10', ...more], {env: service.env});
  expect((await run('--sample', '3')).code).toBe(0);
  const {stdout} = await runHere(sandbox, ['runs', '--json']);
  expect(JSON.parse(stdout).runs).toMatchObject([{reason: 'done', exit_code: 0}]);
  expect((await run()).code).toBe(4);
});

test('calls that conditions of the sample left out may still come: the worst case is told', () => {
  const of = (kind: 'live' | 'embedded', at_most: number) => {
    const outcome = {summary: undefined, stop: undefined} as unknown as SampleReport['outcome'];
    const costs = {credits: {expected: 0, at_most}, paid: {once: 3, again: 0}};
    const report: SampleReport = {...{rows: 9, sampled: 3, lookups: {}}, ...costs, outcome};
    const endpoint = {kind} as Job['endpoint'];
    return renderSample(report, whole<Job>({endpoint, settings: {} as Job['settings']}), undefined);
  };
  expect(of('live', 9)).toContain('\nAll rows cost about 0 credits (9 at worst), the sample');
  expect(of('live', 0)).toContain('all rows cost nothing.');
  expect(of('embedded', 9)).toContain('At a live service all rows cost');
});
