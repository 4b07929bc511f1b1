import {
  cpSync,
  existsSync,
  mkdirSync,
  type PathLike,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
} from 'node:fs';
import {dirname} from 'node:path';
import {expect, test} from 'vitest';
import {digestFiles} from '../../src/disk/digest.ts';
import type {AnnouncePhase, PhaseProgress} from '../../src/run/io.ts';
import {reply} from '../support/api-server-reply.ts';
import {startPingServer} from '../support/ping-server.ts';
import {ips, openStage, type Stage} from '../support/stage.ts';
import {withFs} from '../support/with-fs.ts';

const settings = {ip: 'ip'};
const list = `${ips(20)}1.2.3.4,one too many\n`;

type Place = (from: PathLike, to: PathLike) => void;

/** Runs while `move` stands for the ways in which a file gets its name. */
const runMoving = (stage: Stage, given: Parameters<Stage['run']>, move: (place: Place) => Place) =>
  withFs(
    real => ({linkSync: move(real.linkSync), renameSync: move(real.renameSync)}),
    () => stage.run(...given),
  );

/** A run that is killed before or after a file gets its name. Returns the output that it would have left. */
async function killedAt(
  stage: Stage,
  when: 'before' | 'after',
  name: string,
  ...given: Parameters<Stage['run']>
): Promise<string> {
  const root = dirname(stage.directory);
  const copy = () => cpSync(root, `${root}.killed`, {recursive: true});
  await runMoving(stage, given, place => (from, to) => {
    const isThere = to === stage.path(name);
    if (isThere && when === 'before') copy();
    place(from, to);
    if (isThere && when === 'after') copy();
  });
  const output = stage.read('out.csv');
  rmSync(root, {recursive: true});
  renameSync(`${root}.killed`, root);
  return output;
}

/** A run whose files wait in its state: the output can't be put in place. */
async function heldUp(stage: Stage, ...given: Parameters<Stage['run']>): Promise<void> {
  const ended = await runMoving(stage, given, place => (from, to) => {
    if (to === stage.path('out.csv')) throw new Error('held up');
    place(from, to);
  });
  expect(ended).toMatchObject({code: 9, summary: {reason: 'publish_failed'}});
}

test.each([
  ['before', 'out.summary.json', undefined],
  ['before', 'out.rejects.ndjson', undefined],
  ['before', 'out.csv', undefined],
  ['after', 'out.csv', 'complete'],
] as const)(
  'killed %s %s is put in place: the same command ends it without a call',
  async (when, name, found) => {
    await using stage = await openStage({list});
    const output = await killedAt(stage, when, name, settings);
    const ended = await stage.run(settings);
    expect(ended).toMatchObject({code: 3, found, summary: {rows: {written: 20, rejected: 1}, exit_code: 3}});
    expect(stage.api.ledger.calls).toBe(20);
    expect(stage.read('out.csv')).toBe(output);
    const files = ['list.csv', 'out.csv', 'out.rejects.ndjson', 'out.summary.json'];
    expect(readdirSync(stage.directory).sort()).toEqual(files);
    expect(stage.history()).toMatchObject([{exit_code: 3}]);
  },
);

test('the steps after publishing are done by the next start if a kill hit them, and it makes no new run', async () => {
  await using stage = await openStage({list});
  await using health = await startPingServer();
  const reported = {...settings, report: stage.path('report.html'), metrics: stage.path('m.prom')};
  const output = await killedAt(stage, 'after', 'out.csv', reported);
  const ended = await stage.run({...reported, pingUrl: health.url});
  expect(ended).toMatchObject({code: 3, found: 'complete'});
  const {pathname} = new URL(health.url);
  expect(health.pings).toEqual(['/start', ''].map(told => `GET ${pathname}${told}`));
  expect([existsSync(stage.path('report.html')), existsSync(stage.path('m.prom'))]).toEqual([true, true]);
  expect([stage.read('out.csv'), stage.api.ledger.calls]).toEqual([output, 20]);
});

test('the state is there until the report is written', async () => {
  await using stage = await openStage({list});
  const seen: boolean[] = [];
  await withFs(
    real => ({
      renameSync(from, to) {
        if (to === stage.path('report.html')) seen.push(existsSync(stage.path('out.csv.run/ledger.db')));
        real.renameSync(from, to);
      },
    }),
    () => stage.run({...settings, report: stage.path('report.html')}),
  );
  expect(seen).toEqual([true]);
  expect(existsSync(stage.path('out.csv.run'))).toBe(false);
});

test.each([
  ['job', 'before'],
  ['job', 'after'],
  ['command', 'after'],
] as const)(
  "a last run of a %s, killed %s its output was in place, leaves tonight's list no credit and no reject",
  async (kind, when) => {
    const fromFile = kind === 'job';
    await using stage = await openStage({list});
    const limited = {...settings, store: false, force: true, maxCredits: 25};
    await killedAt(stage, when, 'out.csv', limited, {fromFile});
    stage.write('list.csv', ips(25));
    const ended = await stage.run(limited, {fromFile});
    expect(ended).toMatchObject({code: 0, summary: {rows: {written: 25}}});
    expect(existsSync(stage.path('out.rejects.ndjson'))).toBe(false);
    expect(stage.history()).toMatchObject([{}, {rows: 25}]);
    expect(stage.api.ledger.calls).toBe(when === 'after' ? 45 : 25);
  },
);

const exceeded = 'A limit is exceeded (--fail-if): rows.written > 3.';
const unanswered = 'No row has an answer (lookups_failed).';
const broken = () => reply.error(500, 'broken');

test.each([
  [4, 'fail_if', {failIf: 'rows.written > 3'}, undefined, exceeded, 'Limit passed'],
  [5, 'lookups_failed', {resends: 0}, broken, unanswered, 'lookups failed'],
])(
  'the run after a publishing that failed does all that the first would have done, and says why: exit %i, its report and history',
  async (code, reason, more, script, why, reported) => {
    await using stage = await openStage({list: ips(5)});
    stage.api.setScript(script);
    const judged = {...settings, ...more, report: stage.path('r.md')};
    await heldUp(stage, judged);
    rmSync(stage.path('r.md'));
    stage.api.setScript(undefined);
    const {calls} = stage.api.ledger;
    const failed = {exit_code: code, reason};
    const message = expect.stringContaining(why);
    expect(await stage.run(judged)).toMatchObject({code, summary: failed, message});
    expect(stage.read('r.md')).toContain(reported);
    expect(stage.history()).toMatchObject([failed]);
    expect(stage.api.ledger.calls).toBe(calls);
  },
);

test.each([
  ['gone', false, {code: 2, errorCode: 'output_exists'}],
  ['gone', true, {code: 8, errorCode: 'input_missing'}],
  ['another', false, {code: 2, errorCode: 'output_exists'}],
] as const)(
  'a run that was killed once its output was in place is told, though its list is %s since (force: %s)',
  async (list, force, expected) => {
    await using stage = await openStage({list: ips(5)});
    const reported = {...settings, force, report: stage.path('r.md')};
    await killedAt(stage, 'after', 'out.csv', reported);
    if (list === 'gone') rmSync(stage.path('list.csv'));
    else stage.write('list.csv', ips(6));
    expect(await stage.run(reported)).toMatchObject(expected);
    expect(stage.history()).toMatchObject([{status: 'completed', rows: 5}]);
    expect(JSON.parse(stage.read('out.summary.json'))).toMatchObject({status: 'completed'});
    expect(existsSync(stage.path('r.md'))).toBe(true);
    expect(stage.api.ledger.calls).toBe(5);
  },
);

test('a complete output whose list is gone stays as it is, with its summary', async () => {
  await using stage = await openStage({list: ips(5)});
  expect((await stage.run(settings)).code).toBe(0);
  const summary = stage.read('out.summary.json');
  rmSync(stage.path('list.csv'));
  expect(await stage.run(settings)).toMatchObject({code: 2, errorCode: 'output_exists'});
  expect(stage.read('out.summary.json')).toBe(summary);
});

test('the run after a publishing that failed once the output was in place puts it there again, without a call', async () => {
  await using stage = await openStage({list});
  let isThere = false;
  const ended = await withFs(
    real => ({
      linkSync(from, to) {
        real.linkSync(from, to);
        if (to === stage.path('out.csv')) isThere = true;
      },
      fsyncSync(fd) {
        if (isThere && readlinkSync(`/proc/self/fd/${fd}`) === stage.directory) throw new Error('EIO');
        real.fsyncSync(fd);
      },
    }),
    () => stage.run(settings),
  );
  expect(ended).toMatchObject({code: 9, summary: {reason: 'publish_failed'}});
  const output = stage.read('out.csv');
  expect(await stage.run(settings)).toMatchObject({code: 3, summary: {rows: {written: 20, rejected: 1}}});
  expect([stage.read('out.csv'), stage.api.ledger.calls]).toEqual([output, 20]);
});

test("last night's publishing does not stand for this night's input on stdin", async () => {
  await using stage = await openStage();
  const piped = {...settings, input: '-', force: true};
  await heldUp(stage, piped, {stdin: ips(5)});
  const ended = await stage.run(piped, {stdin: ips(6), fromFile: true});
  expect(ended).toMatchObject({code: 0, found: undefined, summary: {rows: {written: 6}}});
});

test('a publishing that another run of the output, with its own state, has replaced does not come back', async () => {
  await using stage = await openStage({list: ips(5)});
  await heldUp(stage, settings);
  stage.write('list.csv', ips(6));
  expect(await stage.run({...settings, state: stage.path('st'), force: true})).toMatchObject({code: 0});
  const output = stage.read('out.csv');
  expect(await stage.run(settings)).toMatchObject({found: 'complete'});
  expect(stage.read('out.csv')).toBe(output);
});

test('a publishing of the first rows is known with --force too, if the job and those rows are the same', async () => {
  await using stage = await openStage({list: ips(30_000)});
  const first = {...settings, limit: 5, force: true};
  await killedAt(stage, 'after', 'out.csv', first);
  expect(await stage.run(first)).toMatchObject({found: 'complete'});
  expect(stage.api.ledger.calls).toBe(5);
});

test('an interrupted publishing of other settings does not replace a run with --force', async () => {
  await using stage = await openStage({list});
  await killedAt(stage, 'after', 'out.csv', settings);
  const others = await stage.run({...settings, fields: 'ip.is_vpn', force: true});
  expect(others).toMatchObject({code: 3, summary: {rows: {written: 20}}});
  expect(stage.read('out.csv')).not.toContain('ip_city');
  expect(stage.api.ledger.calls).toBe(20);
});

test('a file that another program put in the place of the output is not replaced without --force', async () => {
  await using stage = await openStage({list});
  await killedAt(stage, 'after', 'out.csv', settings);
  rmSync(stage.path('out.summary.json'));
  await expect(stage.run(settings)).resolves.toMatchObject({code: 2, errorCode: 'output_exists'});
});

const withoutLinks = (code: string) => () => ({
  linkSync() {
    throw Object.assign(new Error(code), {code});
  },
});

test.each([
  ['with links', () => ({})],
  ...['EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK', 'EXDEV'].map(code => [code, withoutLinks(code)] as const),
] as const)(
  'a file that appears meanwhile under the name of the output is not replaced (%s)',
  async (_, fs) => {
    await using stage = await openStage({list});
    const appears = (name: string) =>
      stage.api.setScript(({call}) => void (call === 7 && stage.write(name, 'mine')));
    const run = (more = {}) => withFs(fs, () => stage.run({...settings, ...more}));
    appears('out.csv');
    expect(await run()).toMatchObject({code: 2, summary: {reason: 'output_exists', status: 'failed'}});
    expect(await run()).toMatchObject({code: 2, errorCode: 'output_exists'});
    expect([stage.read('out.csv'), existsSync(stage.path('out.rejects.ndjson'))]).toEqual(['mine', false]);
    expect(await run({force: true})).toMatchObject({code: 3, summary: {rows: {written: 20}}});
    expect(stage.read('out.csv')).toContain('ip_city');
    expect([stage.api.ledger.calls, existsSync(stage.path('out.csv.run'))]).toEqual([20, false]);
  },
);

test('a file that appears meanwhile under the name of the summary is not replaced', async () => {
  await using stage = await openStage({list});
  stage.api.setScript(({call}) => void (call === 7 && stage.write('out.summary.json', 'mine')));
  expect(await stage.run(settings)).toMatchObject({code: 2});
  expect([stage.read('out.summary.json'), existsSync(stage.path('out.csv'))]).toEqual(['mine', false]);
  rmSync(stage.path('out.summary.json'));
  expect(await stage.run(settings)).toMatchObject({code: 3});
  expect(stage.api.ledger.calls).toBe(20);
});

test('files beside a stream are published too: the rejects that its summary names', async () => {
  await using stage = await openStage({list});
  const [rejects, summary] = [stage.path('rej.ndjson'), stage.path('sum.json')];
  const streamed = {...settings, output: '-', rejects, summary};
  const ended = await stage.run(streamed);
  expect(ended).toMatchObject({code: 3, summary: {output: {path: '-', bytes: null}, rows: {rejected: 1}}});
  expect(await digestFiles([rejects])).toMatchObject({sha256: ended.summary?.rejects?.sha256});
  expect(ended.stdout.trimEnd().split('\n')).toHaveLength(21);
  expect(readdirSync(stage.directory).sort()).toEqual(['list.csv', 'rej.ndjson', 'sum.json']);
  stage.write('list.csv', ips(3));
  expect((await stage.run(streamed)).code).toBe(0);
  expect(existsSync(stage.path('rej.ndjson'))).toBe(false);
});

/** Runs `work`, and returns what it brought to the disk and what it removed, in order. */
async function lastingSteps(work: () => unknown): Promise<string[]> {
  const steps: string[] = [];
  await withFs(
    real => ({
      fsyncSync(fd) {
        real.fsyncSync(fd);
        steps.push(`sync ${readlinkSync(`/proc/self/fd/${fd}`)}`);
      },
      rmSync(path, options) {
        steps.push(`remove ${path}`);
        real.rmSync(path, options);
      },
      unlinkSync(path) {
        steps.push(`remove ${path}`);
        real.unlinkSync(path);
      },
    }),
    work,
  );
  return steps;
}

test('an output that is said to be there lasts: who put it in place may have been killed before that was sure', async () => {
  await using stage = await openStage({list});
  expect((await stage.run(settings)).code).toBe(3);
  mkdirSync(stage.path('elsewhere'));
  const steps = await lastingSteps(async () => {
    const again = await stage.run({...settings, state: stage.path('elsewhere/state')});
    expect(again.found).toBe('complete');
  });
  // Before its state is made elsewhere, the run syncs the output's directory for other reasons.
  const since = steps.slice(steps.indexOf(`sync ${stage.path('elsewhere')}`));
  expect(since).toContain(`sync ${stage.directory}`);
});

test('what a complete run removed of a state directory that stays is gone after a power cut too', async () => {
  await using stage = await openStage({list: ips(2)});
  const state = stage.path('state');
  mkdirSync(state, {mode: 0o700});
  const steps = await lastingSteps(() => stage.run({...settings, state}));
  const removed = steps.findLastIndex(step => step.startsWith(`remove ${state}/`));
  expect(removed).toBeGreaterThan(-1);
  expect(steps.lastIndexOf(`sync ${state}`)).toBeGreaterThan(removed);
});

test('slow steps without calls are announced with their progress', async () => {
  await using stage = await openStage({list: ips(20)});
  const told: [string, PhaseProgress][] = [];
  const phase: AnnouncePhase = (what, reached) => () => told.push([what, reached()]);
  for (const _ of [1, 2]) await stage.run({...settings, output: 'out.csv.gz'}, {phase});
  expect(told).toEqual([['comparing with what is there', {}]]);
});

test('rejected rows in a file that the job names, changed by its user since, are not removed by a night without any', async () => {
  await using stage = await openStage();
  const settings = {ip: 'ip', force: true, rejects: stage.path('rej.ndjson')};
  const night = (rows: string) => {
    stage.write('list.csv', `ip,n\n${rows}192.0.2.1,1\n`);
    return stage.run(settings);
  };
  expect(await night('192.0.2.2\n')).toMatchObject({code: 3});
  const noted = `${stage.read('rej.ndjson')}{"note":"ask Jo"}\n`;
  stage.write('rej.ndjson', noted);
  expect(await night('')).toMatchObject({code: 0});
  expect(stage.read('rej.ndjson')).toBe(noted);
  // A copy elsewhere is not the last run's.
  expect(await night('192.0.2.2\n')).toMatchObject({code: 3});
  stage.write('copy.ndjson', stage.read('rej.ndjson'));
  stage.write('list.csv', 'ip,n\n192.0.2.1,1\n');
  expect(await stage.run({...settings, rejects: stage.path('copy.ndjson')})).toMatchObject({code: 0});
  expect(existsSync(stage.path('copy.ndjson'))).toBe(true);
  // What is only the last run's goes.
  expect(await night('192.0.2.2\n')).toMatchObject({code: 3});
  expect(await night('')).toMatchObject({code: 0});
  expect(existsSync(stage.path('rej.ndjson'))).toBe(false);
});

test('what a kill leaves beside the summary, the report and the metrics, the next run of this output removes', async () => {
  await using stage = await openStage({list: ips(5)});
  for (const folder of ['reports', 'metrics']) mkdirSync(stage.path(folder));
  const elsewhere = {...settings, report: stage.path('reports/r.md'), metrics: stage.path('metrics/m.prom')};
  const left = () =>
    ['.', 'reports', 'metrics'].map(
      folder => readdirSync(stage.path(folder)).filter(name => name.startsWith('.bulk-enrich.')).length,
    );
  // As a kill leaves them before each rename: none of the files is in its place, and none is removed.
  const isLeft = (path: unknown) => String(path).includes('/.bulk-enrich.');
  await withFs(
    real => ({
      renameSync: (from, to) => {
        if (isLeft(from)) throw Object.assign(new Error('killed'), {code: 'EIO'});
        real.renameSync(from, to);
      },
      rmSync: (path, options) => {
        if (!isLeft(path)) real.rmSync(path, options);
      },
    }),
    () => stage.run({...elsewhere, maxCredits: 1}),
  );
  expect(left()).toEqual([1, 1, 1]);
  expect(await stage.run({...elsewhere, maxCredits: 1})).toMatchObject({code: 7});
  expect(left()).toEqual([0, 0, 0]);
});
