import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import {open} from 'node:fs/promises';
import {join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import {expect, test} from 'vitest';
import type {RawSettings} from '../../src/job/parse.ts';
import type {Call} from '../support/api-server.ts';
import {reply} from '../support/api-server-reply.ts';
import {ips, openStage, type Stage, type StageOptions} from '../support/stage.ts';

const ROWS = 16;
const settings = {ip: 'ip', concurrency: 4};

/** A run that stops half-way, with half of its values answered. */
async function halfWay(stage: Stage, {raw = settings, ...options}: StageOptions & {raw?: RawSettings} = {}) {
  const ended = await stage.stopAt(ROWS / 2, raw, options);
  expect(ended).toMatchObject({code: 130, summary: {status: 'interrupted', reason: 'signal'}});
  expect(existsSync(stage.path('out.csv'))).toBe(false);
}

/** The output of an uninterrupted run of the list. */
async function whole(list: string): Promise<string> {
  await using stage = await openStage({list});
  expect((await stage.run(settings)).code).toBe(0);
  return stage.read('out.csv');
}

test('a compressed output resumes too, and is the same to the byte', async () => {
  const packed = {...settings, output: 'out.csv.gz'};
  const written = async (half: boolean) => {
    await using stage = await openStage({list: ips(ROWS)});
    if (half) await halfWay(stage, {raw: packed});
    const {code, summary} = await stage.run(packed);
    const bytes = readFileSync(stage.path('out.csv.gz'));
    expect([code, summary?.output.bytes, summary?.rows.written]).toEqual([0, bytes.length, ROWS]);
    expect(readdirSync(stage.directory).sort()).toEqual(['list.csv', 'out.csv.gz', 'out.summary.json']);
    expect((await stage.run(packed)).message).toContain('othing');
    return bytes;
  };
  const bytes = await written(true);
  expect(bytes.equals(await written(false))).toBe(true);
  expect(gunzipSync(bytes).toString()).toBe(await whole(ips(ROWS)));
});

test('only the user can read the state: a directory of 0700 with files of 0600', async () => {
  await using stage = await openStage({list: `${ips(ROWS)}1.2.3.4,too,many\n`});
  await halfWay(stage);
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
  expect(mode(stage.path('out.csv.run'))).toBe('700');
  const files = readdirSync(stage.path('out.csv.run'));
  expect(files).toContain('output.partial');
  for (const file of files)
    expect([file, mode(join(stage.path('out.csv.run'), file))]).toEqual([file, '600']);
});

test('--state puts the state elsewhere, and leaves files of others there', async () => {
  await using stage = await openStage({list: ips(ROWS)});
  const raw = {...settings, state: stage.path('elsewhere')};
  await halfWay(stage, {raw});
  // Beside the output are its rows, and its lock, by which `bulk-enrich` without a command knows an unfinished run.
  expect(readdirSync(stage.path('out.csv.run')).sort()).toEqual(['holder.json', 'lock.db', 'output.partial']);
  expect(readdirSync(stage.path('elsewhere'))).toContain('ledger.db');
  writeFileSync(stage.path('elsewhere/mine.txt'), 'kept');
  expect((await stage.run(raw)).code).toBe(0);
  expect(readdirSync(stage.path('elsewhere'))).toEqual(['mine.txt']);
  expect(existsSync(stage.path('out.csv.run'))).toBe(false);
  rmSync(stage.path('elsewhere/mine.txt'));
  expect((await stage.run({...raw, force: true})).code).toBe(0);
  // It was there before, so it stays.
  expect(readdirSync(stage.path('elsewhere'))).toEqual([]);
  expect(stage.api.ledger.repeated()).toEqual([]);
});

test.each([
  ['torn', (path: string) => appendFileSync(path, '203.0.113.1,ok,,half of a ro'.repeat(5_000))],
  ['cut', (path: string) => truncateSync(path, 100)],
  ['lost', (path: string) => rmSync(path)],
])('a partial file that is %s is made again', async (_, harm) => {
  await using stage = await openStage({list: ips(ROWS)});
  await halfWay(stage);
  harm(stage.path('out.csv.run/output.partial'));
  expect((await stage.run(settings)).code).toBe(0);
  expect(stage.api.ledger.repeated()).toEqual([]);
  expect(stage.read('out.csv')).toBe(await whole(ips(ROWS)));
});

const backwards = ips(ROWS, ROWS / 2)
  .trim()
  .split('\n')
  .slice(1)
  .reverse();

test.each([
  ['another first value', ips(ROWS).replace('203.0.113.0', '203.0.113.255'), ROWS + 1],
  ['fewer rows', ips(ROWS / 4), ROWS / 2],
  ['more rows', ips(ROWS + 20), ROWS + 20],
  ['half of the values, the last first', `ip\n${backwards.join('\n')}\n`, 1.5 * ROWS],
])(
  'after a kill, a list with %s gives its own output, and pays for no value twice',
  async (_, list, calls) => {
    await using stage = await openStage({list: ips(ROWS)});
    const raw = {...settings, store: false};
    await stage.killAt(ROWS / 2, raw);
    stage.write('list.csv', list);
    expect((await stage.run(raw)).code).toBe(0);
    // A call in flight at the kill may be made twice.
    expect(stage.api.ledger.repeated().length).toBeLessThanOrEqual(settings.concurrency);
    expect(stage.api.ledger.calls).toBeLessThanOrEqual(calls + settings.concurrency);
    expect(stage.read('out.csv')).toBe(await whole(list));
  },
);

test('rows with new keys after a kill have their columns', async () => {
  await using stage = await openStage();
  const list = ips(ROWS).replace('ip\n', '').replace(/.+/g, '{"ip":"$&"}');
  const raw = {...settings, input: 'list.ndjson'};
  stage.write('list.ndjson', list);
  await halfWay(stage, {raw});
  stage.write('list.ndjson', `${list}{"ip":"203.0.113.0","seen":"today"}\n`);
  expect(await stage.run(raw)).toMatchObject({code: 0});
  expect(stage.read('out.csv').split('\n')[0]).toContain('seen');
  expect(stage.api.ledger.repeated()).toEqual([]);
});

test.each([
  ['its header is gone', 0],
  ['a page in its middle is gone', 12_288],
])('a ledger that is damaged (%s) is exit 10 with zero calls; --restart sets it aside', async (_, at) => {
  await using stage = await openStage({list: ips(ROWS)});
  await halfWay(stage);
  const path = stage.path('out.csv.run/ledger.db');
  const {size} = statSync(path);
  const file = await open(path, 'r+');
  await file.write(Buffer.alloc(Math.min(16_384, size - at), 0xa5), 0, undefined, at);
  await file.close();
  const {calls} = stage.api.ledger;
  const refused = await stage.run(settings);
  expect(refused).toMatchObject({code: 10, summary: {exit_code: 10, reason: 'state_damaged'}});
  expect(refused.message).toContain('--restart');
  expect(stage.api.ledger.calls).toBe(calls);
  const ended = await stage.run({...settings, restart: true});
  expect(ended.code).toBe(0);
  expect(ended.warnings[0]).toContain('ledger.db.damaged');
  // The answer store has what the ledger lost.
  expect(stage.api.ledger.calls).toBe(ROWS);
  expect(existsSync(stage.path('out.csv.run'))).toBe(false);
});

test("a nightly job does not wedge on yesterday's damaged ledger or lost partial file", async () => {
  const text = 'no database at all, but a text of some length';
  for (const harm of [
    (state: string) => writeFileSync(join(state, 'ledger.db'), text),
    (state: string) => rmSync(join(state, 'output.partial')),
  ]) {
    await using stage = await openStage({list: ips(ROWS)});
    await halfWay(stage);
    harm(stage.path('out.csv.run'));
    expect((await stage.run(settings, {fromFile: true})).code).toBe(0);
    expect(stage.api.ledger.repeated()).toEqual([]);
    expect(stage.read('out.csv')).toBe(await whole(ips(ROWS)));
  }
});

test.each([
  ['the same list', ips(ROWS)],
  ['another list', ips(ROWS, ROWS / 2)],
])('a run over stdin resumes with %s', async (_, list) => {
  await using stage = await openStage();
  const raw = {...settings, input: '-', store: false};
  for (const fromFile of [false, true]) {
    const {calls} = stage.api.ledger;
    await halfWay(stage, {raw, stdin: ips(ROWS), fromFile});
    const ended = await stage.run(raw, {stdin: list, fromFile});
    expect(ended).toMatchObject({code: 0, summary: {rows: {written: ROWS}}});
    expect(stage.read('out.csv')).toBe(await whole(list));
    expect(stage.api.ledger.calls - calls).toBeLessThanOrEqual(1.5 * ROWS);
    rmSync(stage.path('out.csv'));
  }
});

test('an input that can not be read is exit 8, says so in a summary, and leaves no state', async () => {
  await using stage = await openStage();
  // A name that is mistyped leaves nothing.
  expect(await stage.run(settings)).toMatchObject({code: 8, summary: undefined});
  stage.write('list.csv', '');
  expect(await stage.run(settings)).toMatchObject({code: 8, summary: {exit_code: 8, credits: {spent: 0}}});
  expect(stage.history()).toMatchObject([{exit_code: 8}]);
  expect(readdirSync(stage.directory).sort()).toEqual(['list.csv', 'out.summary.json']);
  // The name in a job file is not mistyped: its list is late.
  rmSync(stage.path('list.csv'));
  const summary = {exit_code: 8, reason: 'input_missing'};
  expect(await stage.run(settings, {fromFile: true})).toMatchObject({code: 8, summary});
});

const DAY_MS = 86_400_000;
const inDays = (days: number) => ({now: () => Date.now() + days * DAY_MS});

const throttleFirst = ({value}: Call) => (value === '203.0.113.0' ? reply.throttle(3_600) : undefined);

test.each([
  ['whose key was wrong', () => reply.unauthorized(), 6],
  ['that met an outage', throttleFirst, 5],
] as const)("a night %s is no part of the next night's run", async (_, answer, code) => {
  await using stage = await openStage();
  const nightly = {...settings, name: 'nightly', maxAge: '1d', maxOutage: '0s'};
  const how = {fromFile: true, name: 'nightly'};
  stage.write('list.csv', ips(ROWS));
  stage.api.setScript(answer);
  const first = await stage.run(nightly, how);
  expect(first).toMatchObject({code, summary: {rows: {written: 0}}});
  stage.api.setScript(undefined);
  // Half of it is the same.
  stage.write('list.csv', ips(ROWS, ROWS / 2));
  const later = await stage.run(nightly, {...how, ...inDays(3)});
  const ip = {values: ROWS, distinct: ROWS, from_store: 0};
  expect(later).toMatchObject({code: 0, summary: {lookups: {ip}, resumed: {times: 0}}});
  expect(later.summary?.run_id).not.toBe(first.summary?.run_id);
  expect(Date.parse(later.summary?.started_at ?? '') - Date.now()).toBeGreaterThan(2.9 * DAY_MS);
});
