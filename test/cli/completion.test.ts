import {execFileSync} from 'node:child_process';
import {describe, expect, it, test} from 'vitest';
import {intelligenceNames} from '../../src/operations/table.ts';
import {bin, createSandbox} from '../support/command.ts';
import {canOpenTerminal, openTerminal} from '../support/terminal.ts';

it.each(['bash', 'zsh', 'fish'])(
  'completion for %s knows every command, and flags from the schema',
  async shell => {
    using sandbox = createSandbox();
    const {code, stdout} = await sandbox.run(['completion', shell]);
    expect(code).toBe(0);
    for (const word of ['plan', 'lookup', 'verify', 'serve', 'purge', 'max-credits'])
      expect(stdout).toContain(word);
  },
);

it('completion for another shell is a usage error', async () => {
  using sandbox = createSandbox();
  expect(await sandbox.run(['completion', 'tcsh'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('fish'),
  });
});

describe('in bash', () => {
  const script = execFileSync(process.execPath, [bin, 'completion', 'bash'], {encoding: 'utf8'});
  const completed = (...words: readonly string[]) => {
    using sandbox = createSandbox();
    const ask = `${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bulk_enrich; echo "\${COMPREPLY[*]}"`;
    const args = ['-c', ask, 'bash', 'bulk-enrich', ...words];
    return execFileSync('bash', args, {cwd: sandbox.directory, encoding: 'utf8'}).trim();
  };

  test.each([
    [['ru'], 'run runs'],
    [['spend', '--by', ''], 'day job operation'],
    [['run', '--max-c'], '--max-credits'],
    [['run', '--endpoint', ''], 'embedded live'],
    [['run', '--output-format', 'nd'], 'ndjson'],
    [['cache', 'p'], 'prune purge'],
    [['cache', 'purge', '--def'], '--default-country'],
    [['fleet', ''], 'status'],
    [['lookup', ''], intelligenceNames.join(' ')],
    [['completion', ''], 'bash zsh fish'],
  ])('%j', (words, expected) => {
    expect(completed(...words)).toBe(expected);
  });

  test.skipIf(!canOpenTerminal())('names of files are quoted as a shell reads them', async () => {
    using sandbox = createSandbox();
    sandbox.write("my list's $1.csv", '');
    sandbox.write('other.csv', '');
    sandbox.write('completion', `${script}\nbulk-enrich() { printf '<%s>' "$@"; exit; }\n`);
    const {type, ended, screen} = openTerminal('bash --rcfile completion -i', {
      cwd: sandbox.directory,
      env: {PATH: process.env.PATH ?? '', HOME: sandbox.home, TERM: 'dumb', INPUTRC: '/dev/null'},
    });
    type('bulk-enrich run --job my\toth\t\n');
    await ended;
    expect(screen.lines.join('\n')).toContain("<run><--job><my list's $1.csv><other.csv>");
  });
});

test.each([
  [
    'zsh',
    "'--endpoint[",
    ':value:(embedded live)',
    'lookup) _arguments ',
    `'1:first:(${intelligenceNames.join(' ')})'`,
  ],
  ['fish', "-l 'endpoint' -x -a 'embedded live'", `from lookup' -x -a '${intelligenceNames.join(' ')}'`],
])('in %s the words that an argument or a flag can be are there', (shell, ...parts) => {
  const script = execFileSync(process.execPath, [bin, 'completion', shell], {encoding: 'utf8'});
  for (const part of parts) expect(script).toContain(part);
});
