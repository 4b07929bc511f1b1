import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {expect, it} from 'vitest';
import {parse} from 'yaml';
import {startService} from '../e2e/service.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';

const LIST =
  'email,mobile,signup_ip\na@example.com,+12025550100,192.0.2.1\nb@example.org,(202) 555-0101,192.0.2.2\n';

it('init writes a job file that plan and run take', async () => {
  using sandbox = createSandbox();
  sandbox.write('my list.csv', LIST);
  const init = await runHere(sandbox, ['init', 'my list.csv']);
  expect(init).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('bulk-enrich plan --job my-list.yaml'),
  });
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
  const plan = await runHere(sandbox, ['plan', '--job', 'my-list.yaml']);
  expect(plan).toMatchObject({code: 0, stdout: expect.stringContaining('2 rows')});
  const run = await runHere(sandbox, ['run', '--job', 'my-list.yaml']);
  expect(run.code).toBe(0);
  expect(sandbox.summary('my list.enriched.summary.json').job).toBe('my-list');
  const nextNight = await runHere(sandbox, ['run', '--job', 'my-list.yaml']);
  expect(nextNight).toMatchObject({code: 0, stderr: expect.stringContaining('0 calls in ')});
});

it.each([
  ['embedded', {}],
  ['live', {BULK_ENRICH_BASE_URL: 'https://api.example.com', BULK_ENRICH_API_KEY: 'init-key'}],
])('after a run, init proposes the limit that it proposed before: %s', async (_, env) => {
  using sandbox = createSandbox();
  sandbox.write('list.csv', LIST);
  const limit = async () => {
    expect((await runHere(sandbox, ['init', 'list.csv', '--force'], {env})).code).toBe(0);
    return /^max_credits: (\d+) /m.exec(sandbox.read('list.yaml'))?.[1];
  };
  // Six values, or five without the phone number that lacks its country, and half as many again.
  expect(await limit()).toBe('8');
  expect(
    (await runHere(sandbox, ['run', 'list.csv', '--endpoint', 'embedded', '--default-country', 'US'])).code,
  ).toBe(0);
  expect(await limit()).toBe('8');
});

it('the name of a column can not add a line to the job file', async () => {
  using sandbox = createSandbox();
  const rows = [1, 2, 3, 4, 5, 6].map(n => `jo${n}@example.com,030 23125 001,DE\n`).join('');
  sandbox.write('list.csv', `email,"tel\nfail_if: a","land\nmax_rejects: 100%"\n${rows}`);
  expect((await runHere(sandbox, ['init', 'list.csv'])).code).toBe(0);
  const job = sandbox.read('list.yaml');
  expect(job).toMatch(/^# phone: .*left out: .*with country: land max_rejects: 100%$/m);
  expect(Object.keys(parse(job))).toEqual([
    ...['name', 'input', 'output', 'force', 'endpoint', 'email', 'max_credits', 'report'],
  ]);
});

it('init reads a list as it is told to, and the job does too', async () => {
  using sandbox = createSandbox();
  const list = Buffer.from('Straße;9;Herr Müller;192.0.2.1\n'.repeat(9), 'latin1');
  sandbox.write(`lists/kunden-${new Date().toISOString().slice(0, 10)}.csv`, list);
  const args = ['lists/kunden-{date}.csv', '--encoding', 'windows-1252', '--no-header'];
  expect(await runHere(sandbox, ['init', ...args])).toMatchObject({code: 0});
  expect(sandbox.read('kunden.yaml')).toMatch(/^output: lists\/kunden-\{date\}\.enriched\.csv /m);
  expect(await runHere(sandbox, ['run', '--job', 'kunden.yaml'])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('9 rows written'),
  });
});

it('init sees a list of national numbers without a header, and asks for their country', async () => {
  using sandbox = createSandbox();
  sandbox.write('tel.txt', Array.from({length: 9}, (_, n) => `020 7946 000${n}\n`).join(''));
  expect(await runHere(sandbox, ['init', 'tel.txt'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /has no header[\s\S]*"column_1", phone numbers in national form \(100% of its values\): add it as phone, with a default_country/,
    ),
  });
  sandbox.write('both.csv', Array.from({length: 9}, (_, n) => `020 7946 000${n},0171 392400${n}\n`).join(''));
  expect((await runHere(sandbox, ['init', 'both.csv'])).stderr).toMatch(/"column_1".*[\s\S]*"column_2"/);
});

it('init leaves out numbers between two countries, and takes those with a country column of their own', async () => {
  using sandbox = createSandbox();
  const row = (n: number) => `01 534010${n},AT,030 2312500${n},DE,0171 392400${n}`;
  const rows = Array.from({length: 6}, (_, n) => row(n));
  sandbox.write(
    'list.csv',
    ['Home Phone,Home Country,Work Phone,Work Country,Mobile Phone', ...rows].join('\n'),
  );
  const {code, stderr} = await runHere(sandbox, ['init', 'list.csv']);
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining('Left out: "Mobile Phone", phone numbers that may be'),
  ]);
  expect(sandbox.read('list.yaml')).toMatch(
    /^# countries.*\ncountry:\n {2}- Home Country\n {2}- Work Country$/m,
  );
  expect(await runHere(sandbox, ['plan', '--job', 'list.yaml'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('countries of the phone numbers in "Work Phone"'),
  });
});

it('init sees that there is no header, and writes a job that runs', async () => {
  using sandbox = createSandbox();
  sandbox.write(
    'list.csv',
    Array.from({length: 6}, (_, n) => `${n},u${n}@example.com,192.0.2.${n}\n`).join(''),
  );
  const init = await runHere(sandbox, ['init', 'list.csv']);
  expect(init).toMatchObject({code: 0, stderr: expect.stringContaining('no header')});
  expect(sandbox.read('list.yaml')).toMatch(/^header: false [\s\S]*^ip: column_3 .*\nemail: column_2 /m);
  const plan = await runHere(sandbox, ['plan', '--job', 'list.yaml']);
  expect(plan).toMatchObject({code: 0, stdout: expect.stringContaining('6 rows')});
});

it.each([
  [
    'a list that can not be read',
    Buffer.from(`name,email\n${'\xb3\xaf\xb0\xee\xc0\xcc,a@example.com\n'.repeat(6)}`, 'latin1'),
    8,
    'It may be euc-kr or ',
  ],
  ['an unknown country', 'phone,country\n030 23125 001,Germany\n030 23125 002,Germanny\n', 0, 'Germanny'],
])('init says of %s what plan says', async (_, text, code, says) => {
  using sandbox = createSandbox();
  sandbox.write('list.csv', text);
  expect(await runHere(sandbox, ['init', 'list.csv'])).toMatchObject({
    code,
    stderr: expect.stringContaining(says),
  });
});

it('init leaves an existing file alone, and says what to do', async () => {
  using sandbox = createSandbox();
  sandbox.write('list.csv', LIST);
  sandbox.write('list.yaml', 'mine');
  const refused = await runHere(sandbox, ['init', 'list.csv']);
  expect(refused).toMatchObject({code: 2, stderr: expect.stringContaining('--force')});
  expect(sandbox.read('list.yaml')).toBe('mine');
  expect((await runHere(sandbox, ['init', 'list.csv', '--force'])).code).toBe(0);
});

it('init writes a job for the live service where one is configured', async () => {
  using sandbox = createSandbox();
  sandbox.write('list.csv', LIST);
  const env = {BULK_ENRICH_BASE_URL: 'https://jo:secret@api.example.com', BULK_ENRICH_API_KEY: 'init-key'};
  expect((await runHere(sandbox, ['init', 'list.csv'], {env})).code).toBe(0);
  expect(sandbox.read('list.yaml')).toMatch(/^endpoint: live /m);
  expect(sandbox.read('list.yaml')).not.toMatch(/init-key|secret/);
});

it('init says how to limit all runs of a day, in a file that holds as it is written there', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  sandbox.write('list.csv', LIST);
  await runHere(sandbox, ['init', 'list.csv'], service);
  const text = sandbox.read('list.yaml');
  const [, path = ''] = /^# To limit all runs.* write these two lines to (.*)$/m.exec(text) ?? [];
  expect(path).toBe(join(sandbox.home, 'config/bulk-enrich/accounts/main.yaml'));
  const [, lines = ''] = /^# To limit all runs.*\n((?:# {3}.*\n){2})/m.exec(text) ?? [];
  mkdirSync(dirname(path), {recursive: true});
  writeFileSync(path, lines.replaceAll('#   ', '').replace('5000', '1'));
  expect(await runHere(sandbox, ['run', '--job', 'list.yaml'], service)).toMatchObject({
    code: 7,
    stderr: expect.stringContaining(`max_credits_per_day in ${path}`),
  });
  expect(service.ledger.credits).toBe(1);
});

it('init says what is missing in a list without anything to look up', async () => {
  using sandbox = createSandbox();
  sandbox.write('list.csv', 'id,note\n1,a\n2,b\n');
  expect(await runHere(sandbox, ['init', 'list.csv'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('columns: id, note'),
  });
});

it('init writes as comments what may be a column to look up, and takes the first of several addresses', async () => {
  using sandbox = createSandbox();
  const rows = Array.from({length: 6}, (_, n) => `"192.0.2.${n}, 198.51.100.7",${n},020 7946 000${n}\n`);
  sandbox.write('list.csv', `x_forwarded_for,email=,tel\n${rows.join('')}`);
  expect((await runHere(sandbox, ['init', 'list.csv'])).code).toBe(0);
  const job = sandbox.read('list.yaml');
  expect(parse(job)).toMatchObject({ip: 'x_forwarded_for', ip_from_list: 'first'});
  expect(job).toMatch(
    /^# phone: tel +# left out: phone numbers in national form \(100% of its values\): add it as phone, with a default_country$/m,
  );
  expect(parse(job.replace('# phone:', 'phone:').replace('# email:', 'email:'))).toMatchObject({
    phone: 'tel',
    email: {column: 'email='},
  });
});

it('a column whose name has an equals sign is written by its whole name', async () => {
  using sandbox = createSandbox();
  sandbox.write('list.csv', `id,ip=last\n${'1,192.0.2.1\n'.repeat(6)}`);
  expect((await runHere(sandbox, ['init', 'list.csv', '--encoding', 'utf-8'])).code).toBe(0);
  const job = sandbox.read('list.yaml');
  expect(parse(job)).toMatchObject({ip: {column: 'ip=last'}, encoding: 'utf-8'});
  expect((await runHere(sandbox, ['run', '--job', 'list.yaml'])).code).toBe(0);
});

it('a cap has room above what the list costs, in two digits', async () => {
  using sandbox = createSandbox();
  sandbox.write(
    'list.csv',
    `id,ip\n${Array.from({length: 1_234}, (_, n) => `${n},11.0.${n >> 8}.${n & 255}\n`).join('')}`,
  );
  await runHere(sandbox, ['init', 'list.csv']);
  expect(sandbox.read('list.yaml')).toMatch(
    /^max_credits: 1900 +# maximum for one run; this list costs 1234$/m,
  );
});
