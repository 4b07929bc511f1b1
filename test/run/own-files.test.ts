import {lchownSync, mkdirSync, rmSync, symlinkSync} from 'node:fs';
import {expect, test} from 'vitest';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {whileAnothers} from '../support/other-user.ts';
import {ips, openStage, type Stage} from '../support/stage.ts';

const settings = {ip: 'ip'};
const BESIDE = {summary: 'run.json', rejects: 'run.ndjson', report: 'run.html', metrics: 'run.prom'} as const;
const beside = Object.keys(BESIDE) as (keyof typeof BESIDE)[];

const openListed = () => openStage({list: `${ips(3)}1.2.3.4,one too many\n`});

async function refused(stage: Stage, raw: Record<string, unknown>, errorCode: string): Promise<void> {
  const ended = await stage.run({...settings, ...raw});
  expect([ended.errorCode, ended.code, ended.message]).toEqual([errorCode, 2, expect.any(String)]);
  expect(stage.api.ledger.requests).toBe(0);
}

test.each(['run.html', 'run.md'])(
  'what a run wrote is replaced by the next, and so is an empty file: %s',
  async report => {
    await using stage = await openListed();
    const paths = Object.fromEntries(beside.map(name => [name, stage.path(BESIDE[name])]));
    for (const name of beside) stage.write(BESIDE[name], '');
    stage.write(report, '');
    const raw = {...settings, ...paths, report: stage.path(report), force: true};
    for (const nth of [1, 2]) {
      const ended = await stage.run(raw);
      expect([nth, ended.code, ended.warnings]).toEqual([nth, 3, []]);
    }
    // Another kind's file is not the run's to replace.
    await using other = await openListed();
    for (const [name, taken] of [
      ['metrics', report],
      ['summary', BESIDE.metrics],
      ['rejects', BESIDE.summary],
    ] as const)
      await refused(other, {[name]: stage.path(taken)}, 'file_exists');
  },
);

test('a file that came while the run was under way is left, and a warning says so', async () => {
  await using stage = await openListed();
  const raw = {...settings, report: stage.path('r.html'), metrics: stage.path('m.prom')};
  const watch = () => {
    for (const name of ['r.html', 'm.prom']) {
      rmSync(stage.path(name), {force: true});
      stage.write(name, 'mine');
    }
  };
  const ended = await stage.run(raw, {watch});
  const lost = ['r.html', 'm.prom'].map(name => expect.stringContaining(name));
  const warnings = ended.warnings.filter(warning => warning.includes('would be lost'));
  expect([ended.code, warnings]).toEqual([3, lost]);
  expect([stage.read('r.html'), stage.read('m.prom')]).toEqual(['mine', 'mine']);
});

test('an output replaces no file that the run reads: rules, their lists, account files, the key', async () => {
  await using stage = await openListed();
  stage.write('own.csv', 'DE\n');
  const rule = 'rules: [{when: ip.country_code in list.own, add: 1, reason: own}]\n';
  stage.write('rules.csv', `lists: {own: {file: ${stage.path('own.csv')}}}\n${rule}`);
  stage.write('key.csv', 'secret\n');
  const env = {XDG_CONFIG_HOME: stage.path('conf'), BULK_ENRICH_API_KEY_FILE: stage.path('key.csv')};
  mkdirSync(stage.path('conf/bulk-enrich/accounts'), {recursive: true});
  stage.write('conf/bulk-enrich/accounts/a.yaml', 'endpoint: embedded\naccount: a\n');
  for (const output of ['own.csv', 'rules.csv', 'key.csv', 'conf/bulk-enrich/accounts/a.yaml']) {
    const before = stage.read(output);
    const rules = {endpoint: 'embedded', score: stage.path('rules.csv'), outputFormat: 'csv'};
    const ended = await stage.run({...settings, ...rules, output, force: true}, {env});
    expect([output, ended.code, ended.errorCode]).toEqual([output, 2, 'same_file']);
    expect(stage.read(output)).toBe(before);
  }
  expect(stage.api.ledger.requests).toBe(0);
});

test.each([
  ['an empty file', '', 0],
  ['an output', 'ip,ip_status,ip_error\n192.0.2.1,ok,\n', 0],
  ['a nested output', '{"ip":"192.0.2.1","enrichment":{"ip":{"status":"ok","error":null}}}\n', 0],
  ['a list', 'ip\n192.0.2.1\n', 2],
  ['a list with a status', 'ip,ip_status\n192.0.2.1,ok\n', 2],
  ['bytes', '\0\xff\n', 2],
])('a job file’s force replaces only what a run made, the flag all: %s', async (_, text, code) => {
  const output = text.startsWith('{') ? 'out.ndjson' : 'out.csv';
  using sandbox = createSandbox({'list.csv': 'ip\n8.8.8.8\n', [output]: text});
  const job = `input: list.csv\nip: ip\noutput: ${output}\nendpoint: embedded\n`;
  sandbox.write('job.yaml', `${job}force: true\n`);
  const ended = await runHere(sandbox, ['run', '--job', 'job.yaml']);
  expect(ended.code, ended.stderr).toBe(code);
  if (code !== 0)
    expect([sandbox.read(output), ended.stderr]).toEqual([text, expect.stringMatching(/job.yaml:5: force/)]);
  sandbox.write(output, text);
  expect((await runHere(sandbox, ['run', '--job', 'job.yaml', '--force'])).code).toBe(0);
});

test.each([true, false])(
  'the next night replaces the output of the last, with a header: %s',
  async header => {
    using sandbox = createSandbox({'list.csv': '8.8.8.8\n'});
    const job = 'input: list.csv\noutput: out.csv\nendpoint: embedded\nforce: true\n';
    sandbox.write('job.yaml', header ? `${job}ip: ip\n` : `${job}header: false\nip: column_1\n`);
    for (const list of ['8.8.8.8\n', '8.8.8.8\n9.9.9.9\n', '1.1.1.1\n']) {
      sandbox.write('list.csv', header ? `ip\n${list}` : list);
      const ended = await runHere(sandbox, ['run', '--job', 'job.yaml']);
      expect(ended.code, ended.stderr).toBe(0);
    }
  },
);

test('a link of another user is not followed, nor a link that it leads to', async () => {
  await using stage = await openListed();
  mkdirSync(stage.path('theirs'));
  const link = stage.path('theirs/link');
  symlinkSync(stage.path('target'), link);
  symlinkSync(link, stage.path('run.json'));
  for (const summary of [link, stage.path('run.json')])
    await whileAnothers(link, () => refused(stage, {summary}, 'foreign_link'));
  // Neither in a directory of another user, who can replace each link there.
  if (process.geteuid?.() === 0) lchownSync(link, 0, 0);
  const summary = stage.path('run.json');
  await whileAnothers(stage.path('theirs'), () => refused(stage, {summary}, 'foreign_link'));
});

test.each([
  ['the output', 251, 0],
  ['the output', 252, 9],
  ['the summary', 255, 0],
  ['the summary', 256, 9],
])('%s has a name of %i bytes: exit %i, and nothing is paid for in vain', async (what, length, code) => {
  await using stage = await openStage({list: ips(3)});
  const name = `${'n'.repeat(length - 4)}.csv`;
  const beside = {summary: stage.path('s.json'), rejects: stage.path('r.ndjson')};
  const raw = what === 'the output' ? {output: name, ...beside} : {summary: stage.path(name)};
  const ended = await stage.run({...settings, ...raw});
  const said = expect.stringContaining(code === 0 ? 'written' : 'the name is too long');
  expect([ended.code, ended.message]).toEqual([code, said]);
  expect(stage.api.ledger.requests).toBe(code === 0 ? 3 : 0);
});
