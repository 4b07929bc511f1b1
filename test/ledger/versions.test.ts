import {cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {gunzipSync} from 'node:zlib';
import Database from 'libsql';
import {describe, expect, test} from 'vitest';
import {Sqlite} from '../../src/ledger/sqlite.ts';
import {createSandbox, filesUnder, type Sandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';

/** What each version left behind that changed one of these files; `make.mjs` there says how. */
const fixtures = fileURLToPath(new URL('fixtures', import.meta.url));
const versions = readdirSync(fixtures, {withFileTypes: true}).filter(entry => entry.isDirectory());

/** Puts those of a version's files that match where today's would be. */
function leftBy(version: string, which: RegExp): Sandbox {
  const sandbox = createSandbox();
  sandbox.write(
    '../home/config/bulk-enrich/accounts/a.yaml',
    'endpoint: embedded\nmax_credits_per_day: 1000\n',
  );
  for (const name of ['job.yaml', 'list.csv']) cpSync(join(fixtures, name), sandbox.path(name));
  for (const name of readdirSync(join(fixtures, version)).filter(one => which.test(one))) {
    const path = name.replace('.gz', '').replaceAll('__', '/');
    const to = /^(cache|state)\//.test(path) ? join(sandbox.home, path) : sandbox.path(path);
    mkdirSync(dirname(to), {recursive: true, mode: 0o700});
    writeFileSync(to, gunzipSync(readFileSync(join(fixtures, version, name))), {mode: 0o600});
  }
  return sandbox;
}

const run = (sandbox: Sandbox, ...args: string[]) =>
  runHere(sandbox, ['run', '--job', 'job.yaml', '-o', 'out.csv', ...args]);
const rows = {written: 5};

describe.each(versions.map(({name}) => name))('what %s left behind', version => {
  test('a run in progress goes on, or is refused with what to do, which then works', async () => {
    using sandbox = leftBy(version, /^out\.csv\.run/);
    const args = ['--no-store', '--max-credits', '10'];
    const {code, stderr} = await run(sandbox, ...args);
    expect([0, 10], stderr).toContain(code);
    if (code === 10) {
      expect(stderr).toMatch(
        /^Error: The saved state is of version \d+, this program's is \d+\. .*--restart\.\n$/m,
      );
      const again = await run(sandbox, ...args, '--restart', 'fresh');
      expect(again.code, again.stderr).toBe(0);
    }
    const summary = sandbox.summary('out.summary.json');
    expect(summary).toMatchObject({rows, resumed: {times: code === 10 ? 0 : 1}});
    expect(summary.credits.spent).toBe(5);
  });

  test('its store is used', async () => {
    using sandbox = leftBy(version, /answers\.db/);
    const {code, stderr} = await run(sandbox);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('Warning')]);
  });

  test("its day's credits are taken over", async () => {
    using sandbox = leftBy(version, /credits\.db/);
    const {code, stderr} = await run(sandbox);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('Warning')]);
  });

  test('its history is gone on with', async () => {
    using sandbox = leftBy(version, /history\.ndjson/);
    const {code, stderr} = await run(sandbox);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('Warning')]);
  });
});

/** What a later version may leave behind. */
function fromTheFuture(path: string): void {
  const db = new Sqlite(path, {synchronous: 'NORMAL', busyTimeoutMs: 0});
  db.pragma('user_version = 999');
  db.close();
}

const ofLater = (which: RegExp) => {
  const sandbox = leftBy(versions.at(-1)?.name ?? '', which);
  for (const root of [sandbox.directory, sandbox.home])
    for (const name of filesUnder(root)) {
      if (name.endsWith('.db')) fromTheFuture(join(root, name));
      if (name.endsWith('.ndjson')) writeFileSync(join(root, name), '{"version":999}\n');
    }
  return sandbox;
};

test('a store of a later version is not written to, not even to its header, by no command', async () => {
  using sandbox = leftBy(versions.at(-1)?.name ?? '', /^none/);
  expect((await run(sandbox)).code).toBe(0);
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
    expect((await run(sandbox)).stderr).toMatch(/it is of version 999/);
    for (const command of [['stats'], ['prune'], ['purge', 'jo@example.com']]) {
      const {code, stderr} = await runHere(sandbox, ['store', ...command]);
      expect([code === 0, stderr]).toEqual([false, expect.stringMatching(/it is of version 999/)]);
    }
    expect(readFileSync(path).toString('latin1') === before, mode).toBe(true);
  }
});

test.each([
  ['a run in progress', /^out\.csv\.run/, 10, /^Error: The saved state is of version 999, .*--restart\.\n$/m],
  ['answers', /answers\.db/, 0, /^Warning: The answer store in .* can't be used \(it is of version 999, /m],
  ['credits of the day', /credits\.db/, 9, /^Error: .* \(it is of version 999, .*\)\. Nothing is sent/m],
  ['a history', /history\.ndjson/, 0, /5 rows written/],
])('%s of a later version: a sentence, and nothing is lost', async (_, which, expected, sentence) => {
  using sandbox = ofLater(which);
  const files = () => filesUnder(sandbox.home).filter(name => which.test(name.replaceAll('/', '__')));
  const before = files().map(name => readFileSync(join(sandbox.home, name), 'latin1'));
  const {code, stderr} = await run(sandbox);
  expect(code, stderr).toBe(expected);
  expect(stderr).toMatch(sentence);
  if (!which.test('history.ndjson'))
    expect(files().map(name => readFileSync(join(sandbox.home, name), 'latin1'))).toEqual(before);
});
