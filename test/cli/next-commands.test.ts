import {spawnSync} from 'node:child_process';
import {chmodSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';
import {expect, test} from 'vitest';
import {createSandbox, environmentOf} from '../support/command.ts';
import {runHere} from '../support/main.ts';

const BIN = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url));
const JSON_ROW = '{"ip":"198.51.100.1","email":"jo@example.com"}';
const ROW = '198.51.100.1,jo@example.com';

test.each([
  ['headless.csv', `${ROW}\n${ROW}\nBAD\n${ROW}\n`, ROW],
  ['titled.csv', `Report\n\nip,email\n${`${ROW}\n`.repeat(12)}BAD\n${ROW}\n`, ROW],
  ['events.log', `${JSON_ROW}\nBAD\n${JSON_ROW}\n`, JSON_ROW],
  ['array.json', `[\n${JSON_ROW},\n{BAD},\n${JSON_ROW}\n]\n`, '"ip":"198.51.100.9"'],
  ['small.ndjson.gz', gzipSync(`${JSON_ROW}\nBAD\n${JSON_ROW}\n`), JSON_ROW],
])('each command at the end of a run works on what the run has written: %s', async (list, text, fixed) => {
  using sandbox = createSandbox();
  sandbox.write(list, text);
  sandbox.write('bin/bulk-enrich', `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`);
  sandbox.write('bin/editor', `#!/bin/sh\nsed -i 's/BAD/${fixed}/' "$1"\n`);
  for (const name of ['bulk-enrich', 'editor']) chmodSync(sandbox.path(`bin/${name}`), 0o755);
  const bin = sandbox.path('bin');
  const env = {...environmentOf(sandbox.home), EDITOR: `${bin}/editor`, PATH: `${bin}:${process.env.PATH}`};
  const sh = (command: string) => {
    const options = {cwd: sandbox.directory, env, encoding: 'utf8'} as const;
    const {status, stdout, stderr} = spawnSync('sh', ['-c', command], options);
    return {status, said: stdout + stderr};
  };
  const {code, stderr: said} = await runHere(sandbox, `run ${list} --endpoint embedded --max-rejects 100%`);
  expect([code, said]).toEqual([3, said]);
  const commands = [...said.matchAll(/^To [^:]*: (bulk-enrich (\w+) .*)$/gm)];
  expect(commands.map(([, , name]) => name)).toEqual(['explain', 'rejects']);
  const [output = ''] = /\S+\.enriched\.\w+/.exec(said) ?? [];
  for (const [, command = ''] of commands) {
    const {status, said} = sh(command);
    expect([command, status, said]).toEqual([command, 0, said]);
  }
  for (const line of ['explain OUT --row 1', 'diff OUT OUT', 'score OUT']) {
    const {code, log} = await runHere(sandbox, line.replaceAll('OUT', output));
    expect([line, code, log]).toEqual([line, 0, log]);
  }
});

const LIST = `id,ip,email\n1,${ROW}\n2,${ROW}\n3,${ROW}\n`;

test.each([
  [['score', 'a.csv', '--bad', 'row.id == "1"'], 0, /1 bad row, 2 others/],
  [['explain', 'a.csv', '--where', 'row.id == 1'], 2, /write "1": cells are texts/],
  [['diff', 'a.csv', 'b.csv'], 0, /1 new, 1 gone.* one whose cells changed .* --key COLUMN/s],
  [['diff', 'a.csv', 'b.csv', '--key', 'id'], 0, /0 new, 0 gone/],
  [['run', 'list.csv', '-o', 'new.csv', '--fields', 'risk_level'], 2, /Did you mean "risk\.level"\?/],
  [['run', 'list.csv', '-o', 'new.csv', '--fields', 'risk.level'], 0, /3 rows written/],
  [['run', '.', '-o', 'new.csv'], 8, /is a directory/],
  [['run', 'lists.csv', '-o', 'new.csv'], 8, /Did you mean "list\.csv"\?/],
])(
  'a command says what it expects, and leaves nothing if it can not start: %j',
  async (words, code, said) => {
    using sandbox = createSandbox();
    const env = {BULK_ENRICH_BASE_URL: ''};
    for (const [name, list] of [
      ['a', LIST],
      ['b', LIST.replace('jo@', 'al@')],
    ] as const) {
      sandbox.write('list.csv', list);
      await runHere(sandbox, `run list.csv -o ${name}.csv --endpoint embedded`, {env});
    }
    const run = words[0] === 'run' ? [...words, '--endpoint', 'embedded'] : words;
    const ended = await runHere(sandbox, run, {env});
    expect([ended.code, ended.stdout + ended.stderr]).toEqual([code, expect.stringMatching(said)]);
    expect(sandbox.files().some(name => name.startsWith('new.'))).toBe(words.includes('risk.level'));
  },
);
