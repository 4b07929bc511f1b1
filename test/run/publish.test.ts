import {
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import {expect, test} from 'vitest';
import {digestFiles} from '../../src/disk/digest.ts';
import {
  completePublishing,
  forgetPublishing,
  type PublishRecord,
  publish,
} from '../../src/run/destination/publish.ts';
import type {Phase, Reached} from '../../src/run/io.ts';
import {Stopper} from '../../src/run/stop.ts';
import {fullSummary} from '../report/summaries.ts';
import {reply} from '../support/api-server-reply.ts';
import {startPingServer} from '../support/ping-server.ts';
import {interrupt, ips, openStage, type Stage} from '../support/stage.ts';
import {withFs} from '../support/with-fs.ts';

const settings = {ip: 'ip'};
const list = `${ips(20)}1.2.3.4,one too many\n`;

/** A run that was killed while it published, after so many of its renames. */
async function cutShort(stage: Stage, renames: number, limit?: number): Promise<string> {
  stage.write('list.csv', limit === undefined ? list : ips(30_000));
  const {summary} = await stage.run(limit === undefined ? settings : {...settings, limit});
  const output = stage.read('out.csv');
  const state = stage.path('out.csv.run');
  mkdirSync(state, {mode: 0o700});
  const record: PublishRecord = {
    output_path: stage.path('out.csv'),
    rejects_path: stage.path('out.rejects.ndjson'),
    obsolete: false,
    summary: summary ?? expect.fail(),
  };
  writeFileSync(`${state}/publish.json`, JSON.stringify(record));
  unlinkSync(stage.path('out.summary.json'));
  const moved = [
    ['out.rejects.ndjson', 'rejects.partial'],
    ['out.csv', 'output.partial'],
  ] as const;
  const written = moved.slice(limit === undefined ? 0 : 1);
  for (const [name, partial] of written.slice(renames)) renameSync(stage.path(name), `${state}/${partial}`);
  return output;
}

/** A run whose files wait in its state: the output can't be put in place. */
async function heldUp(stage: Stage, ...given: Parameters<Stage['run']>): Promise<void> {
  const ended = await withFs(
    real => ({
      renameSync(from, to) {
        if (to === stage.path('out.csv')) throw new Error('held up');
        real.renameSync(from, to);
      },
    }),
    () => stage.run(...given),
  );
  expect(ended).toMatchObject({code: 9, summary: {reason: 'publish_failed'}});
}

test.each([0, 1, 2])(
  'killed after %i renames: the same command completes it without a call',
  async renames => {
    await using stage = await openStage();
    const output = await cutShort(stage, renames);
    const {calls} = stage.api.ledger;
    const ended = await stage.run(settings);
    expect(ended).toMatchObject({code: 3, summary: {rows: {written: 20, rejected: 1}, exit_code: 3}});
    expect(stage.api.ledger.calls).toBe(calls);
    expect(stage.read('out.csv')).toBe(output);
    expect(readdirSync(stage.directory).sort()).toEqual([
      'list.csv',
      'out.csv',
      'out.rejects.ndjson',
      'out.summary.json',
    ]);
  },
);

test.each(['lost', 'damaged'])('what of it is %s is made again, without a call', async how => {
  await using stage = await openStage();
  const output = await cutShort(stage, 1);
  if (how === 'lost') rmSync(stage.path('out.csv.run/output.partial'));
  else stage.write('out.csv.run/publish.json', '{"files": [{');
  const {calls} = stage.api.ledger;
  expect((await stage.run(settings)).code).toBe(3);
  expect(stage.read('out.csv')).toBe(output);
  expect(stage.api.ledger.calls).toBe(calls);
});

test('a publishing that was cut short is not completed under other names', async () => {
  await using stage = await openStage();
  const output = await cutShort(stage, 1);
  symlinkSync('out.csv', stage.path('link.csv'));
  const {calls} = stage.api.ledger;
  const others = {rejects: stage.path('others.ndjson')};
  expect((await stage.run({...settings, ...others})).code).toBe(3);
  expect(stage.read('out.csv')).toBe(output);
  expect(existsSync(stage.path('others.ndjson'))).toBe(true);
  expect(stage.api.ledger.calls).toBe(calls);
});

test('the steps after publishing are done by the next start if a kill hit them, and it makes no new run', async () => {
  await using stage = await openStage();
  const output = await cutShort(stage, 2);
  const {calls} = stage.api.ledger;
  await using health = await startPingServer();
  const reported = {...settings, report: stage.path('report.html'), metrics: stage.path('m.prom')};
  const ended = await stage.run({...reported, pingUrl: health.url});
  expect(ended).toMatchObject({code: 3, found: 'unpublished'});
  const {pathname} = new URL(health.url);
  expect(health.pings).toEqual(['/start', ''].map(told => `GET ${pathname}${told}`));
  expect([existsSync(stage.path('report.html')), existsSync(stage.path('m.prom'))]).toEqual([true, true]);
  expect([stage.read('out.csv'), stage.api.ledger.calls]).toEqual([output, calls]);
});

test('the record of the publishing is there until the report is written', async () => {
  await using stage = await openStage();
  stage.write('list.csv', list);
  const seen: boolean[] = [];
  await withFs(
    real => ({
      renameSync(from, to) {
        if (to === stage.path('report.html')) seen.push(existsSync(stage.path('out.csv.run/publish.json')));
        real.renameSync(from, to);
      },
    }),
    () => stage.run({...settings, report: stage.path('report.html')}),
  );
  expect(seen).toEqual([true]);
  expect(existsSync(stage.path('out.csv.run'))).toBe(false);
});

test("last night's publishing is completed, and does not stand for this night's input", async () => {
  await using stage = await openStage();
  await cutShort(stage, 1);
  stage.write('list.csv', ips(25));
  const ended = await stage.run({...settings, force: true}, {fromFile: true});
  expect(ended).toMatchObject({code: 0, summary: {rows: {written: 25}}});
  expect(stage.api.ledger.calls).toBe(25);
  // This night had no rejects: last night's are not left beside its output.
  expect(existsSync(stage.path('out.rejects.ndjson'))).toBe(false);
});

test.each([
  [
    4,
    'fail_if',
    {failIf: 'rows.written > 3'},
    undefined,
    'A limit is exceeded (--fail-if): rows.written > 3.',
    'Limit passed',
  ],
  [
    5,
    'lookups_failed',
    {resends: 0},
    () => reply.error(500, 'broken'),
    'No row has an answer (lookups_failed).',
    'lookups failed',
  ],
])(
  'who completes a publishing does all that the run would have done, and says why: exit %i, its report and history',
  async (code, reason, more, script, why, reported) => {
    await using stage = await openStage();
    stage.write('list.csv', ips(5));
    stage.api.setScript(script);
    const judged = {...settings, ...more, report: stage.path('r.md')};
    await heldUp(stage, judged);
    rmSync(stage.path('r.md'));
    stage.api.setScript(undefined);
    const {calls} = stage.api.ledger;
    const failed = {exit_code: code, reason};
    const message = expect.stringContaining(`They are done now: ${stage.path('out.csv')}. ${why}`);
    expect(await stage.run(judged)).toMatchObject({code, found: 'unpublished', summary: failed, message});
    expect(stage.read('r.md')).toContain(reported);
    expect(stage.history()).toMatchObject([failed]);
    expect(stage.api.ledger.calls).toBe(calls);
  },
);

test("last night's publishing does not stand for this night's input on stdin", async () => {
  await using stage = await openStage();
  const piped = {...settings, input: '-', force: true};
  await heldUp(stage, piped, {stdin: ips(5)});
  const ended = await stage.run(piped, {stdin: ips(6), fromFile: true});
  expect(ended).toMatchObject({code: 0, found: undefined, summary: {rows: {written: 6}}});
});

test('a publishing that another run of the output, with its own state, has replaced does not come back', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(5));
  await heldUp(stage, settings);
  stage.write('list.csv', ips(6));
  expect(await stage.run({...settings, state: stage.path('st'), force: true})).toMatchObject({code: 0});
  const output = stage.read('out.csv');
  expect(await stage.run(settings)).toMatchObject({found: 'complete'});
  expect(stage.read('out.csv')).toBe(output);
});

test('a publishing of the first rows is completed with --force too, where the job and those rows are the same', async () => {
  await using stage = await openStage();
  await cutShort(stage, 0, 5);
  const {calls} = stage.api.ledger;
  const ended = await stage.run({...settings, limit: 5, force: true});
  expect(ended).toMatchObject({found: 'unpublished'});
  expect(stage.api.ledger.calls).toBe(calls);
});

test('a restart that is cut off before it begins leaves no run that another command would resume', async () => {
  await using stage = await openStage();
  stage.write('list.csv', `1.2.3.4,one too many\n${ips(20)}`.replace(/^(.*\n)(ip\n)/, '$2$1'));
  const stopper = new Stopper();
  stage.api.setScript(call => {
    if (call.call === 15) interrupt(stopper);
    return undefined;
  });
  expect((await stage.run({...settings, concurrency: 1}, {stopper})).code).toBe(130);
  stage.api.setScript(undefined);
  const state = stage.path('out.csv.run');
  // As its publishing would leave it: the rejects are in place, and the output is not.
  renameSync(`${state}/rejects.partial`, stage.path('out.rejects.ndjson'));
  writeFileSync(`${state}/publish.json`, 'as it was');
  const cutOff = withFs(
    real => ({
      rmSync(path, options) {
        real.rmSync(path, options);
        if (path === `${state}/publish.json`) throw new Error('cut off');
      },
    }),
    () => stage.run({...settings, restart: true}),
  );
  await expect(cutOff).rejects.toThrow('cut off');
  const {calls} = stage.api.ledger;
  expect(await stage.run(settings)).toMatchObject({code: 3, summary: {rows: {written: 20, rejected: 1}}});
  expect(stage.api.ledger.calls).toBe(calls + 20 - 15);
});

test('an interrupted publishing of other settings does not replace a run with --force', async () => {
  await using stage = await openStage();
  await cutShort(stage, 0);
  const others = await stage.run({...settings, fields: 'ip.is_vpn', force: true});
  expect(others).toMatchObject({code: 3, summary: {rows: {written: 20}}});
  expect(stage.read('out.csv')).not.toContain('ip_city');
  expect(stage.api.ledger.calls).toBe(20);
});

test('publishing may be completed as often as one likes', async () => {
  await using stage = await openStage();
  const directory = stage.path('state');
  mkdirSync(directory);
  for (const name of ['rejects', 'output']) stage.write(`state/${name}.partial`, name);
  const digest = (name: string) => digestFiles([stage.path(`state/${name}.partial`)]);
  const output = stage.path('b');
  const written = {rejects: stage.path('a'), summary: undefined};
  const files = {written, directory, partials: directory};
  const made = fullSummary();
  const summary = fullSummary({
    output: {...made.output, ...(await digest('output'))},
    rejects: {path: 'a', ...(await digest('rejects'))},
  });
  const facts = {obsolete: false, summary};
  publish(files, output, facts, 'output');
  expect(await completePublishing(files, output, 'output')).toMatchObject({
    summary: {run_id: summary.run_id},
  });
  await completePublishing(files, output, 'output');
  expect(readdirSync(stage.directory).sort()).toEqual(['a', 'b', 'state']);
  expect([stage.read('a'), stage.read('b')]).toEqual(['rejects', 'output']);
  // A record that was removed may be back after a power cut: what waits is another run's by then.
  stage.write('state/output.partial', 'of another run');
  await completePublishing(files, output, 'output');
  expect([stage.read('b'), stage.read('state/output.partial')]).toEqual(['output', 'of another run']);
  stage.write('b', 'changed');
  expect(await completePublishing(files, output, 'output')).toBeUndefined();
});

test('files beside a stream are published too: the rejects that its summary names', async () => {
  await using stage = await openStage();
  stage.write('list.csv', list);
  const streamed = {
    ...settings,
    output: '-',
    rejects: stage.path('rej.ndjson'),
    summary: stage.path('sum.json'),
  };
  const ended = await stage.run(streamed);
  expect(ended).toMatchObject({code: 3, summary: {output: {path: '-', bytes: null}, rows: {rejected: 1}}});
  expect(await digestFiles([stage.path('rej.ndjson')])).toMatchObject({
    sha256: ended.summary?.rejects?.sha256,
  });
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

test('files in place by a dropped publishing survive a power cut, and its record is gone', async () => {
  await using stage = await openStage();
  await cutShort(stage, 2);
  const steps = await lastingSteps(() => forgetPublishing(stage.path('out.csv.run'), stage.path('out.csv')));
  expect(steps).toEqual([
    `sync ${stage.directory}`,
    `remove ${stage.path('out.csv.run/publish.json')}`,
    `sync ${stage.path('out.csv.run')}`,
  ]);
});

test('an output that is said to be there lasts: who put it in place may have been killed before that was sure', async () => {
  await using stage = await openStage();
  stage.write('list.csv', list);
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

test.each(['out.csv', 'out.csv.gz'])(
  'what the record of a publishing to %s tells of has a name that outlives a power cut before the record has its own',
  async output => {
    await using stage = await openStage();
    stage.write('list.csv', list);
    const state = stage.path(`${output}.run`);
    const partials = () => readdirSync(state).filter(name => name.endsWith('.partial'));
    let lasting: string[] = [];
    const unsure: string[][] = [];
    const {code} = await withFs(
      real => ({
        fsyncSync(fd) {
          real.fsyncSync(fd);
          if (readlinkSync(`/proc/self/fd/${fd}`) === state) lasting = partials();
        },
        renameSync(from, to) {
          if (to === `${state}/publish.json`) unsure.push(partials().filter(name => !lasting.includes(name)));
          real.renameSync(from, to);
        },
      }),
      () => stage.run({...settings, output}),
    );
    expect(code).toBe(3);
    expect(unsure).toEqual([[]]);
  },
);

test('what a complete run removed of a state directory that stays is gone after a power cut too', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(2));
  const state = stage.path('state');
  mkdirSync(state, {mode: 0o700});
  const steps = await lastingSteps(() => stage.run({...settings, state}));
  const removed = steps.findLastIndex(step => step.startsWith(`remove ${state}/`));
  expect(removed).toBeGreaterThan(-1);
  expect(steps.lastIndexOf(`sync ${state}`)).toBeGreaterThan(removed);
});

test('slow steps without calls are announced with their progress', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(20));
  const told: [string, Reached][] = [];
  const phase: Phase = (what, reached) => () => told.push([what, reached()]);
  for (const _ of [1, 2]) await stage.run({...settings, output: 'out.csv.gz'}, {phase});
  expect(told).toEqual([
    ['putting the output in place', {share: 1}],
    ['comparing with what is there', {}],
  ]);
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
  await using stage = await openStage();
  stage.write('list.csv', ips(5));
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
