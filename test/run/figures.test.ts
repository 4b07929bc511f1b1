import {expect, test} from 'vitest';
import type {PlanReport} from '../../src/run/plan.ts';
import {FAST, startService} from '../e2e/service.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';

test('a plan gives each warning once', async () => {
  using sandbox = createSandbox({'list.csv': 'ip,mail\n192.0.2.1,192.0.2.3\n192.0.2.2,192.0.2.4\n'});
  const args = ['plan', 'list.csv', '--ip', 'ip', '--email', 'mail', '--endpoint', 'embedded'];
  const {stderr} = await runHere(sandbox, args);
  expect(stderr.match(/Warning:/g)).toHaveLength(1);
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

test.each([
  ['day', 2, 9],
  ['month', 9, 2],
])("a plan tells what is left of the account's %s if that is less", async (_, day, month) => {
  await using service = await startService();
  using sandbox = createSandbox({'list.csv': 'ip\n192.0.2.1\n'});
  const limits = `max_credits_per_day: ${day}\nmax_credits_per_month: ${month}\n`;
  sandbox.write('../home/config/bulk-enrich/accounts/a.yaml', `endpoint: ${service.url}\n${limits}`);
  const {stdout} = await runHere(sandbox, 'plan list.csv --ip ip --json', {env: service.env});
  expect((JSON.parse(stdout) as PlanReport).account_left).toBe(2);
});
