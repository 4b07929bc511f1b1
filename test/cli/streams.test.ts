import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {closeSync, openSync} from 'node:fs';
import {expect, test} from 'vitest';
import {bin, createSandbox, type Sandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {ips} from '../support/stage.ts';

type Stdio = 'ignore' | 'pipe' | number;

/** Runs a command whose readers are gone before it writes; the exit code, and what stderr got where it was read. */
async function unread(sandbox: Sandbox, line: string, stdout: Stdio, stderr: 'gone' | 'read') {
  const child = spawn(process.execPath, [bin, ...line.split(' ')], {
    cwd: sandbox.directory,
    env: {PATH: process.env.PATH, HOME: sandbox.home},
    stdio: ['ignore', stdout, 'pipe'],
  });
  let said = '';
  child.stdout?.destroy();
  if (stderr === 'gone') child.stderr?.destroy();
  else child.stderr?.on('data', chunk => (said += chunk));
  const [code] = await once(child, 'close');
  return {code, said};
}

test('a run completes although the reader of its messages is gone', async () => {
  using sandbox = createSandbox({'list.csv': ips(5)});
  const line = 'run list.csv --ip ip --endpoint embedded --log info';
  expect(await unread(sandbox, line, 'ignore', 'gone')).toMatchObject({code: 0});
  expect(sandbox.read('list.enriched.csv').trim().split('\n')).toHaveLength(6);
});

test('a reader of stdout that has seen enough is no error; a full disk is one', async () => {
  using sandbox = createSandbox();
  expect(await unread(sandbox, 'run --help-all', 'pipe', 'read')).toEqual({code: 0, said: ''});
  sandbox.write('list.csv', ips(5));
  // Rows that were not read are lost, unlike the rest of a help.
  const rows = await unread(sandbox, 'run list.csv --endpoint embedded -o -', 'pipe', 'read');
  const said = expect.stringMatching(/^Error: The reader closed the pipe [^\n]*\n$/);
  expect(rows).toEqual({code: 9, said});
  const full = openSync('/dev/full', 'w');
  const outcome = await unread(sandbox, 'run --help', full, 'read');
  closeSync(full);
  expect(outcome).toEqual({code: 9, said: "Error: stdout can't be written (ENOSPC, no space left).\n"});
});

test('rows to stdout: the files beside are those of this run, also after one whose rejects are no more', async () => {
  using sandbox = createSandbox();
  const files = '--summary summary.json --rejects rejects.ndjson';
  const run = (list: string) => {
    sandbox.write('list.csv', list);
    return runHere(sandbox, `run list.csv -o - --endpoint embedded --ip ip --force ${files}`);
  };
  await run('ip,note\n192.0.2.1,a\n192.0.2.2,b\n192.0.2.3,c,d\n');
  expect(sandbox.read('rejects.ndjson')).toContain('192.0.2.3');
  const {stdout} = await run('ip,note\n192.0.2.1,a\n');
  expect(stdout.trim().split('\n')).toHaveLength(2);
  expect(sandbox.files()).not.toContain('rejects.ndjson');
  expect(sandbox.summary('summary.json')).toMatchObject({rows: {written: 1, rejected: 0}, rejects: null});
});

test('rows at a terminal steer it no more than messages do', async () => {
  using sandbox = createSandbox({'list.csv': 'ip,note\n192.0.2.1,a\u001b]0;pwned\u0007b\u009b2Jc\n'});
  const {isTTY} = process.stdout;
  process.stdout.isTTY = true;
  const ended = runHere(sandbox, 'run list.csv --ip ip --endpoint embedded -o -', {isTerminal: true});
  const {code, stdout} = await ended.finally(() => {
    process.stdout.isTTY = isTTY;
  });
  expect(code).toBe(0);
  expect(stdout).toContain('192.0.2.1,abc,');
  expect(stdout).not.toMatch(/pwned|\u009b/);
});

test('in GitHub Actions rows on stdout command nothing, and the annotation after them is obeyed', async () => {
  using sandbox = createSandbox({
    'list.csv':
      'note,ip\n::add-mask::x,192.0.2.1\n"a\n::error::pwned ##[add-path]x",192.0.2.1\n::one,two,many\n',
  });
  const step = async (line: string) =>
    obeyed((await runHere(sandbox, line, {env: {GITHUB_ACTIONS: 'true'}})).log);
  expect(await step('run list.csv --ip ip --endpoint embedded -o - --rejects r.ndjson')).toEqual([
    expect.stringMatching(/^::warning title=bulk-enrich/),
  ]);
  expect(await step('rejects r.ndjson')).toEqual([]);
});

/** The lines of a log that the runner takes for commands. */
function obeyed(log: string): string[] {
  let token: string | undefined;
  return log.split('\n').filter(line => {
    const [, stopped] = /^::stop-commands::(.+)$/.exec(line) ?? [];
    if (token !== undefined) {
      if (line === `::${token}::`) token = undefined;
      return false;
    }
    token = stopped;
    return stopped === undefined && /^\s*::|##\[/.test(line);
  });
}
