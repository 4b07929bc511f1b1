import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import Database from 'libsql';
import {expect, test} from 'vitest';
import {Sqlite} from '../../src/disk/sqlite.ts';
import {createSandbox, filesUnder, type Sandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {ips} from '../support/stage.ts';

const settings = {input: 'list.csv', endpoint: 'embedded', ip: 'ip', score: 'none', rate: 'unlimited'};
const JOB = JSON.stringify({name: 'versions', ...settings, force: true});

const run = (sandbox: Sandbox, ...args: string[]) =>
  runHere(sandbox, ['run', '--job', 'job.yaml', '-o', 'out.csv', ...args]);

/** The files of a run that completed, or with `isStopped`, that stopped at its limit. */
async function leftBehind(isStopped = false): Promise<Sandbox> {
  const sandbox = createSandbox();
  const account = 'endpoint: embedded\nmax_credits_per_day: 1000\n';
  sandbox.write('../home/config/bulk-enrich/accounts/a.yaml', account);
  sandbox.write('job.yaml', JOB);
  sandbox.write('list.csv', ips(5));
  expect((await run(sandbox, '--limit', '2')).code).toBe(0);
  if (isStopped) expect((await run(sandbox, '--no-store', '--max-credits', '3')).code).toBe(7);
  return sandbox;
}

/** Files as a later version may leave them. */
function fromTheFuture(path: string): void {
  const db = new Sqlite(path, {synchronous: 'NORMAL', busyTimeoutMs: 0});
  db.pragma('user_version = 999');
  db.close();
}

const filesOf = ({home, directory}: Sandbox, which: RegExp) => {
  const all = [home, directory].flatMap(root => filesUnder(root).map(name => join(root, name)));
  return all.filter(path => which.test(path));
};

test('a store of a later version is not written to, not even to its header, by no command', async () => {
  using sandbox = await leftBehind();
  const path = join(sandbox.home, 'cache/bulk-enrich/answers.db');
  const later = (mode: string) => {
    fromTheFuture(path);
    const db = new Database(path);
    db.pragma(`journal_mode = ${mode}`);
    db.close();
    return readFileSync(path).toString('latin1');
  };
  for (const mode of ['DELETE', 'WAL']) {
    const before = later(mode);
    expect((await run(sandbox)).stderr).toMatch(/it has version 999/);
    for (const command of [['stats'], ['prune'], ['purge', 'jo@example.com']]) {
      const {code, stderr} = await runHere(sandbox, ['store', ...command]);
      expect([code === 0, stderr]).toEqual([false, expect.stringMatching(/it has version 999/)]);
    }
    expect(readFileSync(path).toString('latin1') === before, mode).toBe(true);
  }
});

const refusal =
  /^Error: The saved state can't be used \(it has version 999; .*--restart to the command once\.\n$/m;

test.each([
  ['a run in progress', /ledger\.db$/, 10, refusal],
  ['answers', /answers\.db$/, 0, /^Warning: The answer store in .* can't be used \(it has version 999; /m],
  ['credits of the day', /credits\.db$/, 9, /^Error: .* \(it has version 999; .*\)\. Nothing is sent/m],
])('%s of a later version: a sentence, and nothing is lost', async (_, which, expected, sentence) => {
  using sandbox = await leftBehind(expected === 10);
  const files = filesOf(sandbox, which);
  files.forEach(fromTheFuture);
  const before = files.map(path => readFileSync(path, 'latin1'));
  const {code, stderr} = await run(sandbox, ...(expected === 10 ? ['--max-credits', '9'] : []));
  expect(code, stderr).toBe(expected);
  expect(stderr).toMatch(sentence);
  expect(before).not.toEqual([]);
  // SQLite may move its log into the ledger, whose rows stay.
  if (expected !== 10) expect(files.map(path => readFileSync(path, 'latin1'))).toEqual(before);
});
