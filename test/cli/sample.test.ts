import {expect, test} from 'vitest';
import {startService} from '../e2e/service.ts';
import {reply} from '../support/api-server-reply.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {until} from '../support/until.ts';

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
