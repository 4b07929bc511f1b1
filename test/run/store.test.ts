import {mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {Sqlite} from '../../src/disk/sqlite.ts';
import {STORE_FILE} from '../../src/ledger/answers/store-file.ts';
import {Stopper} from '../../src/run/stop.ts';
import {startService} from '../e2e/service.ts';
import {reply} from '../support/api-server-reply.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {type Ended, interrupt, ips, openStage, type Stage} from '../support/stage.ts';

const settings = {ip: 'ip', force: true, concurrency: 8};

const NO_DATABASE = 'this is not a database, and long enough to be read as one'.repeat(50);

const storeOf = (stage: Stage) => join(stage.env.XDG_CACHE_HOME ?? '', 'bulk-enrich');

test("one account's or host's answers are not another's", async () => {
  await using stage = await openStage({list: ips(5)});
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

test('a key that changes is told once, also with --quiet; the store has a mark that fits many keys', async () => {
  await using service = await startService();
  using sandbox = createSandbox({'list.csv': ips(2)});
  const run = async (key: string, ...more: string[]) => {
    service.setKey(key);
    const args = ['run', 'list.csv', '--ip', 'ip', '--force', '--quiet', ...more];
    const {code, stderr} = await runHere(sandbox, args, {env: {...service.env, BULK_ENRICH_API_KEY: key}});
    expect(code).toBe(0);
    return stderr.includes('The API key is another') && stderr.includes('--account NAME');
  };
  const key = 'first-key-of-the-account-6b1f';
  expect([await run(key), await run(key)]).toEqual([false, false]);
  // Of other keys, one in 256 has the same mark.
  const others = ['second-key-0c5d', 'third-key-9a3e', 'fourth-key-77f0'];
  const told: boolean[] = [];
  for (const other of others) {
    told.push(await run(other));
    expect(await run(other)).toBe(false);
  }
  expect(told).toContain(true);
  expect(await run(key, '--account', 'theirs')).toBe(false);
  expect(service.ledger.calls).toBe(4);
  const path = join(sandbox.home, 'cache', 'bulk-enrich', 'answers.db');
  const db = new Sqlite(path, {synchronous: 'NORMAL', busyTimeoutMs: 100});
  const marks = db.query(['mark'], 'FROM key_mark').all();
  db.close();
  expect(marks.map(({mark}) => String(mark).length)).toEqual([2]);
});

test.each([
  ['damaged: told with advice', NO_DATABASE, 'remove the file'],
  ['not made, as a file is where its directory should be', undefined, "can't be used"],
])('a store that is %s, and lookups cost credits', async (_, text, said) => {
  await using stage = await openStage({list: ips(20)});
  mkdirSync(storeOf(stage), {recursive: true});
  if (text !== undefined) writeFileSync(join(storeOf(stage), STORE_FILE), text);
  const env = text === undefined ? {XDG_CACHE_HOME: '/dev/null/cache'} : {};
  const ended = await stage.run(settings, {env});
  expect(ended).toMatchObject({code: 0, summary: {lookups: {ip: {answered: 20}}, credits: {spent: 20}}});
  for (const part of ['answer store', "can't be used", said]) expect(ended.warnings.join()).toContain(part);
});

test('a damaged store vouches for no service: a run whose first values are all refused stops', async () => {
  await using stage = await openStage({list: ips(40)});
  mkdirSync(storeOf(stage), {recursive: true});
  writeFileSync(join(storeOf(stage), 'answers.db'), NO_DATABASE);
  stage.api.setScript(() => reply.error(404, 'not_found'));
  const ended = await stage.run({...settings, concurrency: 1});
  expect(ended).toMatchObject({code: 2, summary: {reason: 'refused'}});
  expect(stage.api.ledger.calls).toBe(10);
});

test('an answer that is no text any more is damage like any other, and not the end of the process', async () => {
  await using stage = await openStage({list: ips(4)});
  await stage.run(settings);
  const db = new Sqlite(join(storeOf(stage), STORE_FILE), {synchronous: 'OFF', busyTimeoutMs: 0});
  db.exec("UPDATE answer SET data = CAST(x'7bff7d' AS TEXT) WHERE id = 2");
  db.close();
  const ended = await stage.run(settings);
  expect(ended).toMatchObject({code: 0, summary: {rows: {written: 4}, lookups: {ip: {answered: 4}}}});
  expect(ended.warnings.join()).toContain('remove the file');
});

test('a home directory that does not exist is a warning, and is not made', async () => {
  using sandbox = createSandbox({'list.csv': ips(5)});
  const env = {HOME: sandbox.path('nobody'), XDG_CACHE_HOME: ''};
  const outcome = await runHere(sandbox, 'run list.csv -o out.csv --ip ip --endpoint embedded', {env});
  expect(outcome.code).toBe(0);
  expect(outcome.stderr).toContain('does not exist');
  expect(sandbox.files()).toEqual(['list.csv', 'out.csv', 'out.summary.json']);
});

test('a store that is named is used without a home directory', async () => {
  await using stage = await openStage({list: ips(5)});
  const named = {...settings, force: true, store: stage.path('store')};
  const homeless = {env: {XDG_CACHE_HOME: '', XDG_STATE_HOME: '', HOME: '/nowhere'}};
  for (const total of [5, 0])
    expect(await stage.run(named, homeless)).toMatchObject({
      code: 0,
      warnings: [],
      summary: {calls: {total}},
    });
});

test.each([
  ['deleted', (path: string) => rmSync(path)],
  ['damaged', (path: string) => writeFileSync(path, Buffer.alloc(65_536, 0x5a))],
])(
  'a store that is %s in the middle of a run is a warning at most, and the run continues',
  async (how, harm) => {
    await using stage = await openStage({list: ips(5, 1_000), latencyMs: 10});
    await stage.run(settings);
    stage.write('list.csv', ips(30));
    stage.api.setScript(({call}) => void (call === 15 && harm(join(storeOf(stage), 'answers.db'))));
    const ended = await stage.run({...settings, concurrency: 2});
    expect(ended).toMatchObject({code: 0, summary: {rows: {written: 30}, credits: {spent: 30}}});
    // SQLite may have all that it needs of a damaged file in memory; one that is gone is noticed.
    expect(ended.warnings.length).toBeGreaterThanOrEqual(how === 'deleted' ? 1 : 0);
    for (const warning of ended.warnings) expect(warning).toContain('answer store');
    expect(await stage.run(settings)).toMatchObject({code: 0, summary: {rows: {written: 30}}});
  },
);

test('only the user can read the store', async () => {
  await using stage = await openStage({list: ips(3)});
  await stage.run(settings);
  expect(statSync(storeOf(stage)).mode & 0o777).toBe(0o700);
  expect(statSync(join(storeOf(stage), 'answers.db')).mode & 0o777).toBe(0o600);
});

test('store purge leaves nothing readable in the file or its log', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  const emails = Array.from({length: 40}, (_, i) => `person${i}@purge${i}.example`);
  sandbox.write('list.csv', `email\n${emails.join('\n')}\n`);
  const args = ['run', 'list.csv', '-o', 'out.csv', '--email', 'email', '--rate', 'unlimited'];
  expect((await runHere(sandbox, args, {env: service.env})).code).toBe(0);
  const store = join(sandbox.home, 'cache', 'bulk-enrich');
  const content = () => readdirSync(store).map(name => readFileSync(join(store, name), 'latin1'));
  const has = (domain: string) => content().join().includes(domain);
  expect(has('purge17.example')).toBe(true);
  const again = await runHere(sandbox, ['store', 'purge', 'person17@PURGE17.example']);
  expect(again).toMatchObject({code: 0});
  expect(again.stdout).toContain('1 answer removed');
  expect(has('purge17.example')).toBe(false);
  expect(has('purge18.example')).toBe(true);
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

/** Keeps everybody else from reading or writing the store, until it is told to let go. */
function lockStore(stage: Stage): () => void {
  const holder = new Sqlite(join(storeOf(stage), STORE_FILE), {synchronous: 'NORMAL', busyTimeoutMs: 0});
  holder.exec('BEGIN EXCLUSIVE');
  return () => {
    holder.exec('ROLLBACK');
    holder.close();
  };
}

test('a store that is locked for a while when a run reads it is waited for: nothing is paid again', async () => {
  await using stage = await openStage({list: ips(40)});
  await stage.run(settings);
  const letGo = lockStore(stage);
  setTimeout(letGo, 1_200);
  const store = {trouble: null, not_looked_up: 0, perhaps_paid_again: 0, not_stored: 0};
  const ended = await stage.run(settings);
  expect(ended).toMatchObject({
    ...{code: 0, warnings: []},
    summary: {lookups: {ip: {from_store: 40}}, calls: {total: 0}, store},
  });
});

test.each([
  ['while answers come in, and not at the end', 10, 0],
  ['to the end of the answers', Number.POSITIVE_INFINITY, 800],
])('what a store that is locked %s missed is in it after the run', async (_, unlockAt, laterMs) => {
  await using stage = await openStage({list: ips(1, 500), latencyMs: 5});
  await stage.run(settings);
  stage.write('list.csv', ips(40));
  let letGo: (() => void) | undefined;
  stage.api.setScript(({call}) => {
    if (call === 10) letGo = lockStore(stage);
    if (call === 10 + unlockAt) letGo?.();
    if (call === 40 && laterMs > 0) setTimeout(() => letGo?.(), laterMs);
    return undefined;
  });
  const ended = await stage.run({...settings, concurrency: 2});
  expect(ended).toMatchObject({code: 0, summary: {calls: {total: 40}, store: {not_stored: 0}}});
  expect(await stage.run(settings)).toMatchObject({summary: {calls: {total: 0}}});
});

test('a store that stays locked costs, and the summary and the last sentence say how much', async () => {
  await using stage = await openStage({list: ips(30)});
  await stage.run(settings);
  const letGo = lockStore(stage);
  const ended = await stage.run({...settings, cost: '0.5'}, {storePatienceMs: 300});
  letGo();
  const store = {trouble: 'SQLITE_BUSY', not_looked_up: 30, perhaps_paid_again: 15, not_stored: 30};
  expect(ended).toMatchObject({code: 0, summary: {calls: {total: 30}, store}});
  expect(ended.warnings).toHaveLength(1);
  expect(ended.message).toMatch(/30 values .* 15 credits .*30 answers /);
});

/** Interrupts a run of 60 values that could not store most of its answers, as the store was locked to its end. */
async function stoppedWhileLocked(stage: Stage): Promise<Ended> {
  stage.write('list.csv', ips(1, 500));
  await stage.run(settings);
  stage.write('list.csv', ips(60));
  const stopper = new Stopper();
  let letGo = () => {};
  stage.api.setScript(({call}) => {
    if (call === 10) letGo = lockStore(stage);
    if (call === 40) interrupt(stopper);
    return undefined;
  });
  const ended = await stage.run({...settings, concurrency: 2}, {stopper, storePatienceMs: 200});
  expect(ended.code).toBe(130);
  expect(ended.summary?.store?.not_stored).toBeGreaterThan(20);
  letGo();
  stage.api.setScript(undefined);
  return ended;
}

test('the next session stores the answers that a killed one could not, also without a wait for the store', async () => {
  await using stage = await openStage({latencyMs: 5});
  await stoppedWhileLocked(stage);
  expect(await stage.run(settings)).toMatchObject({code: 0, summary: {store: {not_stored: 0}}});
  expect(stage.api.ledger.repeated()).toEqual([]);
  expect(await stage.run(settings)).toMatchObject({summary: {lookups: {ip: {from_store: 60}}}});
});

test('a run of another account that takes the output over stores the answers of a killed one for its account', async () => {
  await using stage = await openStage({latencyMs: 5});
  const {summary} = await stoppedWhileLocked(stage);
  const before = stage.api.ledger.requests;
  expect((await stage.run({...settings, account: 'other', restart: true})).code).toBe(0);
  expect(stage.api.ledger.requests - before).toBe(60);
  const ip = {from_store: summary?.credits.spent};
  expect(await stage.run(settings)).toMatchObject({summary: {lookups: {ip}}});
});

test('answers from after the clock was set back are stored', async () => {
  await using stage = await openStage({list: ips(60), latencyMs: 5});
  const back = {now: () => Date.now() - 3_600_000};
  for (const [last, more] of [[10, {}] as const, [40, back] as const]) {
    const stopper = new Stopper();
    let letGo = () => {};
    stage.api.setScript(({call}) => {
      if (call === 11) letGo = lockStore(stage);
      if (call === last) interrupt(stopper);
      return undefined;
    });
    const given = {stopper, storePatienceMs: 200, ...more};
    expect(await stage.run({...settings, concurrency: 1}, given)).toMatchObject({code: 130});
    letGo();
  }
  stage.api.setScript(undefined);
  expect(await stage.run(settings, back)).toMatchObject({code: 0, summary: {store: {not_stored: 0}}});
  expect(await stage.run(settings)).toMatchObject({summary: {lookups: {ip: {from_store: 60}}}});
});

test('a verdict is bought once for an output: also with a lost state and with --force; another output asks', async () => {
  await using stage = await openStage();
  const tokens = [1, 2, 3, 4].map(n => `token-${n}`);
  stage.write('list.csv', ['token', ...tokens, ''].join('\n'));
  const verdicts = {verdict: {token: 'token', action: 'a'}, concurrency: 1};
  expect(await stage.run({...verdicts, maxCredits: 2})).toMatchObject({code: 7});
  writeFileSync(stage.path('out.csv.run/ledger.db'), 'no database at all, but a text of some length');
  const verify = {answered: 4, from_store: 2};
  expect(await stage.run({...verdicts, restart: true})).toMatchObject({
    code: 0,
    summary: {lookups: {verify}},
  });
  const first = stage.read('out.csv');
  const {calls} = stage.api.ledger;
  expect(calls).toBe(4);
  const known = {lookups: {verify: {from_store: 4}}, credits: {spent: 0}};
  expect(await stage.run({...verdicts, force: true})).toMatchObject({code: 0, summary: known});
  expect([stage.read('out.csv'), stage.api.ledger.calls]).toEqual([first, calls]);
  expect(await stage.run({...verdicts, output: 'other.csv'})).toMatchObject({code: 0});
  expect(stage.api.ledger.calls).toBe(calls + 4);
  expect(stage.read('other.csv').match(/true/g)?.length).toBeGreaterThan(first.match(/true/g)?.length ?? 0);
});

test('with --quiet a damaged store is still told of; --require-store ends with 9', async () => {
  using sandbox = createSandbox({'list.csv': ips(5)});
  mkdirSync(sandbox.path('store'));
  sandbox.write(`store/${STORE_FILE}`, NO_DATABASE);
  const line = 'run list.csv -o out.csv --ip ip --endpoint embedded --store store';
  expect(await runHere(sandbox, `${line} --require-store`)).toMatchObject({code: 9});
  const quiet = await runHere(sandbox, `${line} --quiet`);
  expect(quiet.code).toBe(0);
  expect(quiet.stderr).toMatch(/^Warning: The answer store .*\n5 rows .*5 values .*5 answers .*\n$/);
});

test('require_store: a store that stays locked or has no place is an error before the first call; a sound one is not', async () => {
  await using stage = await openStage({list: ips(6)});
  const required = {...settings, requireStore: true};
  expect(await stage.run(required)).toMatchObject({code: 0});
  const letGo = lockStore(stage);
  expect(await stage.run(required, {storePatienceMs: 100})).toMatchObject({code: 9});
  letGo();
  expect(await stage.run(required, {env: {XDG_CACHE_HOME: '', HOME: '/nowhere'}})).toMatchObject({code: 9});
  expect(await stage.run({...required, store: false})).toMatchObject({code: 2});
  expect(stage.api.ledger.calls).toBe(6);
});
