import {execFileSync} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {bin, createSandbox, type Sandbox} from '../support/command.ts';

/** Tells at its end which of the packages were loaded that only a run needs. */
const WITNESS = `process.on('exit', () => {
  const loaded = ['libsql', 'got', 'cel-js'].filter(name => Object.keys(require.cache).some(path => path.includes(name)));
  require('node:fs').writeFileSync('loaded.json', JSON.stringify(loaded));
});`;

async function runWith(sandbox: Sandbox, list: string, ...more: readonly string[]) {
  sandbox.write('witness.cjs', WITNESS);
  const env = {NODE_OPTIONS: '--require ./witness.cjs'};
  const args = ['run', list, '--ip', 'ip', '--endpoint', 'embedded', '-o', 'out.csv', ...more];
  const {code, stderr} = await sandbox.run(args, {env});
  return {code, stderr, loaded: JSON.parse(sandbox.read('loaded.json')) as string[]};
}

test('a list that is missing is named before the run is loaded', async () => {
  using sandbox = createSandbox();
  sandbox.write('signups.csv', 'ip\n192.0.2.1\n');
  const mistyped = await runWith(sandbox, 'signup.csv');
  expect(mistyped).toEqual({
    code: 8,
    stderr: expect.stringContaining('Did you mean "signups.csv"?'),
    loaded: [],
  });
  expect((await runWith(sandbox, 'signups.csv')).loaded).toContain('libsql');
});

test('a similar name is looked for in the folder of the missing list', async () => {
  using sandbox = createSandbox();
  sandbox.write('lists/signups.csv', 'ip\n192.0.2.1\n');
  sandbox.write('signup.csv', 'ip\n192.0.2.1\n');
  const {code, stderr} = await sandbox.run([
    'run',
    'lists/signup.csv',
    '--ip',
    'ip',
    '--endpoint',
    'embedded',
  ]);
  expect(code).toBe(8);
  expect(stderr).toContain('Did you mean "lists/signups.csv"?');
});

test("last month's list is not suggested for this month's", async () => {
  using sandbox = createSandbox();
  sandbox.write('signups-2026-10.csv', 'ip\n192.0.2.1\n');
  const missing = ['run', 'signups-2026-11.csv', '--ip', 'ip', '--endpoint', 'embedded'];
  const {code, stderr} = await sandbox.run(missing);
  expect(code).toBe(8);
  expect(stderr).toContain('signups-2026-11.csv does not exist (looked for in');
  expect(stderr).not.toContain('signups-2026-10.csv');
});

test('metrics hear of a list that is missing', async () => {
  using sandbox = createSandbox();
  const {code} = await runWith(sandbox, 'signups.csv', '--metrics', 'run.prom');
  expect(code).toBe(8);
  expect(sandbox.read('run.prom')).toContain('8');
});

test.runIf(process.platform === 'linux')('a list whose name is not UTF-8: the message says so', () => {
  using sandbox = createSandbox();
  const name = Buffer.concat([
    Buffer.from(`${sandbox.directory}/caf`),
    Buffer.from([0xe9]),
    Buffer.from('.csv'),
  ]);
  writeFileSync(name, 'ip\n192.0.2.1\n');
  // The shell passes the name's bytes on; the second pattern is expanded by the command.
  for (const list of ['caf*.csv', '"caf*.csv"']) {
    const line = `"$0" "$1" run ${list} --ip ip --endpoint embedded -o out.csv 2>&1; echo "exit $?"`;
    const said = execFileSync('sh', ['-c', line, process.execPath, bin], {
      cwd: sandbox.directory,
      env: {HOME: sandbox.home},
      encoding: 'utf8',
    });
    expect(said).toContain('its name is not UTF-8');
    expect(said).toMatch(/exit 8\n$/);
  }
});
