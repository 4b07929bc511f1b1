import {expect, test} from 'vitest';
import type {PlanReport} from '../../src/estimate/estimate.ts';
import {FAST, startService} from '../e2e/service.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';

test('rows that where leaves out are in no projection: the others are all asked, and all answered', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  const rows = Array.from({length: 10}, (_, n) => `192.0.2.${n},${n % 2 === 0 ? 'yes' : 'no'}\n`);
  sandbox.write('list.csv', `ip,n\n${rows.join('')}`);
  const args = ['list.csv', '--ip', 'ip', '--where', 'row.n == "yes"', '--sample', '10', ...FAST];
  const {stdout} = await runHere(sandbox, ['run', ...args], {env: service.env});
  expect(stdout).toMatch(/^ip +.* 100% +5$/m);
  expect(stdout).toMatch(/All rows cost about 5 credits/);
  expect(service.ledger.calls).toBe(5);
});

test('renewals of the coming days have the price of their operation', async () => {
  using sandbox = createSandbox();
  sandbox.write('list.csv', 'email\na@example.com\nb@example.com\n');
  const args = ['plan', 'list.csv', '--ahead', '31d', '--max-age', '30d', '--cost', 'email=2.5', '--json'];
  const {stdout} = await runHere(sandbox, [...args, '--endpoint', 'embedded']);
  const {ahead = []} = JSON.parse(stdout) as PlanReport;
  const sum = (of: 'calls' | 'credits') => ahead.reduce((all, day) => all + day[of], 0);
  expect([sum('calls'), sum('credits')]).toEqual([2, 5]);
});

test('a plan and a sample give each warning once', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  sandbox.write('list.csv', 'ip,mail\n192.0.2.1,192.0.2.3\n192.0.2.2,192.0.2.4\n');
  const {env} = service;
  const args = ['list.csv', '--ip', 'ip', '--email', 'mail', ...FAST];
  const plan = await runHere(sandbox, ['plan', ...args], {env});
  const sample = await runHere(sandbox, ['run', ...args, '--sample', '2'], {env});
  for (const {stderr} of [plan, sample]) expect(stderr.match(/Warning:/g)).toHaveLength(1);
});

test('calls that a condition may save are those of values without a known answer; at worst each is sent again', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  const emails = (letter: string) => Array.from({length: 4}, (_, n) => `${letter}${n}@example.com`);
  sandbox.write('known.csv', `email\n${emails('b').slice(0, 3).join('\n')}\n`);
  await runHere(sandbox, ['run', 'known.csv', ...FAST], {env: service.env});
  expect(service.ledger.calls).toBe(3);
  const others = emails('b');
  sandbox.write(
    'list.csv',
    `e1,e2\n${emails('a')
      .map((email, n) => `${email},${others[n]}\n`)
      .join('')}`,
  );
  const plan = async (resends: number) => {
    const job = `input: list.csv\nendpoint: live\nresends: ${resends}\nemail: [e1, {column: e2, when: risk.score > 100}]\n`;
    sandbox.write('job.yaml', job);
    const {stdout} = await runHere(sandbox, ['plan', '--job', 'job.yaml', '--json'], {env: service.env});
    return JSON.parse(stdout) as PlanReport;
  };
  const {lookups, credits} = await plan(0);
  expect(lookups.email).toMatchObject({values: 8, distinct: 8, known: 3, calls: 5, conditional: 1});
  expect(credits).toEqual({at_least: 4, all_sent_once: 5, at_most: 5});
  expect((await plan(1)).credits.at_most).toBe(10);
});

test('rows that where leaves out are not taken for rows that a condition leaves out', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  const rows = Array.from(
    {length: 10},
    (_, n) => `192.0.2.${n},p${n}@example.com,${n % 2 === 0 ? 'yes' : 'no'}\n`,
  );
  sandbox.write('list.csv', `ip,email,n\n${rows.join('')}`);
  sandbox.write(
    'job.yaml',
    `input: list.csv\nendpoint: live\nip: ip\nemail: {column: email, when: risk.score < 200}\nwhere: 'row.n == "yes"'\n`,
  );
  const args = ['run', '--job', 'job.yaml', '--sample', '10', '--rate', 'unlimited'];
  const {stdout} = await runHere(sandbox, args, {env: service.env});
  expect(service.ledger.calls).toBe(10);
  expect(stdout).toMatch(/All rows cost about 10 credits/);
});
