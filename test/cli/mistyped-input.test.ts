import {execFileSync} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {expect, test, vi} from 'vitest';
import {bin, createSandbox, type Sandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';

/** Tells at its end which of the packages were loaded that only a run needs. */
const WITNESS = `process.on('exit', () => {
  const loaded = ['libsql', 'got', 'cel-js'].filter(name => Object.keys(require.cache).some(path => path.includes(name)));
  require('node:fs').writeFileSync('loaded.json', JSON.stringify(loaded));
});`;

async function runWith(sandbox: Sandbox, list: string) {
  sandbox.write('witness.cjs', WITNESS);
  const env = {NODE_OPTIONS: '--require ./witness.cjs'};
  const args = `run ${list} --ip ip --endpoint embedded -o out.csv`.split(' ');
  const {code, stderr} = await sandbox.run(args, {env});
  return {code, stderr, loaded: JSON.parse(sandbox.read('loaded.json')) as string[]};
}

test('a list that is missing is named before the run is loaded', async () => {
  using sandbox = createSandbox({'signups.csv': 'ip\n192.0.2.1\n'});
  const mistyped = await runWith(sandbox, 'signup.csv');
  const stderr = expect.stringContaining('Did you mean "signups.csv"?');
  expect(mistyped).toEqual({code: 8, stderr, loaded: []});
  expect((await runWith(sandbox, 'signups.csv')).loaded).toContain('libsql');
});

test.runIf(process.platform === 'linux')('a list whose name is not UTF-8: the message says so', async () => {
  using sandbox = createSandbox();
  const name = Buffer.from(`${sandbox.directory}/caf\xe9.csv`, 'latin1');
  writeFileSync(name, 'ip\n192.0.2.1\n');
  // The shell passes the name's bytes on; a pattern in quotes is expanded by the command.
  const line = '"$0" "$1" run caf*.csv --ip ip --endpoint embedded -o out.csv 2>&1; echo "exit $?"';
  const said = execFileSync('sh', ['-c', line, process.execPath, bin], {
    cwd: sandbox.directory,
    env: {HOME: sandbox.home},
    encoding: 'utf8',
  });
  expect(said).toMatch(/its name is not UTF-8.*exit 8\n$/s);
  expect(await runHere(sandbox, 'run caf*.csv --ip ip --endpoint embedded -o out.csv')).toMatchObject({
    code: 8,
    stderr: expect.stringContaining('its name is not UTF-8'),
  });
});

test.each([
  [
    'signups-2026-02-01.csv',
    /its name has the day in UTC\. The list of the local day is there \(\S*signups-2026-02-01\.csv\): .*--date 2026-02-01/,
  ],
  [
    'signins-2026-01-31.csv',
    /signups-2026-01-31\.csv does not exist \(looked for in \S+; its name has the day in UTC\)/,
  ],
  ['signups-2026-01-31.csv.run/ledger.db', /signups-2026-01-31\.csv does not exist \(looked for in/],
])('a list of the day before midnight UTC, with %s beside it', async (other, told) => {
  using sandbox = createSandbox();
  sandbox.write(other, 'ip\n192.0.2.1\n');
  vi.useFakeTimers({now: Date.parse('2026-01-31T20:00:00Z'), toFake: ['Date']});
  try {
    const {code, stderr} = await runHere(
      sandbox,
      'run signups-{date}.csv -o out.csv --ip ip --endpoint embedded',
    );
    const said = stderr.replaceAll('\n', ' ');
    expect([code, said]).toEqual([8, expect.stringMatching(told)]);
    expect(said).not.toMatch(/Did you mean|\.run/);
  } finally {
    vi.useRealTimers();
  }
});
