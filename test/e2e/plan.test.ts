import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import {openStoreFile} from '../../src/ledger/answers/store-file.ts';
import type {PlanReport} from '../../src/run/plan.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {expectAccounts} from '../support/summary.ts';
import {FAST, startService} from './service.ts';

/** A plan of a list from stdin, with the embedded service. */
async function planned(stdin: string, ...flags: string[]) {
  using sandbox = createSandbox();
  return await runHere(sandbox, ['plan', '-', '--endpoint', 'embedded', ...flags], {stdin});
}
const reported = async (stdin: string, ...flags: string[]) =>
  JSON.parse((await planned(stdin, '--json', ...flags)).stdout) as PlanReport;

const samples = fileURLToPath(new URL('../../samples/', import.meta.url));

test('plan sends nothing, keeps nothing, and its numbers are the run’s', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  const lines = readFileSync(`${samples}signups.csv`, 'utf8').split('\n');
  sandbox.write('signups.csv', lines.slice(0, 80).join('\n'));
  const plan = async () => {
    const {code, stdout} = await runHere(sandbox, ['plan', 'signups.csv', '--json', ...FAST], service);
    expect(code).toBe(0);
    return JSON.parse(stdout) as PlanReport;
  };

  const before = await plan();
  expect(service.ledger.requests).toBe(0);
  expect(sandbox.files()).toEqual(['signups.csv']);

  const outcome = await runHere(sandbox, ['run', 'signups.csv', ...FAST], {env: service.env});
  expect(outcome.code, outcome.stderr).toBe(0);
  const summary = sandbox.summary('signups.enriched.summary.json');
  expectAccounts(summary);
  expect(before.rows).toBe(summary.rows.written);
  expect(before.credits.at_least).toBe(summary.credits.spent);
  expect(before.credits.at_least).toBe(service.ledger.credits);
  expect(Object.keys(before.lookups)).toEqual(Object.keys(summary.lookups));
  expect(before.errors).toEqual(summary.errors);
  for (const [name, {values, empty, invalid, distinct, calls}] of Object.entries(before.lookups))
    expect(summary.lookups[name]).toMatchObject({values, empty, invalid, distinct, calls});

  const after = await plan();
  expect(after.credits).toEqual({at_least: 0, all_sent_once: 0, at_most: 0});
  for (const found of Object.values(after.lookups)) expect(found.known).toBe(found.distinct);
});

test('plan needs no place for temporary files while memory has room for the values', async () => {
  using sandbox = createSandbox();
  sandbox.write('list.csv', 'ip\n192.0.2.1\n');
  const args = ['plan', 'list.csv', '--endpoint', 'embedded'];
  const {code, stderr} = await runHere(sandbox, args, {env: {TMPDIR: '/nonexistent'}});
  expect([code, stderr]).toEqual([0, '']);
});

test('for a person: columns with how they were found, counts, credits and time', async () => {
  const stdin = `signup_ip,last_ip,e-mail,note,cc\n${'192.0.2.1,198.51.100.7,jo@example.com,x,US\n'.repeat(8)}`;
  const {code, stdout, stderr} = await planned(stdin, '--rate', '2/s');
  expect({code, stderr}).toEqual({code: 0, stderr: ''});
  expect(stdout).toMatch(
    /^Columns \(csv\):\n {2}ip +"signup_ip" +sure: by its header, 100% of its values fit$/m,
  );
  expect(stdout).toMatch(/^ {2}ip +"last_ip" +sure/m);
  expect(stdout).toMatch(/^8 rows$/m);
  expect(stdout).toMatch(/^ {2}email +8 +0 +0 +1 +0 +1$/m);
  expect(stdout).toMatch(
    /\nA run makes 3 calls, free with the embedded service \(at a live service: 3 credits, 9 at worst\), about 2 s at 2\/s\. At worst, every call has to be sent 3 times, and the calls in flight at each kill again\. Nothing was sent\.\n$/,
  );
  expect(stdout).not.toContain('Problems');
});

test('every used column is named, also the country of phone numbers and the columns sent with a token', async () => {
  const stdin = 'tel,land,token,user,ip\n030 23125 001,DE,t,7,192.0.2.1\n';
  const plan = async (...flags: string[]) => {
    const {columns, left_out} = await reported(stdin, ...flags);
    const named = (found: typeof columns) => found.map(({operation, column}) => `${operation} ${column}`);
    return [named(columns), named(left_out)];
  };
  expect(await plan()).toEqual([['ip ip', 'phone tel', 'country land'], []]);
  const flags = ['--phone', 'tel', '--country', 'land'];
  expect(await plan(...flags)).toEqual([['phone tel', 'country land'], []]);
  const verdict = ['--verdict', 'token=token,action=a,id=user'];
  expect(await plan(...verdict)).toEqual([['verify token', 'verify user'], []]);
});

test('a plan is of the rows that the run reads: those within --limit, with the first rows of each repair', async () => {
  const stdin = 'ip,n\n192.0.2.1,too,many\n192.0.2.2:443,1\n192.0.2.3,1\n192.0.2.4,1\n';
  const whole = await reported(stdin);
  expect(whole).toMatchObject({rows: 3, rejected: 1, credits: {all_sent_once: 3}});
  expect(whole.repairs.map(({rows}) => rows)).toEqual([[2]]);
  const limited = await reported(stdin, '--limit', '3');
  expect(limited).toMatchObject({rows: 2, rejected: 1, credits: {all_sent_once: 2}});
});

test('operations that have rates of their own are called at the same time: the slowest one takes the whole time', async () => {
  const rows = Array.from({length: 8}, (_, n) => `192.0.2.${n},a${n % 2}@example.com\n`);
  const plan = await reported(`ip,email\n${rows.join('')}`, '--rate', 'ip=2/s,email=1/s');
  expect(plan).toMatchObject({time_ms: 4_000, rate_per_second: 3});
});

test('verdicts with a test action id cost nothing: in the plan, in the run, and in what it saved', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  sandbox.write('list.csv', 'n,token\n1,token-1\n2,to ken\n');
  const figures = async (action: string) => {
    const args = ['list.csv', '--verdict', `token=token,action=${action}`, ...FAST];
    const {stdout} = await runHere(sandbox, ['plan', ...args, '--json'], {env: service.env});
    const {lookups, credits} = JSON.parse(stdout) as PlanReport;
    await runHere(sandbox, ['run', ...args, '--force', '-o', 'out.csv'], {env: service.env});
    const {spent, saved} = sandbox.summary('out.summary.json').credits;
    return [lookups.verify?.calls, credits.all_sent_once, spent, saved.prefilter];
  };
  expect(await figures('t/FFFFFFFFFFFFF/111111111')).toEqual([1, 0, 0, 0]);
  expect(await figures('an-action')).toEqual([1, 1, 1, 1]);
});

test('answers that are to be renewed count as calls, as in the run', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  sandbox.write('list.csv', 'ip\n192.0.2.1\n192.0.2.2\n192.0.2.3\n');
  const flags = ['--store', 'store', '--max-age', '30d', ...FAST];
  const run = (output: string) =>
    runHere(sandbox, ['run', 'list.csv', '-o', output, ...flags], {env: service.env});
  await run('first.csv');
  const db = openStoreFile(sandbox.path('store'), 0);
  db.exec(`UPDATE answer SET bought_at = bought_at - ${29.9 * 86_400_000}`);
  db.close();
  const {stdout} = await runHere(sandbox, ['plan', 'list.csv', '--json', ...flags], {env: service.env});
  expect((JSON.parse(stdout) as PlanReport).lookups.ip).toMatchObject({distinct: 3, known: 0, calls: 3});
  await run('second.csv');
  expect(service.ledger.calls).toBe(6);
});

test('for people: values that can not be looked up, by code and row, with advice', async () => {
  const stdin = 'phone;ip\n030 23125 001;192.0.2.0/24\ntoo short\n+49 30 23125 002;192.0.2.1\n';
  const {stdout} = await planned(stdin);
  expect(stdout).toMatch(/^2 rows, 1 that can't be read$/m);
  expect(stdout).toMatch(
    /^Problems, most frequent first:\n {2}1 × ip\.ip_range, row 1: .*\n {2}1 × phone\.country_unknown, row 1: .*--default-country COUNTRY\.\n {2}1 × rejected\.column_count, row 2: .*--pad-short-rows\.$/m,
  );
});

test('for people: the savings by conditions', async () => {
  using sandbox = createSandbox();
  sandbox.write('list.csv', 'ip,tel\n192.0.2.1,+49 30 23125 001\n192.0.2.2,+49 30 23125 002\n');
  const phone = 'phone: {column: tel, when: risk.score >= 30}';
  sandbox.write('job.yaml', `input: list.csv\nendpoint: embedded\nip: ip\n${phone}\n`);
  const {stdout} = await runHere(sandbox, ['plan', '--job', 'job.yaml']);
  expect(stdout).toMatch(
    /^ {9}values {2}empty {2}invalid {2}distinct {2}known {2}calls {2}conditional {2}filtered$/m,
  );
  expect(stdout).toMatch(/^ {2}phone +2 +0 +0 +2 +0 +2 +2 +0$/m);
  expect(stdout).toContain(
    '2 to 4 calls, free with the embedded service (at a live service: 2 to 4 credits, 12 at worst)',
  );
});

test('a plan says and ends as the run would: its limits of credits and of rejects, and its report', async () => {
  const stdin = `ip,n\n192.0.2.9\n192.0.2.10\n${Array.from({length: 8}, (_, n) => `192.0.2.${n},1\n`).join('')}`;
  const plan = (...flags: string[]) => planned(stdin, ...flags);
  const {code, stdout} = await plan('--max-credits', '5', '--max-rejects', '2');
  expect(code).toBe(0);
  expect(stdout).toContain(' The limit, --max-credits 5, stops the run before its end. ');
  const tight = (await plan('--max-credits', '9')).stdout;
  expect(tight).toContain(' The limit, --max-credits 9, may stop the run before its end. ');
  expect((await plan('--max-credits', '24')).stdout).not.toContain('stop');
  const rejecting = {code: 8, stdout: expect.stringContaining('8 rows, 2'), errorCode: 'max_rejects'};
  expect(await plan('--max-rejects', '1')).toMatchObject(rejecting);
  const unreported = await plan('--report', '/nonexistent/r.html');
  expect(unreported).toMatchObject({code: 0, stderr: expect.stringContaining('/nonexistent')});
});
