import {styleText} from 'node:util';
import {expect, test} from 'vitest';
import {printable} from '../../src/cli/terminal/printable.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';

const ESCAPE = '\u001B';

test.each([
  [`a${ESCAPE}[2Jb${ESCAPE}]0;title\u0007c${ESCAPE}[31;1md`, 'abcd'],
  ['a\u009b2Jb\u0008\u0007\rc\u007f\ud800', 'abc\ud800'],
  ['one\ttwo\nthree é 名', 'one\ttwo\nthree é 名'],
])('%j is printed as %j', (text, expected) => {
  expect(printable(text)).toBe(expected);
});

test('our own colours are printed', () => {
  const text = styleText('red', 'Error:', {validateStream: false});
  expect(printable(`${text} a${ESCAPE}[2J`)).toBe(`${text} a`);
});

const HOSTILE = `${ESCAPE}]0;title\u0007na${ESCAPE}[2Jme`;

test('names of columns steer no terminal, and columns of wide characters are aligned', async () => {
  using sandbox = createSandbox();
  sandbox.write('list.csv', `${HOSTILE},名前,email\n192.0.2.1,+12025550100,a@example.com\n`);
  const columns = ['--ip', HOSTILE, '--phone', '名前', '--email', 'email'];
  const args = ['list.csv', ...columns, '--endpoint', 'embedded', '--force'];
  const plan = await runHere(sandbox, ['plan', ...args]);
  expect(plan.stdout).toContain(
    '  ip     "name"   named\n  phone  "名前"   named\n  email  "email"  named\n',
  );
  const run = await runHere(sandbox, ['run', ...args]);
  expect([run.code, run.stderr]).toEqual([0, expect.stringContaining('about ip in name,')]);
  const wrong = await runHere(sandbox, ['run', ...args, '--country', `x${HOSTILE}`]);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('no column "xname"')]);
  for (const {stdout, stderr} of [plan, run, wrong]) expect(stdout + stderr).not.toContain(ESCAPE);
});
