import fs, {mkdirSync, readdirSync, writeFileSync} from 'node:fs';
import {syncBuiltinESMExports} from 'node:module';
import {resolve} from 'node:path';
import Database from 'libsql';
import {afterEach, beforeEach, expect, test, vi} from 'vitest';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {lacks} from '../support/real-parts.ts';
import {ips, openStage} from '../support/stage.ts';
import {tracedNode} from '../support/strace.ts';

/** SQLite says of every file below this that it is busy, as it does where locking fails with ENOLCK. */
let bare: string | undefined;

/** The path of each database is the one that was looked at just before: the driver does not tell it. */
const looked = {at: ''};
const paths = new WeakMap<Database.Database, string>();
const real = {openSync: fs.openSync, existsSync: fs.existsSync};

beforeEach(() => {
  const noting =
    <Args extends [path: fs.PathLike, ...unknown[]], Result>(work: (...args: Args) => Result) =>
    (...args: Args) => {
      looked.at = String(args[0]);
      return work(...args);
    };
  Object.assign(fs, {openSync: noting(real.openSync), existsSync: noting(real.existsSync)});
  syncBuiltinESMExports();
  const refuse = (db: Database.Database) => {
    const path = paths.get(db) ?? looked.at;
    paths.set(db, path);
    if (bare !== undefined && resolve(path).startsWith(bare))
      throw Object.assign(new Error('database is locked'), {code: 'SQLITE_BUSY'});
  };
  const {exec, pragma} = Database.prototype;
  vi.spyOn(Database.prototype, 'exec').mockImplementation(function (this: Database.Database, sql) {
    refuse(this);
    return exec.call(this, sql);
  });
  vi.spyOn(Database.prototype, 'pragma').mockImplementation(function (this: Database.Database, sql) {
    if (!sql.startsWith('busy_timeout')) refuse(this);
    else paths.set(this, looked.at);
    return pragma.call(this, sql);
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  Object.assign(fs, real);
  syncBuiltinESMExports();
  bare = undefined;
});

test.each([
  ['a new output', false],
  ["a killed run's holder", true],
])(
  'a file system without locks is no other run, with %s: exit 9, and --state on a local disk helps',
  async (_, isLeft) => {
    await using stage = await openStage();
    stage.write('list.csv', ips(3));
    mkdirSync(stage.path('nfs'));
    bare = stage.path('nfs');
    if (isLeft) {
      mkdirSync(stage.path('nfs/out.csv.run'), {mode: 0o700});
      writeFileSync(stage.path('nfs/out.csv.run/holder.json'), '{"pid":7,"host":"web1","since":"yesterday"}');
    }
    const job = {ip: 'ip', output: 'nfs/out.csv'};
    const refused = {code: 9, errorCode: 'no_locks'};
    const message = expect.stringContaining('--state DIR');
    expect(await stage.run(job)).toMatchObject({...refused, message});
    const left = isLeft ? ['out.csv.run'] : [];
    expect(readdirSync(bare)).toEqual([...left, 'out.summary.json']);
    const [state, onNfs] = [stage.path('state'), stage.path('nfs/state')];
    expect((await stage.stopAt(2, {...job, state})).code).toBe(130);
    // By its directory, the next night knows an unfinished run.
    expect(readdirSync(bare)).toContain('out.csv.run');
    expect(await stage.run({...job, state: onNfs})).toMatchObject(refused);
    expect(await stage.run({...job, state})).toMatchObject({code: 0, summary: {rows: {written: 3}}});
    expect(readdirSync(bare)).toEqual(['out.csv', 'out.summary.json']);
    expect(stage.api.ledger.repeated()).toEqual([]);
  },
);

// A locked store is waited for, for longer than this test may take.
test('a store there costs a warning and no time; an account without a place for its count ends the run', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(3));
  bare = stage.path('nfs');
  mkdirSync(bare);
  const {code, warnings} = await stage.run({ip: 'ip', store: bare});
  expect([code, warnings]).toEqual([0, [expect.stringContaining('ENOLCK, its file system has no locks')]]);
  stage.account('a.yaml', 'endpoint: URL\nmax_credits_per_day: 9\n');
  const ended = await stage.run({ip: 'ip', output: 'b.csv'}, {env: {XDG_STATE_HOME: bare}});
  const message = expect.stringContaining('ENOLCK');
  expect(ended).toMatchObject({code: 9, errorCode: 'daily_budget', message});
});

test('doctor takes a lock, as the run does', async () => {
  using sandbox = createSandbox();
  mkdirSync(sandbox.path('nfs'));
  bare = sandbox.path('nfs');
  const doctor = async (flags: string) => {
    const {code, stdout} = await runHere(sandbox, `doctor --endpoint embedded --json ${flags}`);
    const {checks} = JSON.parse(stdout) as {checks: {name: string; state: string; detail: string}[]};
    return [code, checks.find(({name}) => name === 'state')?.detail];
  };
  expect(await doctor('-o nfs/out.csv')).toEqual([9, expect.stringContaining('has no locks (ENOLCK)')]);
  mkdirSync(sandbox.path('nfs/out.csv.run'));
  writeFileSync(sandbox.path('nfs/out.csv.run/lock.db'), '');
  expect(await doctor('-o nfs/out.csv')).toEqual([9, expect.stringContaining('has no locks (ENOLCK)')]);
  expect((await doctor(`-o nfs/out.csv --state ${sandbox.path('state')}`))[0]).toBe(0);
  expect(readdirSync(bare)).toEqual(['out.csv.run']);
});

test.skipIf(lacks('strace'))('the system says ENOLCK: SQLite calls it busy, the run does not', async () => {
  using sandbox = createSandbox();
  sandbox.write('list.csv', ips(3));
  const args = ['run', 'list.csv', '-o', 'out.csv', '--ip', 'ip', '--endpoint', 'embedded', '--no-store'];
  const traced = tracedNode(sandbox, 'fcntl');
  expect((await sandbox.run(args, {node: traced.node})).code).toBe(0);
  const [head = '', ...lines] = traced.log();
  const calls = [head, ...lines].filter(line => line.startsWith(String(Number.parseInt(head, 10))));
  const first = calls.findIndex(line => line.includes('F_SETLK')) + 1;
  expect(first).toBeGreaterThan(0);
  const {node} = tracedNode(sandbox, 'fcntl', `fcntl:error=ENOLCK:when=${first}+`);
  // Node itself fails at its end, where it can't set a terminal back.
  const {stderr} = await sandbox.run([...args, '--force'], {node});
  expect(stderr).toContain('has no locks (ENOLCK)');
});
