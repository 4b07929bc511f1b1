import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {Sqlite} from '../../src/disk/sqlite.ts';
import {FAST, startService} from '../e2e/service.ts';
import {reply} from '../support/api-server-reply.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {opened} from '../support/opened.ts';

const service = opened(startService);
const sandbox = opened(createSandbox);
afterEach(() => expect(service.ledger.violations).toEqual([]));

const here = (...args: string[]) =>
  runHere(sandbox, args.length === 1 ? (args[0] ?? '') : args, {env: service.env});

describe('lookup', () => {
  test.each([
    ['ip', ' ::ffff:192.0.2.1', '192.0.2.1'],
    ['phone', '+1 (202) 555-0143', '+12025550143'],
    ['email', 'Jo@EXAMPLE.com', 'Jo@example.com'],
  ] as const)('%s %j asks about %s and prints the answer as JSON', async (operation, value, canonical) => {
    const {code, stdout, stderr} = await here('lookup', operation, value);
    expect({code, stderr}).toEqual({code: 0, stderr: ''});
    expect([...service.ledger.values[operation]]).toEqual([[canonical, 1]]);
    expect(Object.keys(JSON.parse(stdout) as object)).not.toContain('success');
  });

  test('a national phone number needs its country', async () => {
    const ask = (...more: string[]) => here('lookup', 'phone', '(202) 555-0143', ...more);
    expect(await ask()).toMatchObject({code: 2, errorCode: 'not_a_value'});
    expect((await ask('--default-country', 'US')).code).toBe(0);
    expect(service.ledger.calls).toBe(1);
  });

  test.each([
    ['the key is not accepted', reply.unauthorized(), 6],
    ['the credits are used up', reply.noCredits(), 7],
    ['the service redirects', reply.redirect('http://127.0.0.1:9/'), 2],
    ['the service is down', reply.error(500, 'down'), 3],
  ])('%s: a sentence, no answer', async (_, answer, code) => {
    service.setScript(() => answer);
    const stderr = expect.stringMatching(/^Error: ip: [^\n]*\.\n$/);
    expect(await here('lookup', 'ip', '192.0.2.1')).toMatchObject({code, stdout: '', stderr});
  });
});

test('verify sends the token with the values beside it, and the action from the environment; it prints the verdict', async () => {
  const env = {...service.env, BULK_ENRICH_ACTION_ID: 'a/1'};
  const beside = '--id u1 --email jo@example.com --phone +12025550143';
  const {code, stdout} = await runHere(sandbox, `verify --token tok-1 ${beside}`, {env});
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({user_id: 'u1', verdict: {redeemed: false}});
  expect(service.ledger.byOperation.verify).toBe(1);
});

describe('store', () => {
  beforeEach(async () => {
    sandbox.write('list.csv', 'ip,email\n192.0.2.1,Jo@example.com\n192.0.2.2,\n');
    expect((await here('run', 'list.csv', ...FAST)).code).toBe(0);
  });

  test('stats: how many answers of which age', async () => {
    const {code, stdout} = await here('store', 'stats');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ip +2 +\d{4}-\d\d-\d\d +\d{4}-\d\d-\d\d$/m);
    expect(stdout).toMatch(/^email +1 /m);
  });

  test('purge: nothing of the value is left, and it is looked up again', async () => {
    expect((await here('store', 'purge', 'Jo@EXAMPLE.com')).stdout).toMatch(
      /^1 answer removed, and overwritten in the file\.\nUnfinished runs .* OUT\.run.*\n.*history of runs.*\n$/,
    );
    expect((await here('store', 'purge', 'Jo@example.com')).stdout).toMatch(
      /^The store has nothing about that value\.\nUnfinished runs /,
    );
    expect((await here('run', 'list.csv', '--force', ...FAST)).code).toBe(0);
    expect(service.ledger.repeated()).toEqual([['email', 'Jo@example.com', 2]]);
  });

  test('prune: answers of each operation go by its own age, and rejections by theirs', async () => {
    expect((await here('store', 'prune')).stdout).toBe('0 answers removed.\n');
    expect(await here('store', 'prune', '--max-age', 'old')).toMatchObject({code: 2});
    service.setScript(call => (call.value === '192.0.2.9' ? reply.error(422, 'odd_value') : undefined));
    sandbox.write('list.csv', 'ip\n192.0.2.9\n192.0.2.10\n');
    expect((await here('run', 'list.csv', '--force', ...FAST)).code).toBe(3);
    const path = join(sandbox.home, 'cache/bulk-enrich/answers.db');
    const db = new Sqlite(path, {synchronous: 'OFF', busyTimeoutMs: 0});
    db.exec('UPDATE answer SET bought_at = bought_at - 10 * 86400000');
    db.close();
    const pruned = await here('store', 'prune', '--max-age', 'ip=30d,email=5d');
    expect(pruned.stdout).toBe('2 answers removed.\n');
    const {stdout} = await here('store', 'stats', '--json');
    expect(JSON.parse(stdout).answers).toMatchObject([{operation: 'ip', answers: 3}]);
  });

  test('purge: a phone number in national form is found by its country', async () => {
    sandbox.write('phones.csv', 'phone\n+61412345678\n');
    expect((await here('run', 'phones.csv', ...FAST)).code).toBe(0);
    const purge = (...more: string[]) => here('store', 'purge', '0412 345 678', ...more);
    expect(await purge()).toMatchObject({code: 2, errorCode: 'not_a_value'});
    expect((await purge('--default-country', 'AU')).stdout).toMatch(/^1 answer removed/);
  });

  test('a missing store is named as such; purge names the places that it does not search, also without a store', async () => {
    const {code, stdout} = await here('store stats --store none');
    expect({code, stdout}).toEqual({code: 0, stdout: 'none: no answers are kept there.\n'});
    expect(sandbox.files()).not.toContain('none');
    const purged = await here('store purge 192.0.2.1 --store none');
    expect(purged.stdout).toMatch(/^none: no answers are kept there\.\n.*OUT\.run.*\n.*history of runs/);
  });
});

describe('help', () => {
  test('bulk-enrich alone looks at the directory: a list, an unfinished run, no service', async () => {
    sandbox.write('a list.enriched.csv', 'x');
    sandbox.write('b list.csv', 'x');
    sandbox.write('c.csv.run/ledger.db', '');
    expect((await here()).stdout).toContain('The service in BULK_ENRICH_BASE_URL answers');
    const {stdout} = await runHere(sandbox, []);
    expect(stdout).toMatch(/^ {2}bulk-enrich run 'b list\.csv' {3,}/m);
    expect(stdout).toMatch(/^No service is configured, so the embedded one answers/m);
    expect(stdout).toMatch(/^c\.csv\.run belongs to an unfinished run/m);
  });

  test.each(['--help', 'run --help', 'help run', 'serve --help', 'help help', 'help --help'])(
    '%s goes to stdout',
    async args => {
      const {code, stdout, stderr} = await here(...args.split(' '));
      expect({code, stderr}).toEqual({code: 0, stderr: ''});
      expect(stdout).toMatch(/^Usage: bulk-enrich/);
    },
  );

  test('each flag has one line, with its value and its default', async () => {
    const {stdout} = await here('run', '--help-all');
    const flags = stdout.split('\n').filter(line => line.startsWith('  -'));
    expect(flags.length).toBeGreaterThan(50);
    for (const line of flags) expect(line).toMatch(/^ {2}-[\w-]+(, --\w+)?( <[^>]+>| \[\w+\])? {2,}\S.*$/);
    expect(flags.find(line => line.includes('--timeout'))).toMatch(/--timeout <TIME> .*\(default: 30s\)$/);
    // A line that continues another one would begin with blanks only.
    expect(stdout.split('\n').filter(line => line.startsWith('      '))).toEqual([]);
  });

  const commands =
    'run|plan|lookup|verify|serve|worker|fleet status|doctor|init|runs|spend|diff|explain|rules test|score|rejects|store stats|store prune|store purge|completion'.split(
      '|',
    );
  test.each(commands)('%s --help has examples, whose flags are its own', async words => {
    const {stdout} = await here(...words.split(' '), '--help-all');
    const [flags = '', examples = ''] = stdout.split('\nExamples:\n');
    const lines = examples.trimEnd().split('\n');
    for (const line of lines) {
      expect(line).toContain(`bulk-enrich ${words}`);
      for (const [flag] of line.matchAll(/(?<= )--?[a-z][\w-]*/g))
        expect(flags).toMatch(new RegExp(`${flag}\\b`));
    }
  });

  // sentences.txt has the groups.
  test('each command has a line of an 80-column terminal', async () => {
    const {columns} = process.stdout;
    process.stdout.columns = 80;
    const {stdout} = await here('--help');
    process.stdout.columns = columns;
    const lines = stdout
      .slice(stdout.indexOf('Every day:'))
      .split('\n')
      .filter(line => line.startsWith(' '));
    for (const line of lines) expect(line).toMatch(/^ {2}[a-z].{1,77}$/);
    const names = lines.map(line => line.trim().split(' ')[0]);
    expect(new Set(names)).toEqual(new Set([...commands, 'help'].map(words => words.split(' ')[0])));
  });

  test('run --help has the common settings in their groups, and says where the others are', async () => {
    const [few, all] = [await here('run', '--help'), await here('run', '--help-all')];
    const flagsIn = (text: string) => [...text.matchAll(/^ {2}(-[\w-]+)/gm)].map(([, flag]) => flag);
    expect(flagsIn(few.stdout).length).toBeLessThan(30);
    expect(few.stdout).toMatch(/^ {2}--help-all /m);
    expect(few.stdout).toMatch(/\nColumns:\n {2}--ip /);
    expect(flagsIn(all.stdout)).toEqual(expect.arrayContaining(flagsIn(few.stdout)));
  });

  test('--version is the package’s', async () => {
    expect((await here('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

test('plan makes no calls, so it needs neither a service nor a key', async () => {
  sandbox.write('list.csv', 'ip\n192.0.2.1\n');
  const without = await runHere(sandbox, ['plan', 'list.csv']);
  expect(without).toMatchObject({code: 0, stderr: expect.stringContaining('No service is configured')});
  expect(without.stdout).toMatch(/^A run makes 1 call, .*Nothing was sent\.$/m);
  const keyless = await runHere(sandbox, ['plan', 'list.csv'], {env: {BULK_ENRICH_BASE_URL: service.url}});
  expect(keyless).toMatchObject({code: 0, stderr: ''});
});

test('plan of a job that asks a live service says that its URL is missing, as the run would', async () => {
  sandbox.write('list.csv', 'ip\n192.0.2.1\n');
  sandbox.write('job.yaml', 'input: list.csv\noutput: out.csv\nendpoint: live\nip: ip\n');
  for (const line of ['plan --job job.yaml', 'plan list.csv --endpoint live']) {
    const {code, errorCode, stderr} = await runHere(sandbox, line);
    expect([code, errorCode]).toEqual([2, 'no_endpoint']);
    expect(stderr).toContain('BULK_ENRICH_BASE_URL is not set');
  }
});

test('quiet leaves the sentence about an exceeded limit, also when the complete run is started again', async () => {
  sandbox.write('judged.csv', 'ip\n192.0.2.1\n');
  for (const _ of ['writes it', 'finds it complete'])
    expect(await here(`run judged.csv --quiet --fail-if rows.written>0 ${FAST.join(' ')}`)).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/^.*A limit is exceeded \(--fail-if\): rows\.written>0\.[^\n]*\n$/),
    });
});

test.each([
  ['csv', 'ip,n\n203.0.113.1,1\n203.0.113.2,2\n203.0.1'],
  ['csv, within quotes', 'ip,n\n203.0.113.1,1\n203.0.113.2,2\n203.0.113.3,"3'],
  ['ndjson', '{"ip":"203.0.113.1"}\n{"ip":"203.0.113.2"}\n{"ip":"203.'],
  ['json', '[{"ip":"203.0.113.1"},\n{"ip":"203.0.113.2"},\n{"ip":"203.'],
])(
  'quiet leaves the sentence about a list that is cut off (%s), also of a run that is resumed or complete',
  async (_, list) => {
    const name = `cut${list.length}.txt`;
    sandbox.write(name, list);
    const flags = `--quiet --ip ip --no-store ${FAST.join(' ')}`;
    const run = (credits: number) => here(`run ${name} -o ${name}.csv ${flags} --max-credits ${credits}`);
    expect(await run(1)).toMatchObject({code: 7});
    const stderr = expect.stringContaining('The list ends in the middle of a row');
    for (const _ of ['resumes it', 'finds it complete'])
      expect(await run(9)).toMatchObject({code: 3, stderr});
  },
);

test('quiet leaves all that changes what is paid, kept or missing: warnings are heard', async () => {
  sandbox.write('list.csv', 'ip\n192.0.2.1\n');
  const file = sandbox.write('file', '');
  const args = ['list.csv', '--quiet', ...FAST];
  const without = {env: {...service.env, XDG_CACHE_HOME: file, XDG_STATE_HOME: file}};
  const {stderr} = await runHere(sandbox, ['run', ...args], without);
  expect(stderr).toMatch(/^Warning: This run continues without the answer store/m);
  expect(stderr.split('\n').filter(line => !line.startsWith('Warning: '))).toEqual(['']);
  const asJson = await runHere(sandbox, ['run', ...args, '--force', '--log', 'json'], without);
  expect(asJson.stderr).toMatch(/"event":"warning".*This run continues without the answer store/);
});

test('quiet leaves nothing of a run without a warning, and its errors', async () => {
  sandbox.write('list.csv', 'ip\n192.0.2.1\n');
  expect(await here('run', 'list.csv', '--quiet', ...FAST)).toMatchObject({code: 0, stdout: '', stderr: ''});
  expect(await here('run', 'list.csv', '--quiet', ...FAST)).toMatchObject({code: 0, stderr: ''});
  const {stderr} = await here('run', 'list.csv', '--quiet', '--no-store', ...FAST);
  expect(stderr).toMatch(/^Error: list\.enriched\.csv exists/);
});

test('a flag that takes a list may be given several times: its values add up', async () => {
  sandbox.write('list.csv', 'ip,email\n192.0.2.1,jo@example.com\n');
  const lists = '--fields ip.country --fields email.domain';
  const limits = '--publish-on budget --publish-on deadline --max-credits 1';
  const {code} = await here(`run list.csv --ip ip --email email ${lists} ${limits} --yes`);
  expect(code).toBe(3);
  const [header = ''] = sandbox.read('list.enriched.csv').split('\n');
  expect(header).toMatch(/ip_country.*email_domain/);
  expect(service.ledger.calls).toBe(1);
});
