import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import {expect, test} from 'vitest';
import {ips, openStage, type Stage} from '../support/stage.ts';

const settings = {ip: 'ip'};
const isRoot = process.geteuid?.() === 0;
const RULES = 'rules:\n  - {when: ip.is_vpn, add: 70, reason: vpn}\n';

/** Stops the run at its fifth call. */
async function cutOff(stage: Stage, raw: Record<string, unknown>): Promise<void> {
  expect((await stage.stopAt(5, {...settings, concurrency: 2, ...raw})).code).toBe(130);
}

test('outputs that differ by their extension keep summaries and rejects apart', async () => {
  await using stage = await openStage({list: `${ips(3)}1.2.3.4,one too many\n`});
  for (const output of ['out.csv', 'out.ndjson', 'out.csv', 'out.ndjson'])
    expect((await stage.run({...settings, output, force: true})).code).toBe(3);
  expect(readdirSync(stage.directory).sort()).toEqual([
    'list.csv',
    ...['out.csv', 'out.ndjson', 'out.ndjson.rejects.ndjson', 'out.ndjson.summary.json'],
    ...['out.rejects.ndjson', 'out.summary.json'],
  ]);
  const outputOf = (name: string) => JSON.parse(stage.read(name)).output.path;
  expect(outputOf('out.summary.json')).toBe(stage.path('out.csv'));
  expect(outputOf('out.ndjson.summary.json')).toBe(stage.path('out.ndjson'));
});

test('two outputs may share a summary that the user names', async () => {
  await using stage = await openStage({list: ips(3)});
  for (const output of ['out.csv', 'other.csv'])
    expect(await stage.run({...settings, output, summary: stage.path('run.json')})).toMatchObject({code: 0});
  expect(JSON.parse(stage.read('run.json')).output.path).toBe(stage.path('other.csv'));
});

test('a pattern does not match the job’s own output of the night before', async () => {
  await using stage = await openStage();
  mkdirSync(stage.path('d'));
  stage.write('d/a.csv', ips(3));
  for (const date of ['2026-01-01', '2026-01-02']) {
    const ended = await stage.run({...settings, input: 'd/*.csv', output: 'd/all-{date}.csv', date});
    expect(ended).toMatchObject({code: 0, summary: {rows: {written: 3}}});
  }
  const only = await stage.run({...settings, input: 'd/all-*.csv', output: 'd/all-{date}.csv', force: true});
  expect(only).toMatchObject({code: 2, errorCode: 'own_files'});
});

test('one output, two runs: with states of their own the second is refused, and nothing is left behind', async () => {
  await using stage = await openStage({list: ips(20)});
  symlinkSync('out.csv', stage.path('alias.csv'));
  let second: ReturnType<Stage['run']> | undefined;
  stage.api.setScript(call => {
    if (call.call === 5)
      second ??= stage.run({...settings, output: 'alias.csv', state: stage.path('b'), force: true});
    return undefined;
  });
  const first = await stage.run({...settings, concurrency: 2, state: stage.path('a')});
  expect(first).toMatchObject({code: 0, summary: {rows: {written: 20}}});
  expect(await second).toMatchObject({code: 11, message: expect.stringContaining(`process ${process.pid}`)});
  const files = ['alias.csv', 'list.csv', 'out.csv', 'out.summary.json'];
  expect(readdirSync(stage.directory).sort()).toEqual(files);
});

test('an output that is a link is written through it, with the mode of the own file that it replaces', async () => {
  await using stage = await openStage({list: ips(3)});
  mkdirSync(stage.path('data'));
  stage.write('data/real.csv', 'old');
  chmodSync(stage.path('data/real.csv'), 0o640);
  symlinkSync('data/real.csv', stage.path('out.csv'));
  symlinkSync('data/run.json', stage.path('out.summary.json'));
  expect((await stage.run({...settings, force: true})).code).toBe(0);
  expect(stage.read('data/real.csv').split('\n')).toHaveLength(5);
  const {mode, uid} = statSync(stage.path('data/real.csv'));
  expect([mode & 0o777, uid]).toEqual([0o640, process.geteuid?.()]);
  expect(JSON.parse(stage.read('data/run.json')).rows.written).toBe(3);
  expect(readdirSync(stage.path('data')).sort()).toEqual(['real.csv', 'run.json']);
});

test('links under the names of files on their way are not followed', async () => {
  await using stage = await openStage({list: ips(20)});
  stage.write('precious', 'mine');
  mkdirSync(stage.path('st'), {mode: 0o700});
  for (const name of ['holder.json', 'output.partial'])
    symlinkSync(stage.path('precious'), stage.path(`st/${name}`));
  expect((await stage.run({...settings, state: stage.path('st')})).code).toBe(0);
  expect(stage.read('precious')).toBe('mine');
});

const open = (path: string) => chmodSync(path, 0o2775);
const giveAway = (path: string) => chownSync(path, 1234, 1234);
const link = (path: string) => {
  renameSync(path, `${path}.real`);
  symlinkSync(`${path}.real`, path);
};

test.each([
  ['can be written by others', open, 'can be written by other users (mode 2775)'],
  ...(isRoot ? [['is another user’s', giveAway, 'belongs to another user (uid 1234)'] as const] : []),
  ['is a link', link, 'is a symbolic link'],
] as const)('a state directory that %s is not trusted', async (_, harm, sentence) => {
  await using stage = await openStage({list: ips(3)});
  stage.write('keys', 'mine');
  mkdirSync(stage.path('st'), {mode: 0o700});
  harm(stage.path('st'));
  const ended = await stage.run({...settings, state: stage.path('st')});
  expect([ended.code, ended.message]).toEqual([9, expect.stringContaining(sentence)]);
  expect([stage.read('keys'), stage.api.ledger.requests]).toEqual(['mine', 0]);
});

test('a forged summary does not count as a complete run', async () => {
  await using stage = await openStage({list: ips(3)});
  expect((await stage.run(settings)).code).toBe(0);
  const {settings_sha256} = JSON.parse(stage.read('out.summary.json')) as {settings_sha256: string};
  for (const forged of [{}, {output: null}, {input: {}, output: {bytes: 1}, rejects: []}]) {
    const summary = {schema_version: 2, settings_sha256, status: 'completed', ...forged};
    stage.write('out.summary.json', JSON.stringify(summary));
    expect(await stage.run(settings)).toMatchObject({code: 2, errorCode: 'output_exists'});
  }
});

test('a volume whose group was given write permission between two sessions is closed again', async () => {
  await using stage = await openStage({list: ips(20)});
  await cutOff(stage, {});
  chmodSync(stage.path('out.csv.run'), 0o2770);
  expect(await stage.run(settings)).toMatchObject({code: 0, summary: {resumed: {times: 1}}});
});

test('the same command after its end: the exit code that it had, and nothing to do', async () => {
  await using stage = await openStage();
  const list = `${ips(3)}1.2.3.4,one too many\n`;
  stage.write('list.csv', list);
  const run = (raw = {}) => stage.run({...settings, report: stage.path('r.md'), ...raw});
  expect((await run()).code).toBe(3);
  rmSync(stage.path('r.md'));
  const {requests} = stage.api.ledger;
  const message = expect.stringContaining('To run it again: --force');
  // Rows that can't be read are no values to retry.
  expect(await run()).toMatchObject({code: 3, found: 'complete', message});
  // Killed before its report was written: that is made up for.
  expect(existsSync(stage.path('r.md'))).toBe(true);
  const others: [string, () => void, Record<string, unknown>][] = [
    ['settings', () => {}, {where: 'true'}],
    ['input', () => stage.write('list.csv', ips(4)), {}],
    ['rejects', () => stage.write('list.csv', list), {}],
  ];
  for (const [what, change, raw] of others) {
    change();
    if (what === 'rejects') stage.write('out.rejects.ndjson', '');
    const refused = await run(raw);
    expect([what, refused.code, refused.errorCode]).toEqual([what, 2, 'output_exists']);
  }
  expect(stage.api.ledger.requests).toBe(requests);
  expect((await run({force: true})).code).toBe(3);
  stage.write('out.csv', 'edited');
  expect(await run()).toMatchObject({code: 2});
  rmSync(stage.path('out.csv'));
  expect(await run()).toMatchObject({code: 3, found: undefined});
  expect(existsSync(stage.path('out.csv'))).toBe(true);
  const pipe = () => stage.run({...settings, input: '-', output: 'piped.csv'}, {stdin: ips(3)});
  expect(await pipe()).toMatchObject({code: 0});
  expect(await pipe()).toMatchObject({code: 0, found: 'complete'});
});

test('a complete output is not this command’s once the service, the action or the content of a rules file is another', async () => {
  await using stage = await openStage({list: 'ip,token\n192.0.2.1,t1\n'});
  stage.write('rules.yaml', RULES);
  const raw = {...settings, verdict: {token: 'token'}, score: stage.path('rules.yaml')};
  const run = (env = {}) => stage.run(raw, {env: {BULK_ENRICH_ACTION_ID: 'signup', ...env}});
  expect(await run()).toMatchObject({code: 0, found: undefined});
  expect(await run()).toMatchObject({code: 0, found: 'complete'});
  const exists = {code: 2, errorCode: 'output_exists'};
  expect(await run({BULK_ENRICH_BASE_URL: 'http://127.0.0.1:9'})).toMatchObject(exists);
  expect(await run({BULK_ENRICH_ACTION_ID: 'login'})).toMatchObject(exists);
  stage.write('rules.yaml', RULES.replace('70', '80'));
  expect(await run()).toMatchObject(exists);
});

test('a killed attempt to run a complete list again is kept with its answers until it resumes', async () => {
  await using stage = await openStage({list: ips(20)});
  const unstored = {...settings, store: false};
  expect((await stage.run(unstored)).code).toBe(0);
  const summary = stage.read('out.summary.json');
  await cutOff(stage, {...unstored, force: true});
  // A kill leaves the summary that was there.
  stage.write('out.summary.json', summary);
  const {requests} = stage.api.ledger;
  const plain = await stage.run(unstored);
  expect(plain).toMatchObject({code: 0, found: 'complete'});
  expect(plain.message).toMatch(/interrupted.*resume.*--force\.$/);
  const ended = await stage.run({...unstored, force: true});
  expect(ended).toMatchObject({code: 0, summary: {credits: {spent: 20}}});
  expect(stage.api.ledger.requests).toBe(40);
  expect(requests).toBeLessThan(30);
  expect((await stage.run(unstored)).message).not.toContain('cut off');
});

test('a run with another state leaves the files of an unfinished one alone', async () => {
  await using stage = await openStage({list: ips(6)});
  const slow = {...settings, store: false, concurrency: 1};
  expect((await stage.run({...slow, maxCredits: 3})).code).toBe(7);
  const apart = {...slow, state: stage.path('st')};
  expect((await stage.run({...apart, maxCredits: 4})).code).toBe(7);
  const resumed = {credits: {spent: 6}, resumed: {times: 1}};
  expect(await stage.run(slow)).toMatchObject({code: 0, summary: resumed});
  expect(stage.read('out.csv').split('\n')).toHaveLength(8);
  expect(await stage.run({...apart, force: true})).toMatchObject({code: 0, summary: {credits: {spent: 6}}});
  expect(readdirSync(stage.directory).sort()).toEqual(['list.csv', 'out.csv', 'out.summary.json', 'st']);
});

test('a directory of report or metrics that is gone is told, and costs no night; that of the summary is an error', async () => {
  await using stage = await openStage({list: ips(3)});
  const gone = {report: stage.path('gone/r.html'), metrics: stage.path('gone/m.prom')};
  const ended = await stage.run({...settings, ...gone});
  expect([ended.code, stage.api.ledger.calls, ended.summary?.rows.written]).toEqual([0, 3, 3]);
  for (const path of Object.values(gone)) expect(ended.warnings.join('\n')).toContain(path);
  const refused = await stage.run({...settings, summary: stage.path('gone/s.json'), force: true});
  expect(refused).toMatchObject({code: 2, errorCode: 'no_directory'});
});
