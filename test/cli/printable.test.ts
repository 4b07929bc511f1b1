import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import stringWidth from 'string-width';
import {expect, test} from 'vitest';
import {createPainter, escapeControls} from '../../src/cli/terminal/printable.ts';
import {UsageError} from '../../src/errors.ts';
import {escapeJsonControls} from '../../src/report/format.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';

const ESCAPE = '\u001B';

test.each([
  [`a${ESCAPE}[2Jb${ESCAPE}]0;title\u0007c${ESCAPE}[31;1md`, 'abcd'],
  ['a\u009b2Jb\u0008\u0007\rc\u007f\ud800', 'abc\ud800'],
  ['one\ttwo\nthree é 名', 'one\ttwo\nthree é 名'],
  ['a::b\n::error::c\n \t::set-output name=x::d\n:', 'a::b\n: :error::c\n \t: :set-output name=x::d\n:'],
  ['a ##[error]b ##vso[task.x]c # ## [d]', 'a ## [error]b ## vso[task.x]c # ## [d]'],
  [`:${ESCAPE}[31;1m:error::x\r::error::y`, ': :error::x::error::y'],
])('%j is printed as %j', (text, expected) => {
  expect(escapeControls(text)).toBe(expected);
});

test.each<[string, boolean, Record<string, string>, boolean]>([
  ['a terminal', true, {TERM: 'xterm-256color'}, true],
  ['a terminal that does not say what it is', true, {}, true],
  ['a pipe or a file', false, {TERM: 'xterm-256color'}, false],
  ['a terminal that knows nothing', true, {TERM: 'dumb'}, false],
  ['NO_COLOR, whatever it holds', true, {NO_COLOR: '0'}, false],
  ['NO_COLOR that is empty, which says nothing', true, {NO_COLOR: ''}, true],
  ['a terminal of a CI runner', true, {CI: 'true'}, true],
  ['a pipe, but asked for', false, {FORCE_COLOR: '1'}, true],
  ['a terminal, but asked for none', true, {FORCE_COLOR: '0'}, false],
  ['both asked for: none', true, {NO_COLOR: '1', FORCE_COLOR: '1'}, false],
])('colours for %s', (_, isTTY, env, expected) => {
  const shown = escapeControls(createPainter({isTTY}, env)('red', 'Error:'));
  expect(shown).toBe(expected ? `${ESCAPE}[31mError:${ESCAPE}[39m` : 'Error:');
});

test('our own colours are printed and take no room; those in others’ texts are not', () => {
  const own = createPainter({isTTY: true}, {})('red', 'Error:');
  expect(stringWidth(own)).toBe(6);
  expect(escapeControls(`${own} a${ESCAPE}[2J${ESCAPE}[31mb\u202e`)).toBe(
    `${ESCAPE}[31mError:${ESCAPE}[39m ab`,
  );
});

test('JSON says the same, and steers nothing', () => {
  const value = {a: 'x\u009b2J\u007f##[add-mask]##vso[y]', b: '::error::c'};
  const text = escapeJsonControls(JSON.stringify(value));
  expect(JSON.parse(text)).toEqual(value);
  expect(text).not.toMatch(/\p{Cc}|##[[v]/u);
});

test('an error is one line, whatever it quotes', () => {
  expect(new UsageError('row', 'The file a\r\n::error::b\u2028c\u001b[2J is missing.\n').message).toBe(
    'The file a ::error::b c is missing.',
  );
});

test('nothing but print writes to stdout and stderr', () => {
  const writers = readdirSync('src', {recursive: true, encoding: 'utf8'}).filter(
    name =>
      name.endsWith('.ts') &&
      /\b(stdout|stderr)\b\]?\.write\(|\bconsole\.(log|info|error|debug|table|dir)\(/.test(
        readFileSync(join('src', name), 'utf8').replace(/^\s*\*.*$/gm, ''),
      ),
  );
  expect(writers).toEqual(['cli/terminal/printable.ts']);
});

/** A stranger's name of a column, a file or an answer. */
const STRANGE = `${ESCAPE}[2J\u009b2Jx\n::error::pwned\n##[error]pwned`;

test('names of columns and files, answers and flags reach neither a terminal nor a CI log as they are', async () => {
  using sandbox = createSandbox();
  const file = `${STRANGE}.csv`;
  sandbox.write(file, `"${STRANGE}","${STRANGE}2",email\n192.0.2.1,,a@example.com\n`);
  sandbox.write(`${STRANGE}.yaml`, `a: 1\nb: [1\n`);
  sandbox.write('job.yaml', `input: "x"\nendpoint: embedded\n? ${JSON.stringify(STRANGE)}\n: 5\n`);
  const run = ['run', file, '--email', 'email', '--ip', STRANGE, '--endpoint', 'embedded'];
  const told = ['-o', 'out.csv', '--report', 'out.md', '--log', 'trace'];
  const commands = [
    [...run, ...told],
    [...run, ...told],
    [...run, '-o', '-', '--where', STRANGE],
    [...run, '--country', STRANGE],
    [...run, '--metrics', `${STRANGE}/out`],
    ['plan', ...run.slice(1)],
    ['plan', ...run.slice(1), '--json'],
    ['run', '--job', `${STRANGE}.yaml`],
    ['run', '--job', 'job.yaml'],
    ['run', `none${STRANGE}`, '-o', 'x.csv'],
    ['init', file, '-o', `${STRANGE}job.yaml`],
    ['explain', file, '--row', '1'],
    ['explain', file, '--row', STRANGE],
    ['doctor', '--json', '-o', `${STRANGE}/out.csv`],
    ['store', 'stats', '--store', STRANGE],
    ['serve', '--rules', STRANGE],
    [STRANGE],
    ['run', `--${STRANGE}`],
    ['lookup', STRANGE, 'x'],
  ];
  const texts: string[] = [];
  for (const args of commands) {
    const {stdout, stderr} = await runHere(sandbox, args, {env: {GITHUB_ACTIONS: 'true'}});
    for (const text of [stdout, stderr]) {
      expect(text, JSON.stringify(args)).not.toMatch(/(?![\n\t])\p{Cc}|##[[v]/u);
      for (const line of text.split('\n'))
        if (/^\s*::/.test(line))
          expect(line).toMatch(
            /^::((error|warning|notice) title=bulk-enrich[^:]*::|stop-commands::|[0-9a-f-]{36}::$)/,
          );
    }
    texts.push(stderr);
  }
  expect(texts.join('')).toContain('pwned');
  expect(texts[0]).toContain(' written to out.csv.');
  for (const name of ['out.md', 'out.summary.json'])
    expect(sandbox.read(name)).not.toMatch(/(?![\n\t])\p{Cc}|^\s*::/mu);
});

const HOSTILE = `${ESCAPE}]0;title\u0007na${ESCAPE}[2Jme`;

test('names of columns steer no terminal, and columns of wide characters are aligned', async () => {
  using sandbox = createSandbox({
    'list.csv': `${HOSTILE},名前,email\n192.0.2.1,+12025550100,a@example.com\n`,
  });
  const columns = ['--ip', HOSTILE, '--phone', '名前', '--email', 'email'];
  const args = ['list.csv', ...columns, '--endpoint', 'embedded', '--force'];
  const plan = await runHere(sandbox, ['plan', ...args]);
  expect(plan.stdout).toContain(
    '  ip     "name"   named\n  phone  "名前"   named\n  email  "email"  named\n',
  );
  const run = await runHere(sandbox, ['run', ...args]);
  const told = expect.stringContaining('Looking up "name" (IP), 名前 (phone), email');
  expect([run.code, run.stderr]).toEqual([0, told]);
  const wrong = await runHere(sandbox, ['run', ...args, '--country', `x${HOSTILE}`]);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('no column "xname"')]);
  for (const {stdout, stderr} of [plan, run, wrong]) expect(stdout + stderr).not.toContain(ESCAPE);
});
