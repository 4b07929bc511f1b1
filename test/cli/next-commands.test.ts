import {spawnSync} from 'node:child_process';
import {chmodSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';
import {expect, test} from 'vitest';
import {createSandbox} from '../support/command.ts';

const BIN = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url));
const JSON_ROW = '{"ip":"198.51.100.1","email":"jo@example.com"}';
const ROW = '198.51.100.1,jo@example.com';

test.each([
  ['plain.csv', `ip,email\n${ROW}\nBAD\n${ROW}\n`, ROW],
  ['headless.csv', `${ROW}\n${ROW}\nBAD\n${ROW}\n`, ROW],
  ['titled.csv', `Report\n\nip,email\n${`${ROW}\n`.repeat(12)}BAD\n${ROW}\n`, ROW],
  [
    'tabs.txt',
    'ip\temail\n198.51.100.1\tjo@example.com\nBAD\n198.51.100.2\tal@example.com\n',
    '198.51.100.9\tx@example.com',
  ],
  ['events.log', `${JSON_ROW}\nBAD\n${JSON_ROW}\n`, JSON_ROW],
  ['array.json', `[\n${JSON_ROW},\n{BAD},\n${JSON_ROW}\n]\n`, '"ip":"198.51.100.9"'],
  ['small.ndjson.gz', gzipSync(`${JSON_ROW}\nBAD\n${JSON_ROW}\n`), JSON_ROW],
])('each command at the end of a run works on what the run has written: %s', (list, text, fixed) => {
  using sandbox = createSandbox();
  sandbox.write(list, text);
  sandbox.write('bin/bulk-enrich', `#!/bin/sh\nexec ${process.execPath} ${BIN} "$@"\n`);
  sandbox.write('bin/editor', `#!/bin/sh\nsed -i 's/BAD/${fixed}/' "$1"\n`);
  for (const name of ['bulk-enrich', 'editor']) chmodSync(sandbox.path(`bin/${name}`), 0o755);
  const bin = sandbox.path('bin');
  const env = {HOME: sandbox.directory, EDITOR: `${bin}/editor`, PATH: `${bin}:${process.env.PATH}`};
  const sh = (command: string) => {
    const {status, stdout, stderr} = spawnSync('sh', ['-c', command], {
      ...{cwd: sandbox.directory, env},
      encoding: 'utf8',
    });
    return {status, said: stdout + stderr};
  };
  const {status, said} = sh(`bulk-enrich run ${list} --endpoint embedded --max-rejects 100%`);
  expect([status, said]).toEqual([3, said]);
  const commands = [...said.matchAll(/^To [^:]*: (bulk-enrich (\w+) .*)$/gm)];
  expect(commands.map(([, , name]) => name)).toEqual(['explain', 'rejects']);
  const [output = ''] = /\S+\.enriched\.\w+/.exec(said) ?? [];
  const others = ['explain OUT --row 1', 'diff OUT OUT', 'score OUT', 'runs'].map(
    line => `bulk-enrich ${line.replaceAll('OUT', output)}`,
  );
  for (const command of [...commands.map(([, command = '']) => command), ...others]) {
    const again = sh(command);
    expect([command, again.status, again.said]).toEqual([command, 0, again.said]);
  }
});
