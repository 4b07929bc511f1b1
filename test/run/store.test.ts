import {mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {Sqlite} from '../../src/ledger/sqlite.ts';
import {startService} from '../e2e/service.ts';
import {reply} from '../support/api-server-reply.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {ips, openStage, type Stage} from '../support/stage.ts';

const settings = {ip: 'ip', force: true, concurrency: 8};

function storeOf(stage: Stage): string {
  return join(stage.env.XDG_CACHE_HOME ?? '', 'bulk-enrich');
}

test("tomorrow's list pays only for what is new; the summary says what was saved", async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(50));
  await stage.run(settings);
  stage.write('list.csv', ips(60));
  const ended = await stage.run(settings);
  expect(ended).toMatchObject({
    code: 0,
    summary: {lookups: {ip: {from_cache: 50, calls: 10}}, credits: {spent: 10, saved: {cache: 50}}},
  });
  expect(stage.api.ledger.repeated()).toEqual([]);
});

test('what is older than --max-age is asked again', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(10));
  await stage.run(settings);
  const tomorrow = () => Date.now() + 25 * 3_600_000;
  expect(await stage.run({...settings, maxAge: '2d'}, {now: tomorrow})).toMatchObject({
    summary: {calls: {total: 0}},
  });
  expect(await stage.run({...settings, maxAge: '1d'}, {now: tomorrow})).toMatchObject({
    summary: {calls: {total: 10}},
  });
});

test('an operation that --max-age does not name keeps its own age: its answers are not good for ever', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(10));
  await stage.run(settings);
  const tomorrow = () => Date.now() + 25 * 3_600_000;
  expect(await stage.run({...settings, maxAge: 'phone=7d'}, {now: tomorrow})).toMatchObject({
    summary: {calls: {total: 10}},
  });
});

test('--force pays only for what failed before', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(30));
  stage.api.setScript(call => (call.call % 10 === 0 ? reply.error(422, 'odd_value') : undefined));
  expect(await stage.run(settings)).toMatchObject({code: 3, summary: {lookups: {ip: {failed: 3}}}});
  stage.api.setScript(undefined);
  expect(await stage.run(settings)).toMatchObject({
    code: 0,
    summary: {lookups: {ip: {failed: 0, from_cache: 27, calls: 3}}, credits: {spent: 3}},
  });
});

test("one account's or host's answers are not another's", async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(5));
  await stage.run(settings);
  expect(await stage.run({...settings, account: 'other'})).toMatchObject({summary: {calls: {total: 5}}});
  await using other = await openStage();
  other.write('list.csv', ips(5));
  const ended = await other.run(settings, {env: {XDG_CACHE_HOME: stage.env.XDG_CACHE_HOME ?? ''}});
  expect(ended).toMatchObject({summary: {calls: {total: 5}}});
  expect(await stage.run({...settings, endpoint: 'embedded'})).toMatchObject({summary: {calls: {total: 5}}});
  for (const name of readdirSync(storeOf(stage)))
    expect(readFileSync(join(storeOf(stage), name), 'latin1')).not.toContain(stage.env.BULK_ENRICH_API_KEY);
});

const runs = async (stage: Stage, env: Record<string, string> = {}) => {
  stage.write('list.csv', ips(20));
  const ended = await stage.run(settings, {env});
  expect(ended).toMatchObject({code: 0, summary: {lookups: {ip: {answered: 20}}, credits: {spent: 20}}});
  expect(ended.warnings.join()).toContain('answer store');
  expect(ended.warnings.join()).toContain("can't be used");
  return ended;
};

test('a damaged store is a warning that says what to do, and lookups that cost', async () => {
  await using stage = await openStage();
  mkdirSync(storeOf(stage), {recursive: true});
  writeFileSync(
    join(storeOf(stage), 'answers.db'),
    'this is not a database, and long enough to be read as one'.repeat(50),
  );
  expect((await runs(stage)).warnings.join()).toContain('remove the file');
});

test('a store that another program keeps locked is a warning', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(1, 500));
  await stage.run(settings);
  const holder = new Sqlite(join(storeOf(stage), 'answers.db'), {synchronous: 'NORMAL', busyTimeoutMs: 0});
  holder.exec('BEGIN IMMEDIATE');
  await runs(stage);
  holder.exec('ROLLBACK');
  holder.close();
}, 60_000);

test('a store that can not be made, as a file is where its directory should be, is a warning', async () => {
  await using stage = await openStage();
  await runs(stage, {XDG_CACHE_HOME: '/dev/null/cache'});
});

test('a home directory that does not exist is a warning, and is not made', async () => {
  using sandbox = createSandbox();
  sandbox.write('list.csv', ips(5));
  const env = {HOME: sandbox.path('nobody'), XDG_CACHE_HOME: ''};
  const outcome = await runHere(
    sandbox,
    ['run', 'list.csv', '-o', 'out.csv', '--ip', 'ip', '--endpoint', 'embedded'],
    {env},
  );
  expect(outcome.code).toBe(0);
  expect(outcome.stderr).toContain('does not exist');
  expect(sandbox.files()).toEqual(['list.csv', 'out.csv', 'out.summary.json']);
});

test.each([
  ['deleted', (path: string) => rmSync(path)],
  ['damaged', (path: string) => writeFileSync(path, Buffer.alloc(65_536, 0x5a))],
])(
  'a store that is %s in the middle of a run is a warning at most, and the run goes on',
  async (how, harm) => {
    await using stage = await openStage({latencyMs: 10});
    stage.write('list.csv', ips(5, 1_000));
    await stage.run(settings);
    stage.write('list.csv', ips(150));
    stage.api.setScript(call => {
      if (call.call === 60) harm(join(storeOf(stage), 'answers.db'));
      return undefined;
    });
    const ended = await stage.run({...settings, concurrency: 2});
    expect(ended).toMatchObject({code: 0, summary: {rows: {written: 150}, credits: {spent: 150}}});
    // SQLite may have all that it needs of a damaged file in memory; one that is gone is noticed.
    expect(ended.warnings.length).toBeGreaterThanOrEqual(how === 'deleted' ? 1 : 0);
    for (const warning of ended.warnings) expect(warning).toContain('answer store');
    expect(await stage.run(settings)).toMatchObject({code: 0, summary: {rows: {written: 150}}});
  },
);

test('the store is for nobody else to read', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(3));
  await stage.run(settings);
  expect(statSync(storeOf(stage)).mode & 0o777).toBe(0o700);
  expect(statSync(join(storeOf(stage), 'answers.db')).mode & 0o777).toBe(0o600);
});

test('cache purge leaves nothing readable in the file or its log', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  const emails = Array.from({length: 200}, (_, i) => `person${i}@purge${i}.example`);
  sandbox.write('list.csv', `email\n${emails.join('\n')}\n`);
  const args = ['run', 'list.csv', '-o', 'out.csv', '--email', 'email', '--rate', 'unlimited'];
  expect((await runHere(sandbox, args, {env: service.env})).code).toBe(0);
  const store = join(sandbox.home, 'cache', 'bulk-enrich');
  const content = () =>
    readdirSync(store)
      .map(name => readFileSync(join(store, name), 'latin1'))
      .join();
  expect(content().includes('purge77.example')).toBe(true);
  const again = await runHere(sandbox, ['cache', 'purge', 'person77@PURGE77.example']);
  expect(again).toMatchObject({code: 0});
  expect(again.stdout).toContain('1 answer removed');
  expect(content().includes('purge77.example')).toBe(false);
  expect(content().includes('purge78.example')).toBe(true);
});

test('two runs at the same time share one store: both right, and nothing is paid twice once its answer is stored', async () => {
  await using stage = await openStage({latencyMs: 15});
  const values = ips(300).trimEnd().split('\n').slice(1);
  stage.write('up.csv', `ip\n${values.join('\n')}\n`);
  stage.write('down.csv', `ip\n${values.toReversed().join('\n')}\n`);
  const run = (name: string) =>
    stage.run({...settings, input: `${name}.csv`, output: `${name}.out.csv`, concurrency: 3});
  const ended = await Promise.all([run('up'), run('down')]);
  expect(ended.map(({code}) => code)).toEqual([0, 0]);
  const lines = (name: string) => stage.read(`${name}.out.csv`).trimEnd().split('\n').slice(1);
  expect(lines('up')).toEqual(lines('down').toReversed());
  const spent = ended.map(({summary}) => Number(summary?.credits.spent));
  expect((spent[0] as number) + (spent[1] as number)).toBe(stage.api.ledger.credits);
  // They meet in the middle: only what was under way there is asked twice. Without looking again before a call, each
  // would ask for the 256 rows that it read at once.
  expect(stage.api.ledger.repeated().length).toBeLessThan(120);
});
