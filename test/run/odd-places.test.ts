import {chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync} from 'node:fs';
import {expect, test} from 'vitest';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {ips, openStage} from '../support/stage.ts';
import {until} from '../support/until.ts';

const settings = {ip: 'ip'};
const isRoot = process.geteuid?.() === 0;

test('a pipe or device that is named as a result is never read', async () => {
  using sandbox = createSandbox({'list.csv': ips(3)});
  const args = ['run', 'list.csv', '--ip', 'ip', '--endpoint', 'embedded'];
  const run = () => runHere(sandbox, [...args, '--summary', '/dev/zero', '--metrics', '/dev/zero']);
  expect((await run()).code).toBe(0);
  // A device does not tell what made the output.
  expect(await run()).toMatchObject({code: 2, errorCode: 'output_exists'});
});

test.runIf(existsSync('/proc/self'))(
  'a place that can not be made is an error, and not waited for',
  async () => {
    using sandbox = createSandbox({'list.csv': ips(3)});
    const args = ['run', 'list.csv', '--ip', 'ip', '--endpoint', 'embedded', '-o', '/proc/out.csv'];
    expect(await runHere(sandbox, args)).toMatchObject({code: 9, errorCode: 'state_unwritable'});
  },
);

test.runIf(isRoot)("another user's directory of the output is answered by advice that helps", async () => {
  await using stage = await openStage({list: ips(3)});
  mkdirSync(stage.path('out.csv.run'));
  chownSync(stage.path('out.csv.run'), 1234, 1234);
  symlinkSync('out.csv.run', stage.path('other.csv.run'));
  for (const output of ['out.csv', 'other.csv']) {
    const ended = await stage.run({...settings, output});
    expect(ended).toMatchObject({
      code: 9,
      errorCode: 'state_not_private',
      message: expect.stringContaining('-o'),
    });
    expect(ended.message).not.toContain('--state');
  }
  expect((await stage.run({...settings, output: 'third.csv'})).code).toBe(0);
  expect(readFileSync(stage.path('third.csv'), 'utf8').split('\n')).toHaveLength(5);
});

test.each([
  ['moved', (from: string, to: string) => renameSync(from, to), true],
  ['removed', (from: string) => rmSync(from, {recursive: true}), false],
])(
  'a directory that is %s while the run writes there is told of, and nothing is said to be safe there',
  async (_, change, isKept) => {
    await using stage = await openStage({list: ips(40)});
    mkdirSync(stage.path('d'));
    const args = ['run', stage.path('list.csv'), '-o', stage.path('d/out.csv'), '--ip', 'ip', '--no-store'];
    const {env} = stage;
    using sandbox = createSandbox();
    // The driver keeps a file that was moved locked for as long as its process lives.
    const slow = [...args, '--rate', '100/s'];
    const ended = isKept ? sandbox.run(slow, {env}) : runHere(sandbox, slow, {env});
    await until(() => stage.api.ledger.calls > 4);
    change(stage.path('d'), stage.path('e'));
    const {code, stderr} = await ended;
    expect([code, stderr]).toEqual([10, expect.stringContaining('out.csv.run/output.partial is gone')]);
    expect(stderr).not.toContain('Safe:');
    if (!isKept) return;
    renameSync(stage.path('e'), stage.path('d'));
    const again = await runHere(sandbox, args, {env});
    expect([again.code, again.stderr]).toEqual([0, expect.any(String)]);
    expect(stage.api.ledger.repeated()).toEqual([]);
  },
);

test.each(['http:x', 'file:st', 'libsql:o'])('a name such as %s is a path', async name => {
  using sandbox = createSandbox();
  sandbox.write(`${name}.csv`, ips(3));
  const args = ['run', `${name}.csv`, '--ip', 'ip', '--endpoint', 'embedded', '-o', `${name}.out.csv`];
  for (const more of [
    ['--store', `${name}.store`],
    ['--state', `${name}.state`, '--force'],
  ])
    expect(await runHere(sandbox, [...args, ...more])).toMatchObject({code: 0});
});
