import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import {expect, test} from 'vitest';
import type {Summary} from '../../src/report/summary.ts';
import {Stopper} from '../../src/run/stop.ts';
import type {Call} from '../support/api-server.ts';
import {reply} from '../support/api-server-reply.ts';
import {interrupt, ips, openStage, type Stage, type StageOptions} from '../support/stage.ts';
import {withFs} from '../support/with-fs.ts';

const ROWS = 100;
const settings = {ip: 'ip', concurrency: 4};

/** A run that stops half-way, with half of its rows checkpointed. */
async function halfWay(
  stage: Stage,
  {raw = settings, ...options}: StageOptions & {raw?: Record<string, unknown>} = {},
): Promise<void> {
  const stopper = new Stopper();
  const calls = stage.api.ledger.calls;
  stage.api.setScript(call => {
    if (call.call - calls === ROWS / 2) interrupt(stopper);
    return undefined;
  });
  const ended = await stage.run(raw, {...options, stopper});
  expect(ended).toMatchObject({code: 130, summary: {status: 'interrupted', reason: 'signal'}});
  expect(existsSync(stage.path('out.csv'))).toBe(false);
  stage.api.setScript(undefined);
}

/** The output of an uninterrupted run of the list. */
async function whole(list: string): Promise<string> {
  await using stage = await openStage();
  stage.write('list.csv', list);
  expect((await stage.run(settings)).code).toBe(0);
  return stage.read('out.csv');
}

test('the same command resumes: the same bytes, and no value is sent twice', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(ROWS));
  await halfWay(stage);
  const ended = await stage.run(settings);
  expect(ended).toMatchObject({code: 0, summary: {rows: {read: ROWS, written: ROWS}, resumed: {times: 1}}});
  expect(ended.summary?.resumed.from_row).toBeGreaterThan(1);
  expect(stage.api.ledger.repeated()).toEqual([]);
  expect(ended.summary?.credits.spent).toBe(ROWS);
  expect(stage.read('out.csv')).toBe(await whole(ips(ROWS)));
  expect(readdirSync(stage.directory).sort()).toEqual(['list.csv', 'out.csv', 'out.summary.json']);
});

test('a compressed output resumes too, and is the same to the byte', async () => {
  const packed = {...settings, output: 'out.csv.gz'};
  const written = async (half: boolean) => {
    await using stage = await openStage();
    stage.write('list.csv', ips(ROWS));
    if (half) {
      await halfWay(stage, {raw: packed});
      // The file of a run killed during compression.
      stage.write('out.csv.gz.run/packed.partial', 'half of it');
    }
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
  await using stage = await openStage();
  stage.write('list.csv', `${ips(ROWS)}1.2.3.4,too,many\n`);
  await halfWay(stage);
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
  expect(mode(stage.path('out.csv.run'))).toBe('700');
  const files = readdirSync(stage.path('out.csv.run'));
  expect(files).toContain('output.partial');
  for (const file of files)
    expect([file, mode(join(stage.path('out.csv.run'), file))]).toEqual([file, '600']);
});

test('--state puts the state elsewhere, and leaves files of others there', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(ROWS));
  const raw = {...settings, state: stage.path('elsewhere')};
  await halfWay(stage, {raw});
  // Beside the output is only its lock, by which an unfinished run is known.
  expect(readdirSync(stage.path('out.csv.run')).sort()).toEqual(['holder.json', 'lock.db']);
  expect(readdirSync(stage.path('elsewhere'))).toContain('output.partial');
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

test('the torn tail of a partial file is cut to the checkpoint', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(ROWS));
  await halfWay(stage);
  appendFileSync(stage.path('out.csv.run/output.partial'), '203.0.113.1,ok,,half of a ro'.repeat(5_000));
  expect((await stage.run(settings)).code).toBe(0);
  expect(stage.read('out.csv')).toBe(await whole(ips(ROWS)));
});

test.each([
  ['shorter than the checkpoint', (path: string) => truncateSync(path, 100)],
  ['lost', (path: string) => rmSync(path)],
])('a partial file that is %s is refused; --restart makes no call for answered values', async (_, harm) => {
  await using stage = await openStage();
  stage.write('list.csv', ips(ROWS));
  await halfWay(stage);
  harm(stage.path('out.csv.run/output.partial'));
  const refused = await stage.run(settings);
  expect(refused).toMatchObject({
    code: 10,
    summary: {exit_code: 10, reason: 'partial_short', status: 'failed'},
  });
  expect(refused.message).toContain('--restart');
  const {calls} = stage.api.ledger;
  expect(refused.summary?.credits.spent).toBe(calls);
  expect((await stage.run({...settings, restart: true, store: false})).code).toBe(0);
  expect(stage.api.ledger.calls).toBe(ROWS);
  expect(stage.read('out.csv')).toBe(await whole(ips(ROWS)));
});

test.each([
  ['in what was read', (list: string) => list.replace('203.0.113.0', '203.0.113.255')],
  ['to be shorter than what was read', (list: string) => list.slice(0, 300)],
])(
  'an input that changed %s is exit 8 with zero calls; appended rows are none of that',
  async (_, change) => {
    await using stage = await openStage();
    stage.write('list.csv', ips(ROWS));
    await halfWay(stage);
    const {calls} = stage.api.ledger;
    stage.write('list.csv', change(ips(ROWS)));
    const refused = await stage.run(settings);
    expect(refused).toMatchObject({code: 8, summary: {exit_code: 8, reason: 'input_changed'}});
    expect(refused.message).toContain('--restart');
    expect(stage.api.ledger.calls).toBe(calls);
    stage.write('list.csv', ips(ROWS + 20));
    expect((await stage.run(settings)).code).toBe(0);
    expect(stage.api.ledger.calls).toBe(ROWS + 20);
    expect(stage.read('out.csv')).toBe(await whole(ips(ROWS + 20)));
  },
);

test('appended rows that would give the output another column are refused', async () => {
  await using stage = await openStage();
  const list = ips(ROWS).replace('ip\n', '').replace(/.+/g, '{"ip":"$&"}');
  const raw = {...settings, input: 'list.ndjson'};
  stage.write('list.ndjson', list);
  await halfWay(stage, {raw});
  stage.write('list.ndjson', `${list}{"ip":"203.0.113.0","seen":"today"}\n`);
  const {calls} = stage.api.ledger;
  expect(await stage.run(raw)).toMatchObject({code: 8, summary: {reason: 'input_changed'}});
  expect(stage.api.ledger.calls).toBe(calls);
});

test('settings that shape the output are compared: exit 10 names them, and the way out', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(ROWS));
  await halfWay(stage);
  const begun = JSON.parse(stage.read('out.summary.json')) as Summary;
  const {calls} = stage.api.ledger;
  const refused = await stage.run({...settings, fields: 'ip.country', account: 'other'});
  expect(refused).toMatchObject({code: 10, summary: {exit_code: 10, reason: 'settings_changed'}});
  // It is still a summary of the run that was begun.
  expect(refused.summary).toMatchObject({run_id: begun.run_id, started_at: begun.started_at});
  expect(refused.message).toMatch(/account.*fields.*--restart/);
  expect(stage.api.ledger.calls).toBe(calls);
  expect((await stage.run({...settings, concurrency: 9, resends: 5, maxCredits: ROWS})).code).toBe(0);
  expect(stage.api.ledger.calls).toBe(ROWS);
});

test.each([
  ['its header is gone', 0],
  ['a page in its middle is gone', 12_288],
])('a ledger that is damaged (%s) is exit 10 with zero calls; --restart sets it aside', async (_, at) => {
  await using stage = await openStage();
  stage.write('list.csv', ips(ROWS));
  await halfWay(stage);
  const path = stage.path('out.csv.run/ledger.db');
  const {size} = statSync(path);
  const {open} = await import('node:fs/promises');
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

test("a job file's run starts over by itself from state that does not fit, and keeps every paid answer", async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(ROWS));
  const raw = {...settings, store: false};
  await halfWay(stage, {raw, fromFile: true});
  stage.write('list.csv', ips(ROWS).replace('203.0.113.0\n', '203.0.113.9\n203.0.113.0\n'));
  const ended = await stage.run({...raw, fields: 'ip.country'}, {fromFile: true});
  expect(ended).toMatchObject({code: 0, summary: {rows: {written: ROWS + 1}}});
  expect(ended.warnings.join()).toContain('starts over');
  expect(stage.api.ledger.repeated()).toEqual([]);
  expect(stage.api.ledger.calls).toBe(ROWS);
});

test('restart: false makes a job stop, and true is the default', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(ROWS));
  await halfWay(stage);
  stage.write('list.csv', ips(ROWS, 1));
  expect((await stage.run({...settings, restart: false}, {fromFile: true})).code).toBe(8);
  expect((await stage.run(settings)).code).toBe(8);
  expect((await stage.run({...settings, restart: true}, {fromFile: true})).code).toBe(0);
  expect(stage.api.ledger.repeated()).toEqual([]);
});

test("a nightly job does not wedge on yesterday's damaged ledger or lost partial file", async () => {
  for (const harm of [
    (state: string) =>
      writeFileSync(join(state, 'ledger.db'), 'no database at all, but a text of some length'),
    (state: string) => rmSync(join(state, 'output.partial')),
    (state: string) => writeFileSync(join(state, 'publish.json'), '{"files": [{'),
  ]) {
    await using stage = await openStage();
    stage.write('list.csv', ips(ROWS));
    await halfWay(stage);
    harm(stage.path('out.csv.run'));
    expect((await stage.run(settings, {fromFile: true})).code).toBe(0);
    expect(stage.api.ledger.repeated()).toEqual([]);
    expect(stage.read('out.csv')).toBe(await whole(ips(ROWS)));
  }
});

test('a run over stdin resumes with the same bytes, and is reset with others', async () => {
  await using stage = await openStage();
  const raw = {...settings, input: '-'};
  await halfWay(stage, {raw, stdin: ips(ROWS)});
  const refused = await stage.run(raw, {stdin: ips(ROWS, 1)});
  expect(refused).toMatchObject({code: 8});
  expect((await stage.run(raw, {stdin: ips(ROWS)})).code).toBe(0);
  expect(stage.api.ledger.repeated()).toEqual([]);
  expect(stage.read('out.csv')).toBe(await whole(ips(ROWS)));

  rmSync(stage.path('out.csv'));
  await halfWay(stage, {raw: {...raw, force: true, store: false}, stdin: ips(ROWS, 10_000)});
  const reset = await stage.run(
    {...raw, force: true, store: false},
    {stdin: ips(ROWS, 9_000), fromFile: true},
  );
  expect(reset).toMatchObject({code: 10, summary: {reason: 'stale_stdin'}});
  const again = await stage.run(
    {...raw, force: true, store: false},
    {stdin: ips(ROWS, 9_000), fromFile: true},
  );
  expect(again).toMatchObject({code: 0, summary: {rows: {written: ROWS}}});
});

test('usage errors leave nothing behind', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(3));
  expect((await stage.run({ip: 'no such column'})).code).toBe(2);
  expect((await stage.run({ip: 'ip', state: stage.path('a/b/c'), fields: 'ip.nonsense'})).code).toBe(2);
  stage.write('out.csv', 'somebody else’s');
  expect((await stage.run(settings)).code).toBe(2);
  expect(readdirSync(stage.directory).sort()).toEqual(['list.csv', 'out.csv']);
  expect(stage.read('out.csv')).toBe('somebody else’s');
  expect(stage.api.ledger.requests).toBe(0);
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
  expect(await stage.run(settings, {fromFile: true})).toMatchObject({
    code: 8,
    summary: {exit_code: 8, reason: 'input_missing'},
  });
});

test('an output directory that does not exist is exit 9 in a sentence', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(3));
  const ended = await stage.run({...settings, output: 'missing/out.csv'});
  expect(ended).toMatchObject({code: 9});
  expect(ended.message).toContain('does not exist');
  expect(readdirSync(stage.directory)).toEqual(['list.csv']);
});

test.each([
  ['report', 'no/r.html'],
  ['metrics', 'no/m.prom'],
  ['summary', 'no/s.json'],
  ['rejects', 'no/r.ndjson'],
])('--%s in a directory that does not exist is refused before the first call', async (name, path) => {
  await using stage = await openStage();
  stage.write('list.csv', ips(3));
  const refused = await stage.run({...settings, [name]: stage.path(path)});
  expect(refused).toMatchObject({code: 2, errorCode: 'no_directory'});
  expect(stage.api.ledger.requests).toBe(0);
});

test.each(['summary', 'rejects'])(
  '--%s in a directory that can not be written is refused before the first call',
  async name => {
    await using stage = await openStage();
    stage.write('list.csv', ips(3));
    mkdirSync(stage.path('closed'));
    const refused = await withFs(
      real => ({
        accessSync(path, mode) {
          if (path === stage.path('closed')) throw Object.assign(new Error('EACCES'), {code: 'EACCES'});
          real.accessSync(path, mode);
        },
      }),
      () => stage.run({...settings, [name]: stage.path('closed/file.csv')}),
    );
    expect(refused).toMatchObject({code: 9, message: expect.stringContaining(`--${name}`)});
    expect(stage.api.ledger.requests).toBe(0);
  },
);

test('the output takes the mode of the file it replaces', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(3));
  stage.write('out.csv', 'old');
  chmodSync(stage.path('out.csv'), 0o640);
  expect((await stage.run({...settings, force: true})).code).toBe(0);
  expect(statSync(stage.path('out.csv')).mode & 0o777).toBe(0o640);
});

const DAY_MS = 86_400_000;
const inDays = (days: number) => ({now: () => Date.now() + days * DAY_MS});

const throttleFirst = ({value}: Call) => (value === '203.0.113.0' ? reply.throttle(3_600) : undefined);

test.each([
  ['whose key was wrong', () => reply.unauthorized(), 6],
  ['that met an outage', throttleFirst, 5],
] as const)(
  "a night %s and that wrote no row is no part of the next night's run",
  async (_, answer, code) => {
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
    expect(later).toMatchObject({
      code: 0,
      summary: {lookups: {ip: {values: ROWS, distinct: ROWS, from_store: 0}}, resumed: {times: 0}},
    });
    expect(later.summary?.run_id).not.toBe(first.summary?.run_id);
    expect(Date.parse(later.summary?.started_at ?? '') - Date.now()).toBeGreaterThan(2.9 * DAY_MS);
    expect(later.warnings).toContainEqual(expect.stringContaining('no row'));
  },
);

test('its fresh answers are kept, and its spending counts against the limit of the run', async () => {
  await using stage = await openStage();
  const limited = {...settings, store: false, maxOutage: '0s', maxCredits: ROWS, fields: 'ip.country'};
  stage.write('list.csv', ips(ROWS));
  stage.api.setScript(throttleFirst);
  expect(await stage.run(limited)).toMatchObject({code: 5, summary: {rows: {written: 0}}});
  const {credits} = stage.api.ledger;
  expect(credits).toBeGreaterThan(0);
  stage.api.setScript(undefined);
  // Nothing that was written binds the settings either.
  const ended = await stage.run({...limited, fields: 'ip.city'});
  expect(ended).toMatchObject({
    code: 0,
    summary: {lookups: {ip: {distinct: ROWS, from_store: credits}}, credits: {spent: ROWS}},
  });
  expect(stage.api.ledger.credits).toBe(ROWS);
});
