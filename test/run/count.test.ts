import {mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {Sqlite} from '../../src/disk/sqlite.ts';
import type {Job} from '../../src/job/job.ts';
import {checkSettings, type RawSettings} from '../../src/job/parse.ts';
import {scopeKey} from '../../src/ledger/answers/store-file.ts';
import {scopeKeyOfJob} from '../../src/run/scope.ts';
import {Stopper} from '../../src/run/stop.ts';
import {dataVersion} from '../../src/service/data/packed-data.ts';
import {interrupt, ips, openStage, type Stage, type StageOptions} from '../support/stage.ts';
import {whole} from '../support/whole.ts';

const ROWS = 20;
const PART = ROWS / 2;
/** Without the answer store, the ledger is all that there is. */
const settings = {ip: 'ip', concurrency: 1, store: false};
const limited = {...settings, maxCredits: ROWS};
const job = {fromFile: true};
const DAMAGED = 'no database at all, but a text of some length';

/** A run that is interrupted once {@link PART} calls are answered. */
async function halfWay(stage: Stage, raw: RawSettings = settings, options?: StageOptions): Promise<void> {
  expect(await stage.stopAt(PART, raw, options)).toMatchObject(spent(PART, 130));
}

/** As after Ctrl-C. */
function stopped(): Stopper {
  const stopper = new Stopper();
  interrupt(stopper);
  return stopper;
}

const spent = (credits: number, code = 0) => ({code, summary: {credits: {spent: credits}}});

test('--restart begins a run with a count of its own: only without it, earlier sessions are to blame', async () => {
  await using stage = await openStage({list: ips(ROWS)});
  await halfWay(stage, limited);
  const before = await stage.run({...limited, maxCredits: PART});
  expect(before.message).toMatch(/Earlier sessions of this run count.*--restart/);
  const ended = await stage.run({...limited, restart: true, maxCredits: 1});
  expect(ended).toMatchObject(spent(1, 7));
  expect(ended.summary?.run_id).not.toBe(before.summary?.run_id);
  expect(ended.message).toMatch(/is reached: nothing more was sent\.$/);
});

test('each night of a job has its own count, though the nights before were never finished', async () => {
  await using stage = await openStage();
  const nightly = {...settings, name: 'nightly', maxCredits: PART};
  let credits = 0;
  for (let night = 0; night < 5; night++) {
    stage.write('list.csv', ips(ROWS, 1_000 * night));
    const ended = await stage.run(nightly, {...job, name: 'nightly'});
    credits += PART;
    expect(ended).toMatchObject(spent(PART, 7));
    expect(stage.api.ledger.credits).toBe(credits);
    // The same list: it is still that night, and its limit is used up.
    expect(await stage.run(nightly, {...job, name: 'nightly'})).toMatchObject(spent(PART, 7));
    expect(stage.api.ledger.credits).toBe(credits);
  }
  stage.write('list.csv', ips(PART, 9_000));
  expect(await stage.run(nightly, {...job, name: 'nightly'})).toMatchObject(spent(PART));
});

test('a state of another output, endpoint or account is refused, with the command that finishes its run', async () => {
  await using stage = await openStage();
  await using other = await openStage();
  const shared = {...limited, state: stage.path('state')};
  stage.write('list.csv', ips(ROWS));
  await halfWay(stage, shared);
  const toFinish =
    /of \S+out\.csv, so nothing was sent\. To finish that run: .* run \S+list\.csv -o \S+out\.csv --state \S+state\./;
  const ofDefault = /out\.csv at http:\S+ \(account "default"\).* --endpoint http:\S+ --account default\./;
  for (const [changed, named] of [
    [{output: 'other.csv'}, toFinish],
    [{account: 'second'}, ofDefault],
    [{endpoint: other.api.url}, /--endpoint/],
  ] as const)
    for (const way of [{}, {force: true}]) {
      const refused = await stage.run({...shared, ...way, ...changed});
      expect([refused.code, refused.errorCode]).toEqual([10, 'state_of_other']);
      expect(refused.message).toMatch(named);
      expect(refused.message).toMatch(/add --restart to this command once/);
    }
  expect([stage.api.ledger.credits, other.api.ledger.credits]).toEqual([PART, 0]);
  // The same place in another spelling.
  const same = `${stage.env.BULK_ENRICH_BASE_URL?.replace('http', 'HTTP')}//`.replace(/\/\/$/, '/');
  expect(await stage.run({...shared, endpoint: same})).toMatchObject(spent(ROWS));
  expect(stage.api.ledger.repeated()).toEqual([]);
});

test.each<[string, Record<string, unknown>, StageOptions, number]>([
  ['for its settings', {ip: 'none'}, {}, 2],
  ['for its list', {input: 'gone.csv'}, {}, 8],
  ['for its store', {store: '/dev/null/store', requireStore: true}, {}, 9],
  ['for its key', {}, {env: {BULK_ENRICH_API_KEY: ''}}, 2],
  ['by its user', {}, {stopper: stopped()}, 130],
])(
  'a run that ends %s before any call leaves nothing in --state that another output meets',
  async (_, raw, options, code) => {
    await using stage = await openStage();
    const shared = {...limited, state: stage.path('state')};
    stage.write('list.csv', ips(ROWS));
    expect(await stage.run({...shared, ...raw}, options)).toMatchObject({code});
    expect(stage.api.ledger.requests).toBe(0);
    expect(await stage.run({...shared, output: 'other.csv'})).toMatchObject(spent(ROWS));
  },
);

test('--restart gives the run of another output up: each has its own count and its line in the history', async () => {
  await using stage = await openStage();
  const shared = {...limited, state: stage.path('state')};
  stage.write('list.csv', ips(ROWS));
  await halfWay(stage, shared);
  stage.write('list.csv', ips(ROWS, 1_000));
  const other = await stage.run({...shared, output: 'other.csv', restart: true});
  expect(other).toMatchObject(spent(ROWS));
  const sentence = 'The unfinished run had another output, so this run counts its credits anew.';
  expect(other.warnings).toContain(sentence);
  const inHistory = stage.history().map(({credits}) => credits.spent);
  expect(inHistory.sort()).toEqual([PART, ROWS]);
  expect(stage.api.ledger.credits).toBe(PART + ROWS);
});

const HOUR_MS = 3_600_000;
const hoursOn = (hours: number) => ({now: () => Date.now() + hours * HOUR_MS});

test.each([
  [23, true],
  [24, false],
  [72, true],
  [160, false],
])(
  "an unfinished run's own answers hold %i hours later, though they expire after a day",
  async (hours, store) => {
    await using stage = await openStage({list: ips(ROWS)});
    const most = {...limited, store, maxCredits: ROWS + 2};
    await halfWay(stage, most);
    expect(await stage.run(most, hoursOn(hours))).toMatchObject(spent(ROWS));
    expect(stage.api.ledger.repeated()).toEqual([]);
  },
);

test.each([true, false])(
  'after a week age decides: what is bought again is said, and counts anew (store: %s)',
  async store => {
    await using stage = await openStage({list: ips(ROWS)});
    const most = {...limited, store, maxCredits: ROWS + 2};
    await halfWay(stage, most);
    const ended = await stage.run(most, hoursOn(200));
    expect(ended).toMatchObject(spent(ROWS + PART));
    expect(ended.warnings.join()).toContain(`${PART} answers of its own expired (--max-age)`);
    expect(stage.api.ledger.credits).toBe(ROWS + PART);
  },
);

test('answers that were bought while the clock was a year ahead are not fresh', async () => {
  await using stage = await openStage({list: ips(PART)});
  const stored = {ip: 'ip', force: true};
  expect(await stage.run(stored, hoursOn(365 * 24))).toMatchObject(spent(PART));
  expect(await stage.run(stored)).toMatchObject(spent(PART));
  expect(await stage.run(stored)).toMatchObject(spent(0));
});

test('a list of the same size that was written anew is another night; one that is late is not', async () => {
  await using stage = await openStage({list: ips(ROWS)});
  await halfWay(stage, limited, job);
  renameSync(stage.path('list.csv'), stage.path('late.csv'));
  expect((await stage.run(limited, job)).code).toBe(8);
  renameSync(stage.path('late.csv'), stage.path('list.csv'));
  expect(await stage.run({...limited, maxCredits: PART}, job)).toMatchObject(spent(PART, 7));
  utimesSync(stage.path('list.csv'), new Date(), new Date(Date.now() + 5_000));
  const other = await stage.run({...limited, maxCredits: PART}, job);
  expect(other).toMatchObject(spent(PART));
  expect(other.warnings.join()).toContain('another list');
  expect(stage.api.ledger.repeated()).toEqual([]);
});

test('a list from stdin says nothing of the night: the count goes on', async () => {
  await using stage = await openStage();
  const piped = {...limited, input: '-'};
  await halfWay(stage, piped, {...job, stdin: ips(ROWS)});
  expect(await stage.run(piped, {...job, stdin: ips(ROWS, 1_000)})).toMatchObject(spent(ROWS, 7));
  expect(stage.api.ledger.credits).toBe(ROWS);
});

test('--restart at another endpoint takes over no answer and no credit of the first', async () => {
  await using stage = await openStage();
  await using other = await openStage();
  const {BULK_ENRICH_BASE_URL = '', BULK_ENRICH_API_KEY = ''} = other.env;
  const atOther = {env: {BULK_ENRICH_BASE_URL, BULK_ENRICH_API_KEY}};
  stage.write('list.csv', ips(ROWS));
  await halfWay(stage);
  const limit = {...settings, maxCredits: ROWS};
  expect(await stage.run({...limit, restart: true}, atOther)).toMatchObject(spent(ROWS));
  expect([stage.api.ledger.credits, other.api.ledger.credits]).toEqual([PART, ROWS]);
});

test('answers of the embedded service are those of its data: another version looks values up again', () => {
  const service = {baseUrl: 'https://api.example.com', apiKey: 'key', byDefault: false};
  const settings = checkSettings(undefined, {});
  const jobAt = (kind: 'embedded' | 'live') =>
    whole<Job>({endpoint: {kind, ...service} as Job['endpoint'], settings});
  const scope = (endpoint: string) => scopeKey({endpoint, label: 'default'});
  expect(scopeKeyOfJob(jobAt('embedded'))).toBe(scope(`embedded ${dataVersion()}`));
  expect(scopeKeyOfJob(jobAt('live'))).toBe(scope('https://api.example.com'));
});

test.each(['damaged', 'of another version'])(
  'what a ledger that is %s spent is not known: with --max-credits it takes --restart to begin anew',
  async how => {
    await using stage = await openStage({list: ips(ROWS)});
    await halfWay(stage, limited, job);
    const path = stage.path('out.csv.run/ledger.db');
    if (how === 'damaged') writeFileSync(path, DAMAGED);
    else {
      const db = new Sqlite(path, {synchronous: 'NORMAL', exclusive: true, busyTimeoutMs: 0});
      db.exec('PRAGMA user_version = 2');
      db.close();
    }
    const refused = await stage.run(limited, job);
    expect(refused.code).toBe(10);
    expect(refused.message).toMatch(/spent.*--restart/);
    expect(stage.api.ledger.credits).toBe(PART);
    expect(await stage.run({...limited, restart: true}, job)).toMatchObject(spent(ROWS));
  },
);

test('a complete output says that a later run was killed, and keeps its state, even if its ledger is damaged', async () => {
  await using stage = await openStage({list: ips(ROWS)});
  expect(await stage.run(settings)).toMatchObject({code: 0});
  const summary = stage.path('out.summary.json');
  const ofTheFirst = readFileSync(summary);
  await halfWay(stage, {...settings, force: true});
  // As a kill leaves it.
  writeFileSync(summary, ofTheFirst);
  const ledger = stage.path('out.csv.run/ledger.db');
  writeFileSync(ledger, DAMAGED);
  const message = expect.stringContaining('A later run of it was interrupted.');
  expect(await stage.run(settings)).toMatchObject({code: 0, message});
  expect(readFileSync(ledger, 'utf8')).toBe(DAMAGED);
});

test('state that can not be opened is exit 9, and nothing is sent', async () => {
  await using stage = await openStage({list: ips(ROWS)});
  await halfWay(stage, limited, job);
  rmSync(stage.path('out.csv.run/lock.db'), {force: true});
  mkdirSync(stage.path('out.csv.run/lock.db'));
  expect((await stage.run(limited, job)).code).toBe(9);
  expect(stage.api.ledger.credits).toBe(PART);
});

test('where state could not be read, no verdict is taken for a replay of the user’s', async () => {
  await using stage = await openStage();
  const tokens = Array.from({length: ROWS}, (_, index) => `session-token-${index}`);
  stage.write('list.csv', `token\n${tokens.join('\n')}\n`);
  const verdicts = {verdict: {token: 'token', action: 'signup'}, concurrency: 1, store: false};
  await halfWay(stage, verdicts);
  writeFileSync(stage.path('out.csv.run/ledger.db'), DAMAGED);
  const verify = {unknown: PART, answered: PART};
  expect(await stage.run({...verdicts, restart: true})).toMatchObject({
    code: 3,
    summary: {lookups: {verify}},
  });
});
