import {execFileSync} from 'node:child_process';
import {
  chownSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {InputError} from '../../src/input/input-error.ts';
import {findStopError, Stopper} from '../../src/run/stop.ts';
import {interrupt, ips, openStage, type Stage} from '../support/stage.ts';
import {until} from '../support/until.ts';

const settings = {ip: 'ip'};
let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
  stage.write('list.csv', `${ips(3)}192.0.2.1,one too many\n`);
});
afterEach(() => stage[Symbol.asyncDispose]());

function pipe(name: string): string {
  execFileSync('mkfifo', [stage.path(name)]);
  return stage.path(name);
}

test('neither a socket nor a path that changed during the run is replaced', async () => {
  const server = createServer().listen(stage.path('s.html'));
  await until(() => existsSync(stage.path('s.html')));
  try {
    const ended = await stage.run({...settings, report: stage.path('s.html')});
    expect(ended).toMatchObject({code: 2, errorCode: 'no_file'});
  } finally {
    server.close();
  }
  const [report, metrics] = [stage.path('r.html'), stage.path('metrics.prom')];
  const ended = await stage.run({...settings, report, metrics}, {watch: () => pipe('r.html')});
  expect(ended.warnings.join()).toContain('r.html');
  expect([ended.code, statSync(report).isFIFO(), existsSync(metrics)]).toEqual([3, true, true]);
});

test('a named pipe as ledger of the state is damage, and not waited for', async () => {
  mkdirSync(stage.path('out.csv.run'), {mode: 0o700});
  pipe('out.csv.run/ledger.db');
  const ended = await stage.run(settings);
  expect(ended).toMatchObject({code: 10, summary: {reason: 'state_damaged'}});
  expect(stage.api.ledger.requests).toBe(0);
});

/** A run from a pipe, once it waits for the pipe's writer. */
async function waiting() {
  const stopper = new Stopper();
  const warnings: string[] = [];
  const options = {stopper, warned: (said: string) => warnings.push(said)};
  const run = stage.run({...settings, input: 'pipe'}, options);
  await until(() => warnings.length > 0);
  return {run, stopper};
}

test('a run warns once of an input pipe without a writer, and a signal ends the wait', async () => {
  pipe('pipe');
  const {run, stopper} = await waiting();
  interrupt(stopper);
  expect(await run).toMatchObject({
    code: 130,
    warnings: [expect.stringContaining(stage.path('pipe'))],
  });
  expect([stage.api.ledger.requests, existsSync(stage.path('out.csv.run'))]).toEqual([0, false]);
});

test('an input pipe is read once its writer comes, also to see that all is done', async () => {
  const path = pipe('pipe');
  const write = () => {
    const writer = createWriteStream(path);
    writer.write(ips(3).slice(0, 10));
    writer.end(ips(3).slice(10));
  };
  const first = await waiting();
  write();
  expect(await first.run).toMatchObject({code: 0, summary: {rows: {written: 3}}});
  const again = await waiting();
  write();
  expect(await again.run).toMatchObject({code: 0});
  expect(stage.api.ledger.requests).toBe(3);
  const left = await waiting();
  interrupt(left.stopper);
  expect(await left.run).toMatchObject({code: 130, message: 'Stop. Nothing was sent.'});
});

test('a run that waits for stdin ends at a signal too', async () => {
  const stopper = new Stopper();
  const run = stage.run({...settings, input: '-'}, {stopper, stdin: new PassThrough()});
  await until(() => existsSync(stage.path('out.csv.run/ledger.db')));
  interrupt(stopper);
  expect(await run).toMatchObject({code: 130, message: 'Stop. Nothing was sent.'});
  expect(existsSync(stage.path('out.csv.run'))).toBe(false);
});

test('a stop explains only that the input ended: no other error is hidden behind it', () => {
  const stopper = new Stopper();
  const noInput = new InputError('input_empty', 'stdin is empty.');
  expect(findStopError(stopper, noInput)).toBeUndefined();
  interrupt(stopper);
  expect(findStopError(stopper, noInput)).toMatchObject({code: 'signal', message: 'Stop. Nothing was sent.'});
  expect(findStopError(stopper, new TypeError('a fault'))).toBeUndefined();
});

test.runIf(process.geteuid?.() === 0)(
  "another user's answer store is not used, by root neither",
  async () => {
    const {env} = stage;
    expect((await stage.run(settings)).code).toBe(3);
    const folder = join(env.XDG_CACHE_HOME ?? '', 'bulk-enrich');
    const [name = ''] = readdirSync(folder, {recursive: true, encoding: 'utf8'}).filter(one =>
      one.endsWith('answers.db'),
    );
    const again = () => stage.run({...settings, force: true, restart: true, requireStore: true});
    // SQLite writes a journal back into the store.
    const journal = join(folder, `${name}-journal`);
    for (const path of [journal, join(folder, name)]) {
      writeFileSync(path, '', {flag: 'a'});
      chownSync(path, 1234, 1234);
      const ended = await again();
      expect(ended).toMatchObject({code: 9, errorCode: 'store_unusable'});
      expect(ended.message).toContain('it belongs to another user (uid 1234)');
      chownSync(path, 0, 0);
    }
  },
);
