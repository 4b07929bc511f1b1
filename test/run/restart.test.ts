import {mkdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {digestFiles} from '../../src/disk/digest.ts';
import type {Job} from '../../src/job/job.ts';
import {checkSettings} from '../../src/job/parse.ts';
import type {PublishRecord} from '../../src/run/destination/publish.ts';
import {answersKey} from '../../src/run/identity.ts';
import {Stopper} from '../../src/run/stop.ts';
import {dataVersion} from '../../src/service/data/data-version.ts';
import {scopeKey} from '../../src/store/store-file.ts';
import {reply} from '../support/api-server-reply.ts';
import {interrupt, ips, openStage, type Stage, type StageOptions} from '../support/stage.ts';
import {whole} from '../support/whole.ts';

const ROWS = 60;
const PART = ROWS / 2;
/** Without the answer store, what a restart carries over is all that there is. */
const settings = {ip: 'ip', concurrency: 1, store: false};

/** A run that is interrupted once {@link PART} calls are answered. */
async function halfWay(
  stage: Stage,
  raw: Record<string, unknown> = settings,
  options: StageOptions = {},
): Promise<void> {
  const stopper = new Stopper();
  const {calls} = stage.api.ledger;
  stage.api.setScript(call => {
    if (call.call - calls === PART) interrupt(stopper);
    return undefined;
  });
  expect(await stage.run(raw, {...options, stopper})).toMatchObject({
    code: 130,
    summary: {credits: {spent: PART}},
  });
  stage.api.setScript(undefined);
}

async function twoStages(
  work: (stage: Stage, other: Stage, atOther: StageOptions) => Promise<void>,
): Promise<void> {
  await using stage = await openStage();
  await using other = await openStage();
  stage.write('list.csv', ips(ROWS));
  const {BULK_ENRICH_BASE_URL = ''} = other.env;
  const {BULK_ENRICH_API_KEY = ''} = other.env;
  await work(stage, other, {env: {BULK_ENRICH_BASE_URL, BULK_ENRICH_API_KEY}});
}

const nothing = {spent: 0, maybe_spent: 0};

test.each([
  ['--restart', {...settings, restart: true}, {}],
  ['a job file', settings, {fromFile: true}],
] as const)(
  '%s at another endpoint takes over no answer and no credit of the first, nor forgets them',
  (_, raw, how) =>
    twoStages(async (stage, other, atOther) => {
      await halfWay(stage, settings, how);
      other.api.setScript(call => (call.call === PART ? reply.throttle(0) : undefined));
      const limited = {...raw, maxCredits: PART};
      expect(await stage.run(limited, {...how, ...atOther})).toMatchObject({
        code: 7,
        summary: {
          credits: {spent: PART, earlier: {counted: nothing, not_counted: {spent: PART, maybe_spent: 0}}},
        },
      });
      expect(other.api.ledger.credits).toBe(PART);
      const back = await stage.run({...raw, maxCredits: ROWS}, how);
      expect(back).toMatchObject({
        code: 0,
        summary: {
          lookups: {ip: {distinct: ROWS, from_store: PART}},
          credits: {
            spent: ROWS,
            earlier: {counted: {spent: PART, maybe_spent: 0}, not_counted: {spent: PART, maybe_spent: 0}},
          },
        },
      });
      expect(stage.api.ledger.credits).toBe(ROWS);
      expect(stage.api.ledger.repeated()).toEqual([]);
    }),
);

test('answers of another account, and of the embedded service, are not carried over', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(ROWS));
  await halfWay(stage);
  const embedded = {...settings, endpoint: 'embedded', restart: true};
  expect(await stage.run({...embedded, maxCredits: PART})).toMatchObject({code: 7});
  const ended = await stage.run({...settings, account: 'other', restart: true});
  expect(ended).toMatchObject({code: 0, summary: {lookups: {ip: {from_store: 0}}, credits: {spent: ROWS}}});
  expect(stage.api.ledger.credits).toBe(PART + ROWS);
});

test('a completed run that was not cleaned up after leaves the next one nothing: no answer, no credit', () =>
  twoStages(async (stage, _, atOther) => {
    await halfWay(stage);
    const [from, to] = [stage.path('out.csv.run/output.partial'), stage.path('out.csv')];
    renameSync(from, to);
    const record: PublishRecord = {
      output_path: to,
      settings_sha256: '',
      input: {bytes: 0, sha256: 'another'},
      output: await digestFiles([to]),
      rejects: null,
      obsolete: false,
      summary: null,
      token: 'ab',
      exitCode: 0,
      rowsWritten: PART,
    };
    writeFileSync(stage.path('out.csv.run/publish.json'), JSON.stringify(record));
    const ended = await stage.run({...settings, force: true, maxCredits: ROWS}, atOther);
    expect(ended).toMatchObject({
      code: 0,
      summary: {credits: {spent: ROWS, earlier: {counted: nothing, not_counted: nothing}}},
    });
  }));

test('answers of the embedded service are those of its data: another version looks values up again', () => {
  const job = (kind: 'embedded' | 'live') =>
    whole<Job>({
      endpoint: {
        kind,
        baseUrl: 'https://api.example.com',
        apiKey: 'key',
        byDefault: false,
      } as Job['endpoint'],
      settings: checkSettings(undefined, {}),
    });
  const scope = (endpoint: string) => scopeKey({endpoint, label: 'default'});
  expect(answersKey(job('embedded'))).toBe(scope(`embedded ${dataVersion()}`));
  expect(answersKey(job('live'))).toBe(scope('https://api.example.com'));
});

const nightly = {...settings, maxCredits: ROWS};

test('a night that starts over with the rest of the limit says so, and how to get all of it', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(ROWS));
  await halfWay(stage, nightly, {fromFile: true});
  stage.write('list.csv', ips(ROWS, 1_000));
  const reduced = await stage.run(nightly, {fromFile: true});
  expect(reduced).toMatchObject({
    code: 7,
    summary: {credits: {spent: ROWS, limit: ROWS, earlier: {counted: {spent: PART, maybe_spent: 0}}}},
  });
  expect(reduced.warnings.join()).toMatch(/30 of 60 credits.*--restart fresh/);
  expect(reduced.message).toMatch(/30 .*earlier.*--restart fresh/);
  stage.write('list.csv', ips(ROWS, 2_000));
  const fresh = await stage.run({...nightly, restart: 'fresh'}, {fromFile: true});
  expect(fresh).toMatchObject({
    code: 0,
    summary: {
      credits: {spent: ROWS, earlier: {counted: nothing, not_counted: {spent: ROWS, maybe_spent: 0}}},
    },
  });
  expect(fresh.warnings.join()).toContain('60 credits');
  expect(stage.api.ledger.credits).toBe(2 * ROWS);
});

test('state that was reset, as stdin can not be read again, still counts', async () => {
  await using stage = await openStage();
  const piped = {...nightly, input: '-'};
  await halfWay(stage, piped, {fromFile: true, stdin: ips(ROWS)});
  const other = {fromFile: true, stdin: ips(ROWS, 1_000)};
  expect(await stage.run(piped, other)).toMatchObject({
    code: 10,
    summary: {reason: 'stale_stdin', credits: {spent: PART}},
  });
  expect(await stage.run(piped, other)).toMatchObject({
    code: 7,
    summary: {credits: {spent: ROWS, earlier: {counted: {spent: PART, maybe_spent: 0}}}},
  });
  expect(stage.api.ledger.credits).toBe(ROWS);
});

test('restart: fresh in a job file is for a run that starts over: one that resumes keeps its limit', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(ROWS));
  await halfWay(stage, nightly, {fromFile: true});
  const ended = await stage.run({...nightly, restart: 'fresh', maxCredits: PART}, {fromFile: true});
  expect(ended).toMatchObject({code: 7, summary: {credits: {spent: PART}}});
  expect(stage.api.ledger.credits).toBe(PART);
});

test.each(['damaged', 'of another version'])(
  'what a ledger that is %s spent is not known: with --max-credits it takes --restart fresh to begin anew',
  async how => {
    await using stage = await openStage();
    stage.write('list.csv', ips(ROWS));
    await halfWay(stage, nightly, {fromFile: true});
    const path = stage.path('out.csv.run/ledger.db');
    if (how === 'damaged') writeFileSync(path, 'no database at all, but a text of some length');
    else {
      const {Sqlite} = await import('../../src/disk/sqlite.ts');
      const db = new Sqlite(path, {synchronous: 'NORMAL', exclusive: true, busyTimeoutMs: 0});
      db.exec('PRAGMA user_version = 2');
      db.close();
    }
    const refused = await stage.run(nightly, {fromFile: true});
    expect(refused).toMatchObject({code: 10, summary: {credits: {earlier: {unknown: true}}}});
    expect(refused.message).toMatch(/spent.*--restart fresh/);
    expect(stage.api.ledger.credits).toBe(PART);
    const fresh = await stage.run({...nightly, restart: 'fresh'}, {fromFile: true});
    expect(fresh).toMatchObject({code: 0, summary: {credits: {spent: ROWS, earlier: {unknown: true}}}});
  },
);

test('a complete output says that a later run was killed, and keeps its state, even if its ledger is damaged', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(ROWS));
  expect(await stage.run(settings)).toMatchObject({code: 0});
  const summary = stage.path('out.summary.json');
  const ofTheFirst = readFileSync(summary);
  await halfWay(stage, {...settings, force: true, restart: true});
  // As a kill leaves it.
  writeFileSync(summary, ofTheFirst);
  const ledger = stage.path('out.csv.run/ledger.db');
  const damaged = 'no database at all, but a text of some length';
  writeFileSync(ledger, damaged);
  const again = await stage.run(settings);
  expect(again).toMatchObject({
    code: 0,
    message: expect.stringContaining('A later run of it was interrupted.'),
  });
  expect(readFileSync(ledger, 'utf8')).toBe(damaged);
});

test('what a state spent that can not be opened is not known', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(ROWS));
  await halfWay(stage, nightly, {fromFile: true});
  rmSync(stage.path('out.csv.run/lock.db'), {force: true});
  mkdirSync(stage.path('out.csv.run/lock.db'));
  const refused = await stage.run(nightly, {fromFile: true});
  expect(refused).toMatchObject({code: 9, summary: {credits: {spent: 0, earlier: {unknown: true}}}});
});

test.each([true, 'fresh'] as const)(
  'a value that used up its resends is sent once more by --restart %s',
  async restart => {
    await using stage = await openStage();
    stage.write('list.csv', ips(2));
    const once = {...settings, resends: 1, rate: '1000/s'};
    stage.api.setScript(() => reply.error(500, 'broken'));
    for (const maxCredits of [1, 2]) expect(await stage.run({...once, maxCredits})).toMatchObject({code: 7});
    expect(stage.api.ledger.repeated()).toHaveLength(1);
    stage.api.setScript(undefined);
    expect(await stage.run({...once, restart, maxCredits: 9})).toMatchObject({
      code: 0,
      summary: {lookups: {ip: {answered: 2}}},
    });
  },
);

test('where state could not be read, no verdict is taken for a replay of the user’s', async () => {
  await using stage = await openStage();
  const tokens = Array.from({length: ROWS}, (_, index) => `session-token-${index}`);
  stage.write('list.csv', `token\n${tokens.join('\n')}\n`);
  const verdicts = {verdict: {token: 'token', action: 'signup'}, concurrency: 1, restart: true};
  await halfWay(stage, {...verdicts, restart: false});
  writeFileSync(stage.path('out.csv.run/ledger.db'), 'no database at all, but a text of some length');
  expect(await stage.run(verdicts)).toMatchObject({
    code: 3,
    summary: {lookups: {verify: {unknown: PART, answered: PART}}},
  });
});

test('a verdict of the attempt before is kept, however old it is', async () => {
  await using stage = await openStage();
  const tokens = Array.from({length: ROWS}, (_, index) => `session-token-${index}`);
  stage.write('list.csv', `token\n${tokens.join('\n')}\n`);
  const verdicts = {verdict: {token: 'token', action: 'signup'}, concurrency: 1, maxAge: '1h'};
  await halfWay(stage, verdicts);
  const tomorrow = () => Date.now() + 86_400_000;
  const ended = await stage.run({...verdicts, restart: true}, {now: tomorrow});
  expect(ended).toMatchObject({code: 0, summary: {lookups: {verify: {answered: ROWS}}}});
  expect(stage.api.ledger.repeated()).toEqual([]);
});

const monthly = {...settings, maxAge: '30d', restart: true};
const inDays = (days: number) => ({now: () => Date.now() + days * 86_400_000});

test('answers of an earlier attempt are stored with their own time', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(ROWS));
  await halfWay(stage);
  const stored = {...monthly, store: stage.path('store')};
  expect(await stage.run(stored, inDays(20))).toMatchObject({
    code: 0,
    summary: {lookups: {ip: {from_store: PART, calls: ROWS}}},
  });
  const later = await stage.run({...stored, force: true}, inDays(30.1));
  expect(later).toMatchObject({code: 0, summary: {lookups: {ip: {from_store: PART, calls: PART}}}});
});

test('answers of an earlier attempt have the same ages as stored ones: they are renewed once due', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(ROWS));
  await halfWay(stage);
  stage.api.setScript(() => reply.html(404));
  expect(await stage.run(monthly, inDays(29.99))).toMatchObject({
    code: 3,
    summary: {lookups: {ip: {answered: PART, failed: PART, calls: PART + ROWS}}},
  });
  expect(stage.read('out.csv').match(/,ok,/g)).toHaveLength(PART);
});

test('so it is where it is past its age: it serves while --stale says so', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(ROWS));
  await halfWay(stage);
  const offline = {...monthly, offline: true, stale: '5d', store: stage.path('store')};
  expect(await stage.run(offline, inDays(31))).toMatchObject({
    code: 3,
    summary: {lookups: {ip: {answered: PART, stale: PART, skipped: PART, calls: PART}}},
  });
});
