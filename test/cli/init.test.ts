import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {expect, it} from 'vitest';
import {parse} from 'yaml';
import {startService} from '../e2e/service.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {opened} from '../support/opened.ts';

const sandbox = opened(createSandbox);
const LIST =
  'email,mobile,signup_ip\na@example.com,+12025550100,192.0.2.1\nb@example.org,(202) 555-0101,192.0.2.2\n';
const rows = (count: number, row: (n: number) => string) =>
  Array.from({length: count}, (_, n) => `${row(n)}\n`).join('');

it('init writes a job file that plan and run take', async () => {
  sandbox.write('my list.csv', LIST);
  const init = await runHere(sandbox, ['init', 'my list.csv']);
  const next = expect.stringContaining('bulk-enrich plan --job my-list.yaml');
  expect(init).toMatchObject({code: 0, stdout: next});
  const job = sandbox.read('my-list.yaml');
  expect(parse(job)).toEqual({
    ...{name: 'my-list', input: 'my list.csv', output: 'my list.enriched.csv', force: true},
    ...{endpoint: 'embedded', email: 'email', phone: 'mobile', ip: 'signup_ip', max_credits: 8},
    report: 'my-list.html',
  });
  expect(job).toMatch(/^ip: signup_ip +# IP addresses \(100% of its values fit\)$/m);
  expect(job).toMatch(/^# default_country: US +# the country of phone numbers in national form$/m);
  // Each line has a comment, or is one.
  for (const line of job.split('\n')) expect(line).toMatch(/#|^$/);
  expect((await runHere(sandbox, 'plan --job my-list.yaml')).stdout).toContain('2 rows');
  expect((await runHere(sandbox, 'run --job my-list.yaml')).code).toBe(0);
  expect(sandbox.summary('my list.enriched.summary.json').job).toBe('my-list');
  const nextNight = await runHere(sandbox, 'run --job my-list.yaml');
  expect(nextNight).toMatchObject({code: 0, stderr: expect.stringContaining('0 calls in ')});
});

it.each([
  ['embedded', {}],
  ['live', {BULK_ENRICH_BASE_URL: 'https://api.example.com', BULK_ENRICH_API_KEY: 'init-key'}],
])('after a run, init proposes the limit that it proposed before: %s', async (_, env) => {
  sandbox.write('list.csv', LIST);
  const limit = async () => {
    expect((await runHere(sandbox, 'init list.csv --force', {env})).code).toBe(0);
    return /^max_credits: (\d+) /m.exec(sandbox.read('list.yaml'))?.[1];
  };
  // Six values, or five without the phone number that lacks its country, and half as many again.
  expect(await limit()).toBe('8');
  const run = await runHere(sandbox, 'run list.csv --endpoint embedded --default-country US');
  expect(run.code).toBe(0);
  expect(await limit()).toBe('8');
});

it('the name of a column can not add a line to the job file', async () => {
  const people = rows(6, n => `jo${n}@example.com,030 23125 001,${n > 0 ? 'DE' : 'Deutschland'}`);
  sandbox.write('list.csv', `email,"tel\nfail_if: a","land\nmax_rejects: 100%"\n${people}`);
  expect((await runHere(sandbox, ['init', 'list.csv'])).code).toBe(0);
  const job = sandbox.read('list.yaml');
  expect(job).toMatch(/^# phone: .*left out: .*with country: land max_rejects: 100%$/m);
  const names = 'name input output force endpoint email max_credits report';
  expect(Object.keys(parse(job))).toEqual(names.split(' '));
});

it('init reads a list as it is told to, and the job does too', async () => {
  const today = new Date().toISOString().slice(0, 10);
  const list = Buffer.from('Straße;9;Herr Müller;192.0.2.1\n'.repeat(9), 'latin1');
  sandbox.write(`lists/kunden-${today}.csv`, list);
  const init = 'init lists/kunden-{date}.csv --encoding windows-1252 --no-header';
  expect(await runHere(sandbox, init)).toMatchObject({code: 0});
  expect(sandbox.read('kunden.yaml')).toMatch(/^output: lists\/kunden-\{date\}\.enriched\.csv /m);
  const {code, stderr} = await runHere(sandbox, 'run --job kunden.yaml');
  expect([code, stderr]).toEqual([0, expect.stringContaining('9 rows written')]);
  sandbox.write(`events-${today}.log`, '{"ip":"192.0.2.1"}\n');
  expect(await runHere(sandbox, 'init events-{date}.log')).toMatchObject({code: 0});
  expect(sandbox.read('events.yaml')).toMatch(/^output: events-\{date\}\.log\.enriched\.ndjson /m);
});

const countries = (n: number) => `01 534010${n},AT,030 2312500${n},DE,0171 392400${n}`;
const KOREAN = Buffer.from(`name,email\n${'\xb3\xaf\xb0\xee\xc0\xcc,a@example.com\n'.repeat(6)}`, 'latin1');

it.each<[what: string, list: string | Buffer, code: number, says: RegExp, job?: RegExp, plan?: RegExp]>([
  [
    'national numbers without a header, and their country is asked for',
    rows(9, n => `020 7946 000${n}`),
    2,
    /has no header[\s\S]*"column_1", phone numbers in national form \(100% of its values\): add it as phone, with a default_country/,
  ],
  ['two such columns', rows(9, n => `020 7946 000${n},0171 392400${n}`), 2, /"column_1".*[\s\S]*"column_2"/],
  [
    'numbers between two countries, and those with a country column of their own',
    `Home Phone,Home Country,Work Phone,Work Country,Mobile Phone\n${rows(6, countries)}`,
    0,
    /Left out: "Mobile Phone", phone numbers that may be/,
    /^# countries.*\ncountry:\n {2}- Home Country\n {2}- Work Country$/m,
    /countries of the phone numbers in "Work Phone"/,
  ],
  [
    'no header, and the job runs',
    rows(6, n => `${n},u${n}@example.com,192.0.2.${n}`),
    0,
    /no header/,
    /^header: false [\s\S]*^ip: column_3 .*\nemail: column_2 /m,
    /6 rows/,
  ],
  ['another encoding, as plan does', KOREAN, 8, /It may be euc-kr or /],
  [
    'an unknown country, as plan does',
    'phone,country\n030 23125 001,Germany\n030 23125 002,Germanny\n',
    0,
    /Germanny/,
  ],
  ['nothing to look up, and what there is', 'id,note\n1,a\n2,b\n', 2, /columns: id, note/],
  [
    'its cost, and leaves room above it, in two digits',
    `id,ip\n${rows(1_234, n => `${n},11.0.${n >> 8}.${n & 255}`)}`,
    0,
    /plan --job/,
    /^max_credits: 1900 +# maximum for one run; this list costs 1234$/m,
  ],
])('init sees %s', async (_, list, code, says, job, plan) => {
  sandbox.write('list.csv', list);
  expect(await runHere(sandbox, 'init list.csv')).toMatchObject({code, log: expect.stringMatching(says)});
  if (job !== undefined) expect(sandbox.read('list.yaml')).toMatch(job);
  if (plan !== undefined) expect((await runHere(sandbox, 'plan --job list.yaml')).stdout).toMatch(plan);
});

it('init leaves an existing file alone, and says what to do', async () => {
  sandbox.write('list.csv', LIST);
  sandbox.write('list.yaml', 'mine');
  const refused = await runHere(sandbox, 'init list.csv');
  expect(refused).toMatchObject({code: 2, stderr: expect.stringContaining('--force')});
  expect(sandbox.read('list.yaml')).toBe('mine');
});

/** The job that init writes where a live service is configured. */
async function initLive(env: Readonly<Record<string, string>>): Promise<string> {
  sandbox.write('list.csv', LIST);
  expect((await runHere(sandbox, 'init list.csv', {env})).code).toBe(0);
  return sandbox.read('list.yaml');
}

it('init writes a job for the live service where one is configured', async () => {
  const env = {BULK_ENRICH_BASE_URL: 'https://jo:secret@api.example.com', BULK_ENRICH_API_KEY: 'init-key'};
  const job = await initLive(env);
  expect(job).toMatch(/^endpoint: live /m);
  expect(job).not.toMatch(/init-key|secret/);
});

it('init says how to limit all runs of a day, in a file that holds as it is written there', async () => {
  await using service = await startService();
  const job = await initLive(service.env);
  const [, path = '', lines = ''] =
    /^# To limit all runs.* write these two lines to (.*)\n((?:# {3}.*\n){2})/m.exec(job) ?? [];
  expect(path).toBe(join(sandbox.home, 'config/bulk-enrich/accounts/main.yaml'));
  mkdirSync(dirname(path), {recursive: true});
  writeFileSync(path, lines.replaceAll('#   ', '').replace('5000', '1'));
  const {code, stderr} = await runHere(sandbox, 'run --job list.yaml', service);
  expect([code, stderr]).toEqual([7, expect.stringContaining(`max_credits_per_day in ${path}`)]);
  expect(service.ledger.credits).toBe(1);
});

it('init writes as comments what may be a column to look up, takes the first of several addresses, and names columns whole', async () => {
  const list = rows(6, n => `"192.0.2.${n}, 198.51.100.7",${n},020 7946 000${n}`);
  sandbox.write('list.csv', `x_forwarded_for,email=,tel\n${list}`);
  sandbox.write('last.csv', `id,ip=last\n${'1,192.0.2.1\n'.repeat(6)}`);
  expect((await runHere(sandbox, 'init list.csv')).code).toBe(0);
  const job = sandbox.read('list.yaml');
  expect(parse(job)).toMatchObject({ip: 'x_forwarded_for', from_list: 'first'});
  expect(job).toMatch(
    /^# phone: tel +# left out: phone numbers in national form \(100% of its values\): add it as phone, with a default_country$/m,
  );
  const uncommented = parse(job.replace('# phone:', 'phone:').replace('# email:', 'email:'));
  expect(uncommented).toMatchObject({phone: 'tel', email: {column: 'email='}});
  expect((await runHere(sandbox, 'init last.csv --encoding utf-8')).code).toBe(0);
  expect(parse(sandbox.read('last.yaml'))).toMatchObject({ip: {column: 'ip=last'}, encoding: 'utf-8'});
  expect((await runHere(sandbox, 'run --job last.yaml')).code).toBe(0);
});
