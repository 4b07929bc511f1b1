import {execFile, execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {chmodSync, cpSync, mkdirSync, readdirSync, statSync} from 'node:fs';
import {promisify} from 'node:util';
import {afterEach, expect, test, vi} from 'vitest';
import {KEY_LENGTH} from '../../src/ledger/lookup-outcome.ts';
import {DistinctKeys} from '../../src/ledger/run/distinct-keys.ts';
import {RowMatcher} from '../../src/output/earlier/diff.ts';
import {bin, type CommandOutcome, createSandbox, type Sandbox} from '../support/command.ts';
import {type Arena, openArena} from '../support/crash.ts';
import {runHere} from '../support/main.ts';
import {lacks} from '../support/real-parts.ts';
import {ips} from '../support/stage.ts';
import {tracedNode} from '../support/strace.ts';
import {until} from '../support/until.ts';

const ROWS = 200;
const args = 'run list.csv -o disk/out.csv --ip ip --rate unlimited --concurrency 16'.split(' ');

const mounts: string[] = [];

/** Mounts a file system of its own. */
function mount(path: string, ...options: string[]): void {
  mkdirSync(path, {recursive: true});
  execFileSync('mount', ['-t', 'tmpfs', ...options, 'tmpfs', path], {stdio: 'ignore'});
  mounts.push(path);
}

function unmountAll(): void {
  for (const path of mounts.splice(0)) execFileSync('umount', ['-l', path]);
}

afterEach(() => {
  vi.unstubAllEnvs();
  unmountAll();
});

interface Scene extends Pick<Arena, 'sandbox' | 'api'> {
  /** In this process, or in one of its own with what runs in node's place. */
  run(node?: string, more?: string): ReturnType<Sandbox['run']>;
}

async function withScene<T>(work: (scene: Scene) => Promise<T>): Promise<T> {
  await using arena = await openArena();
  const {sandbox, api, env} = arena;
  sandbox.write('list.csv', ips(ROWS));
  const run: Scene['run'] = (node, more = '') => {
    const all = [...args, ...more.split(' ').filter(Boolean)];
    return node === undefined ? runHere(sandbox, all, {env}) : sandbox.run(all, {env, node});
  };
  try {
    return await work({sandbox, api, run});
  } finally {
    unmountAll();
  }
}

/** Expects that the whole output is there, and these files beside it and the list. */
function expectWhole({sandbox}: Scene, ...others: readonly string[]): void {
  expect(sandbox.read('disk/out.csv').trimEnd().split('\n')).toHaveLength(ROWS + 1);
  expect(sandbox.files()).toEqual(['disk/out.csv', 'disk/out.summary.json', 'list.csv', ...others]);
}

/** A case that mounts file systems of its own. */
function onMounts(name: string, work: (scene: Scene) => Promise<void>): void {
  test.skipIf(lacks('mounts'))(name, () => withScene(work));
}

/** After the cause is removed, the run completes, and the counts of both sessions are the server's. */
async function expectRightEnd(scene: Scene): Promise<void> {
  const {sandbox, api, run} = scene;
  const again = await run();
  expect(again.code, again.stderr).toBe(0);
  expectWhole(scene);
  const {credits} = sandbox.summary('disk/out.summary.json');
  expect(credits.spent).toBeLessThanOrEqual(api.ledger.credits);
  expect(api.ledger.credits).toBeLessThanOrEqual(credits.spent + credits.maybe_spent);
  // The lines of the sessions together, also of one that could not note in its ledger what it told.
  const {spent, maybe_spent} = credits;
  const {stdout} = await runHere(sandbox, ['spend', '--json'], {});
  expect(JSON.parse(stdout).total).toMatchObject({spent, maybe_spent});
}

onMounts(
  'a full disk is exit 9 in a sentence, and the run resumes once there is room: no answer is paid for again',
  async scene => {
    const {sandbox, api, run} = scene;
    mount(sandbox.path('disk'), '-o', 'size=1184k');
    const full = await run(process.execPath);
    expect(full.code).toBe(9);
    expect(full.stderr).toMatch(/Stopped: .*\((ENOSPC|SQLITE_FULL|SQLITE_IOERR\w*)/);
    expect(full.stderr).toMatch(/needs up to about \d+ MiB more in /);
    expect(full.stderr).not.toContain('    at ');
    expect(api.ledger.calls).toBeLessThan(ROWS);
    expect(full.stderr).toMatch(/^Safe: every answer paid for/m);
    execFileSync('mount', ['-o', 'remount,size=8m', sandbox.path('disk')]);
    await expectRightEnd(scene);
    expect(api.ledger.repeated()).toEqual([]);
  },
);

onMounts(
  'a full disk of the output, with the state elsewhere, is the one that is named',
  async ({sandbox, run}) => {
    sandbox.write('list.csv', `ip,note\n${`192.0.2.1,${'n'.repeat(2_000)}\n`.repeat(ROWS)}`);
    mount(sandbox.path('disk'), '-o', 'size=400k');
    const {code, stderr} = await run(process.execPath, '--state state');
    expect(code).toBe(9);
    expect(stderr).toMatch(/Stopped: .*\(ENOSPC.*needs up to about 1 MiB more in .*disk\/out\.csv\.run\./);
    expect(stderr).not.toContain('in state.');
  },
);

test.skipIf(lacks('mounts'))(
  'a full disk leaves nothing of scores, and the message names the file that was asked for',
  async () => {
    using sandbox = createSandbox();
    sandbox.write('list.csv', ips(ROWS));
    await runHere(sandbox, ['run', 'list.csv', '-o', 'out.csv', '--ip', 'ip', '--endpoint', 'embedded']);
    mount(sandbox.path('disk'), '-o', 'size=4k');
    const scores = ['score', 'out.csv', '--rules', 'default', '-o', 'disk/x.csv'];
    expect(await runHere(sandbox, scores)).toMatchObject({
      code: 9,
      errorCode: 'output_unwritable',
      message: expect.stringContaining('disk/x.csv'),
    });
    expect(readdirSync(sandbox.path('disk'))).toEqual([]);
    unmountAll();
  },
);

onMounts('a directory that can only be read is exit 9 in a sentence, with zero calls', async scene => {
  const {sandbox, api, run} = scene;
  mount(sandbox.path('disk'), '-o', 'ro');
  const refused = await run();
  expect(refused.code).toBe(9);
  expect(refused.stderr).toContain('EROFS');
  expect(api.ledger.requests).toBe(0);
  execFileSync('mount', ['-o', 'remount,rw', sandbox.path('disk')]);
  await expectRightEnd(scene);
});

/** Runs while these system calls fail, as said, and again once they don't: the values that were paid for twice. */
function whileFailing(
  how: string,
  path: string | undefined,
  then: (ended: CommandOutcome, scene: Scene) => void,
) {
  return withScene(async scene => {
    const {sandbox, run} = scene;
    mkdirSync(sandbox.path('disk'));
    const [calls = ''] = how.split(':');
    const {node} = tracedNode(sandbox, calls, how, path?.replace('DISK', sandbox.path('disk')));
    const ended = await run(node);
    expect(ended.stderr).not.toMatch(/ {4}at |Internal/);
    then(ended, scene);
    await expectRightEnd(scene);
    return scene.api.ledger.repeated();
  });
}

test.skipIf(lacks('strace')).each([
  ['disk/out.csv.run/ledger.db', 'ENOSPC', '(ENOSPC, no space left)'],
  // SQLite says it with a code that the driver has no name for.
  ['DISK/out.csv.run/ledger.db-wal', 'EACCES', '(SQLITE_READONLY, read-only)'],
])(
  'a disk that refuses %s with %s is exit 9 in a sentence, and nothing is paid for twice',
  async (path, error, said) => {
    const how = `open,openat:error=${error}:when=1`;
    const repeated = await whileFailing(how, path, ({code, stderr}, {api}) => {
      expect([code, stderr, api.ledger.calls]).toEqual([9, expect.stringContaining(said), 0]);
    });
    expect(repeated).toEqual([]);
  },
);

test.skipIf(lacks('strace'))(
  'a complete run whose state can not be removed is complete: a warning says so, and the next run removes it',
  async () => {
    const ledger = 'disk/out.csv.run/ledger.db';
    await whileFailing('unlink:error=EIO:when=1', ledger, ({code, stderr}, {sandbox}) => {
      const warning = "Warning: The state in disk/out.csv.run can't be removed (EIO";
      expect([code, stderr]).toEqual([0, expect.stringContaining(warning)]);
      expect(sandbox.summary('disk/out.summary.json').status).toBe('completed');
    });
  },
);

test.skipIf(lacks('mounts'))('a full directory for temporary files is exit 9 and names TMPDIR', () => {
  using sandbox = createSandbox();
  const tmp = sandbox.path('tmp');
  mount(tmp, '-o', 'size=64k');
  vi.stubEnv('TMPDIR', tmp);
  const most = 100;
  const hash = (index: number) => createHash('sha256').update(`${index}`).digest('base64url');
  const keys = Array.from({length: 40 * most}, (_, index) => hash(index));
  const refused = expect.objectContaining({code: 'temporary_unwritable', exitCode: 9});
  const pairs = new RowMatcher(most);
  const distinct = new DistinctKeys(most);
  expect(() => {
    for (const [number, key] of keys.entries()) pairs.match('old', key, {number, cells: [key]});
  }).toThrow(refused);
  expect(() => distinct.fresh(keys.map(key => ({key: key.slice(0, KEY_LENGTH)})))).toThrow(refused);
  pairs.close();
  distinct.close();
  unmountAll();
});

/** Two directories of one file system, each a mount of its own, as the volumes of a container are: `rename` says EXDEV. */
function mountApart(sandbox: Sandbox, ...names: string[]): void {
  mount(sandbox.path('../volume'));
  for (const name of names) {
    for (const path of [`../volume/${name}`, name]) mkdirSync(sandbox.path(path), {recursive: true});
    execFileSync('mount', ['--bind', sandbox.path(`../volume/${name}`), sandbox.path(name)]);
    mounts.unshift(sandbox.path(name));
  }
}

onMounts('state, output and rejects on mounts of their own: all are put in place', async scene => {
  const {sandbox, api, run} = scene;
  mountApart(sandbox, 'disk', 'state', 'others');
  sandbox.write('list.csv', `${ips(ROWS)}1.2.3.4,one too many\n`);
  const {code, stderr} = await run(undefined, '--state state/run --rejects others/rejects.ndjson');
  expect(code, stderr).toBe(3);
  expectWhole(scene, 'others/rejects.ndjson');
  expect(sandbox.read('others/rejects.ndjson').trimEnd().split('\n')).toHaveLength(1);
  expect(api.ledger.calls).toBe(ROWS);
});

onMounts('a state that is mounted elsewhere at the resume is copied into its place', async scene => {
  const {sandbox, run} = scene;
  mount(sandbox.path('../volume'));
  mkdirSync(sandbox.path('disk'));
  mkdirSync(sandbox.path('state'));
  expect((await run(undefined, '--state state --max-credits 100')).code).toBe(7);
  cpSync(sandbox.path('state'), sandbox.path('../volume'), {recursive: true, preserveTimestamps: true});
  chmodSync(sandbox.path('../volume'), 0o700);
  execFileSync('mount', ['--bind', sandbox.path('../volume'), sandbox.path('state')]);
  mounts.unshift(sandbox.path('state'));
  const again = await run(undefined, '--state state');
  expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('Resuming: ')]);
  expectWhole(scene);
});

onMounts('a store that can only be read is a warning', async scene => {
  const {sandbox, run} = scene;
  mkdirSync(sandbox.path('disk'));
  mount(sandbox.path('../home/cache'), '-o', 'ro');
  const outcome = await run();
  expect(outcome.code).toBe(0);
  expect(outcome.stderr).toContain('answer store');
  expect(outcome.stderr).toMatch(/EROFS|ENOENT/);
});

test.skipIf(lacks('strace')).each([
  ['fdatasync', '1', /can't be written \(EIO, the device failed\)/],
  // Of the output, before it is published.
  ['fsync', '1+', /can't be (put in place|written) \((.*: )?(EIO, the device failed|SQLITE_IOERR\w*)\)/],
  ['rename', '1+', /can't be put in place \(.*out\.summary\.json: EIO, the device failed\)/],
])('a failing %s is exit 9, never retried and never success', async (call, when, sentence) => {
  await whileFailing(`${call}:error=EIO:when=${when}`, undefined, ({code, stderr}, {sandbox}) => {
    expect([code, stderr]).toEqual([9, expect.stringMatching(sentence)]);
    expect(readdirSync(sandbox.path('disk'))).not.toContain('out.csv');
  });
});

test('an output device that is full is exit 9 in a sentence', async () => {
  using sandbox = createSandbox();
  sandbox.write('list.csv', ips(3));
  const full = 'run list.csv -o /dev/full --ip ip --endpoint embedded'.split(' ');
  const outcome = await runHere(sandbox, full);
  expect(outcome.code).toBe(9);
  expect(outcome.stderr).toContain('ENOSPC');
  // It is not the disk of the temporary state.
  expect(outcome.stderr).not.toContain('The disk with');
  expect(sandbox.files()).toEqual(['list.csv']);
});

/** Runs the command with what its `flag` names led to a pipe, which a reader takes. */
async function intoPipe(flag: string) {
  using sandbox = createSandbox({'list.csv': `${ips(3)}1.2.3.4,one too many\n`});
  const cwd = sandbox.directory;
  execFileSync('mkfifo', ['pipe'], {cwd});
  const read = promisify(execFile)('cat', ['pipe'], {cwd});
  const run = `'${process.execPath}' '${bin}' run list.csv --ip ip --endpoint embedded --quiet ${flag}`;
  const {stdout: said} = await promisify(execFile)('sh', ['-c', `${run} /dev/fd/3 3>pipe; echo "exit $?"`], {
    cwd,
  });
  return {said, read: (await read).stdout, isPipe: statSync(sandbox.path('pipe')).isFIFO()};
}

test.each(['-o', '--summary', '--rejects'])(
  '%s may be a pipe that it was started with, which is written to and never replaced',
  async flag => {
    const {said, read, isPipe} = await intoPipe(flag);
    expect([said, isPipe]).toEqual(['exit 3\n', true]);
    if (flag === '-o') return expect(read.trimEnd().split('\n')).toHaveLength(4);
    const wanted = flag === '--summary' ? {rows: {rejected: 1}} : {reason: expect.any(String), line: 5};
    expect(JSON.parse(read)).toMatchObject(wanted);
  },
);

test('a run whose reader takes nothing ends at a signal', async () => {
  await using arena = await openArena();
  const {sandbox, api, env} = arena;
  const [, ...rows] = ips(300).trimEnd().split('\n');
  // More than a pipe holds.
  sandbox.write('list.csv', `ip,note\n${rows.map(ip => `${ip},${'-'.repeat(4_000)}\n`).join('')}`);
  const run = sandbox.start(['run', 'list.csv', '-o', '-', '--ip', 'ip', '--rate', 'unlimited'], {env});
  run.child.stdout?.pause();
  await until(() => api.ledger.calls === rows.length);
  const ended = new Promise(resolve => run.child.once('exit', resolve));
  run.kill('SIGTERM');
  expect(await ended).toBe(143);
  run.child.stdout?.resume();
  await run.outcome;
});
