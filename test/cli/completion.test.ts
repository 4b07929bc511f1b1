import {execFileSync} from 'node:child_process';
import {beforeAll, describe, expect, it, test} from 'vitest';
import {intelligenceNames} from '../../src/operations/table.ts';
import {bin, createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {lacks} from '../support/real-parts.ts';
import {openTerminal} from '../support/terminal.ts';

it.each(['bash', 'zsh', 'fish'])(
  'completion for %s knows every command, and flags from the schema',
  async shell => {
    using sandbox = createSandbox();
    const {code, stdout} = await runHere(sandbox, ['completion', shell]);
    expect(code).toBe(0);
    for (const word of ['plan', 'lookup', 'verify', 'serve', 'purge', 'max-credits'])
      expect(stdout).toContain(word);
  },
);

it('completion for another shell is a usage error', async () => {
  using sandbox = createSandbox();
  expect(await runHere(sandbox, ['completion', 'tcsh'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('fish'),
  });
});

test.each<[readonly string[], readonly string[]]>([
  [
    ['run', '--yes', 'events.ndjson', '--ip'],
    ['at', 'user.ip'],
  ],
  [
    ['run', 'old.csv', '--no-header', '-o', 'out.csv', '--phone'],
    ['column_1', 'column_2'],
  ],
  [
    ['plan', '--job', 'job.yaml', '--country'],
    ['Straße', 'Telefon'],
  ],
  [['run', 'odd.csv', '--ip'], ['b']],
  [['run', '--ip'], []],
  [['nothing', 'old.csv', '--ip'], []],
  [[], []],
])('the columns behind %j', async (words, columns) => {
  using sandbox = createSandbox();
  sandbox.write('events.ndjson', '{"user":{"ip":"192.0.2.1"},"at":1}\n');
  sandbox.write('old.csv', Buffer.from('Straße;Telefon\nHof 1;030 23125 001\n', 'latin1'));
  sandbox.write('job.yaml', 'input: old.csv\nencoding: windows-1252\nendpoint: live\nphone: Telefon\n');
  sandbox.write('odd.csv', '"a\u001b[31m",b\n1,2\n');
  const {code, stdout, stderr} = await runHere(sandbox, ['completion', 'columns', '--', ...words]);
  expect([code, stdout.split('\n').filter(Boolean), stderr]).toEqual([0, columns, '']);
});

async function completionScript(shell: string): Promise<string> {
  using sandbox = createSandbox();
  return (await runHere(sandbox, ['completion', shell])).stdout;
}

describe('in bash', () => {
  let script: string;
  beforeAll(async () => {
    script = await completionScript('bash');
  });
  const completed = (...words: readonly string[]) => {
    using sandbox = createSandbox();
    const ask = `${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bulk_enrich; echo "\${COMPREPLY[*]}"`;
    const args = ['-c', ask, 'bash', 'bulk-enrich', ...words];
    return execFileSync('bash', args, {cwd: sandbox.directory, encoding: 'utf8'}).trim();
  };

  test.each([
    [['ru'], 'run rules runs'],
    [['spend', '--by', ''], 'day job operation'],
    [['run', '--max-c'], '--max-credits'],
    [['run', '--endpoint', ''], 'embedded live'],
    [['run', '--output-format', 'nd'], 'ndjson'],
    [['store', 'p'], 'prune purge'],
    [['store', 'purge', '--def'], '--default-country'],
    [['fleet', ''], 'status'],
    [['lookup', ''], intelligenceNames.join(' ')],
    [['completion', ''], 'bash zsh fish'],
  ])('%j', (words, expected) => {
    expect(completed(...words)).toBe(expected);
  });

  test.each<[readonly string[], string]>([
    [['run', 'my\\ list.csv', '--ip', ''], '<id><Business\\ Phone><signup_ip>'],
    [['plan', '--rate', '5/s', "'my list.csv'", '--country', '"Bus'], '<Business Phone>'],
    [['run', 'my\\ list.csv', '--where', ''], '<row.id><row\\[\\"Business\\ Phone\\"\\]><row.signup_ip>'],
    [['run', 'none.csv', '--ip', ''], '<>'],
  ])('%j: columns of the list, quoted as a shell reads them', (words, expected) => {
    using sandbox = createSandbox();
    sandbox.write('my list.csv', 'id,Business Phone,signup_ip\n7,+12025550100,192.0.2.1\n');
    const program = `bulk-enrich() { "${process.execPath}" "${bin}" "$@"; }`;
    const ask = `${program}\n${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bulk_enrich; printf '<%s>' "\${COMPREPLY[@]}"`;
    const args = ['-c', ask, 'bash', 'bulk-enrich', ...words];
    expect(execFileSync('bash', args, {cwd: sandbox.directory, encoding: 'utf8'})).toBe(expected);
  });

  test.skipIf(lacks('script'))('names of files are quoted as a shell reads them', async () => {
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

const LIST = 'id,Business Phone,signup_ip\n7,+12025550100,192.0.2.1\n';
/** A word as fish reads it. */
const fishWord = (text: string) => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;

test.skipIf(lacks('fish'))('in fish itself', async () => {
  using sandbox = createSandbox();
  sandbox.write('my list.csv', LIST);
  sandbox.write(
    'completion.fish',
    `${await completionScript('fish')}\nfunction bulk-enrich; '${process.execPath}' '${bin}' $argv; end\n`,
  );
  const lines = [
    "run 'my list.csv' --ip ",
    'plan my\\ list.csv --where row.s',
    'run --max-c',
    'run --endpoint ',
    'store p',
    'store purge --def',
    'run --no-cach',
  ];
  const ask = `source completion.fish; ${lines.map(line => `complete -C ${fishWord(`bulk-enrich ${line}`)}; echo ==`).join('; ')}`;
  const printed = execFileSync('fish', ['--no-config', '-c', ask], {
    cwd: sandbox.directory,
    encoding: 'utf8',
  });
  const found = printed
    .split('==\n')
    .map(part => part.split('\n').flatMap(line => line.split('\t')[0] || []));
  expect(found.slice(0, lines.length)).toEqual([
    ['Business Phone', 'id', 'signup_ip'],
    ['row.signup_ip'],
    ['--max-credits'],
    ['embedded', 'live'],
    ['prune', 'purge'],
    ['--default-country'],
    [],
  ]);
  expect(printed).toContain('credits for this run');
  expect(printed).not.toContain('\\:');
});

test.skipIf(lacks('zsh')).each([
  ['store pur\\t--def\\tDE --stor\\tmy.\\t', 'store purge --default-country DE --store my.csv'],
  [
    'run my\\\\ list.csv --phone Bus\\t--rate 5/s --stor\\tmy.\\t',
    'run my list.csv --phone Business Phone --rate 5/s --store my.csv',
  ],
])('in zsh itself: %s', async (typed, command) => {
  using sandbox = createSandbox();
  sandbox.write('my.csv', '');
  sandbox.write('my list.csv', LIST);
  const stub = `bulk-enrich() { if [[ $1 == completion ]]; then '${process.execPath}' '${bin}' "$@"; else print -r -- "$*" END; exit; fi }`;
  sandbox.write(
    '.zshrc',
    `unsetopt prompt_sp; PS1=READY; autoload -Uz compinit; compinit -u -D\n${await completionScript('zsh')}\n${stub}\n`,
  );
  const keys = `bulk-enrich ${typed}\\n`;
  // Each reading waits for what it names.
  sandbox.write(
    'drive.zsh',
    `zmodload zsh/zpty; zpty z zsh -i; zpty -r z seen '*READY*'; zpty -w -n z $'${keys}'; zpty -r z said '* END*'; print -r -- "$said"`,
  );
  const env = {PATH: process.env.PATH ?? '', HOME: sandbox.home, ZDOTDIR: sandbox.directory, TERM: 'dumb'};
  const printed = execFileSync('zsh', ['-f', 'drive.zsh'], {
    cwd: sandbox.directory,
    env,
    encoding: 'utf8',
    timeout: 20_000,
  });
  expect(printed).toContain(`${command} END`);
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
])('in %s the words that an argument or a flag can be are there', async (shell, ...parts) => {
  using sandbox = createSandbox();
  const {stdout} = await runHere(sandbox, ['completion', shell]);
  for (const part of parts) expect(stdout).toContain(part);
});
