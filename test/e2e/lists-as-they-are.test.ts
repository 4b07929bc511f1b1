import {execFile} from 'node:child_process';
import {chmodSync} from 'node:fs';
import {promisify} from 'node:util';
import zlib from 'node:zlib';
import iconv from 'iconv-lite';
import {beforeAll, expect, test} from 'vitest';
import {bin, type CommandOutcome, createSandbox, type Sandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {opened} from '../support/opened.ts';
import {lacks} from '../support/real-parts.ts';
import {startService} from './service.ts';

/** A real list, and the result of one try, in files and words. columns/lists has what a run does with hundreds. */
interface Case {
  readonly text: string | Uint8Array;
  readonly flags?: readonly string[];
  /** The exit code, where it is not 0. */
  readonly code?: number;
  /** The message to the user. */
  readonly says?: RegExp;
  /** Texts of the output, or values that were sent. */
  readonly has?: RegExp;
  /** Set if the command after `Try:` works. */
  readonly tryWorks?: true;
}

const lines = (...rows: readonly string[]) => `${rows.join('\n')}\n`;
const many = (count: number, row: (n: number) => string) => Array.from({length: count}, (_, n) => row(n));

const MISNAMED = {code: 2, says: /can't be written in the format of its name\. .*(\.csv|\.ndjson)/};
const called = (ending: string) => ({...MISNAMED, text: 'ip\n192.0.2.1\n', flags: ['-o', `out.${ending}`]});

const cases: Readonly<Record<string, Case>> = {
  'phone numbers that a program wrote as 30901820.0': {
    text: lines('phone,country', '30901820.0,DE', '30901820,DE'),
    says: /Repaired before the lookup: 1 × decimal zero\./,
    has: /^30901820\.0,DE,ok,.*"\{""phone"":\[""decimal_zero""\]\}"$/m,
  },
  'digits as ="…", unquoted as Excel macros write them': {
    text: lines('phone,n', '="12025550100",1', '="12025550101",2'),
    flags: ['--default-country', 'US'],
    says: /2 × formula text/,
    has: /^"=""12025550100""",1,ok,/m,
  },
  'IPv6 with and without a port': {
    text: lines('ip', '[2001:db8::1]:443', '2001:db8::1', '192.0.2.1', '192.0.2.2'),
    says: /2 × ip\.ipv6_unsupported, rows 1, 2: .*the service takes IPv4 only/,
    has: /^192\.0\.2\.1,ok,/m,
  },
  'a placeholder of its own': {
    text: lines('email', 'keine Mail', 'jo@example.com'),
    flags: ['--empty', ' Keine Mail '],
    says: /^email +2 +1 .*\b1 +1( |$)/m,
    has: /^keine Mail,empty,/m,
  },
  'unsure columns: one command with all of them': {
    text: lines(
      'id,login,contact,land',
      ...many(4, n => `${n},192.0.2.${n},p${n}@example.com,DE`),
      ...many(2, n => `${n},console,call,DE`),
    ),
    code: 2,
    says: /Try: bulk-enrich run .* --ip login --email contact$/m,
    tryWorks: true,
  },
  'Windows-1252 from an old Excel': {
    text: iconv.encode(
      'Name;E-Mail\r\nJürgen Müller;j@example.com\r\nAnna Weiß;a@example.com\r\nBjörn Größe;b@example.com\r\n',
      'windows-1252',
    ),
    says: /is not UTF-8: it is read as windows-1252/,
    has: /^\uFEFFName;E-Mail;[\s\S]*\r\nJürgen Müller;/,
  },
  'an output that is called .xlsx': called('xlsx'),
  'an output that is called .parquet': called('parquet'),
  'an output that is called .html': called('html'),
  'an output that is called .json': called('json'),
  'an output that is compressed': {
    text: lines('ip', '192.0.2.1'),
    flags: ['-o', 'out.csv.zst'],
    ...(Reflect.has(zlib, 'createZstdCompress')
      ? {}
      : {code: 2, says: /Use Node >= 22\.15, or gzip: out\.csv\.gz/, tryWorks: true as const}),
  },
  'scientific notation': {
    text: lines('phone', '4.47E+11', '+12025550100'),
    says: /1 × phone\.scientific_notation, row 1: .*Set the column to text in the spreadsheet/,
    // A fault of the list says nothing of the person.
    has: /^4\.47E\+11,invalid,scientific_notation,.*,,unknown,\[\],/m,
  },
};

/** Made once: each list in a folder of its own would cost more than the runs. */
const sandbox = opened(createSandbox, beforeAll);
const service = opened(startService, beforeAll);

const run = (args: readonly string[]) => runHere(sandbox, args, {env: service.env});

test.each(Object.entries(cases).map(([name, one], index) => [name, `${index}/list.csv`, one] as const))(
  '%s',
  async (_, input, {text, flags = [], code = 0, says, has, tryWorks}) => {
    sandbox.write(input, text);
    const args = ['run', input, '--rate', 'unlimited', ...flags];
    const outcome = await run(args);
    expect(outcome, outcome.stderr).toMatchObject({code});
    if (says !== undefined) expect(outcome.stderr).toMatch(says);
    if (has !== undefined) expect(sandbox.read(outputOf(outcome))).toMatch(has);
    // `plan` refuses whatever `run` refuses.
    if (code === 2 || code === 8) expect((await run(['plan', ...args.slice(1)])).code).toBe(code);
    if (tryWorks) expect(await tried(outcome)).toMatchObject({code: 0});
  },
);

function outputOf({stderr}: CommandOutcome): string {
  return /written to (.*?)[.,]?(?: |\n|$)/.exec(stderr)?.[1]?.replace(/\.$/, '') ?? 'none';
}

/** Runs what stands behind `Try:`, its words as a shell takes them. */
function tried({stderr}: CommandOutcome): Promise<CommandOutcome> {
  const command = /^Try: bulk-enrich (.*)$/m.exec(stderr)?.[1] ?? '';
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  return run(words);
}

/** Runs a script in a shell that knows the command; fails where it does. */
function shell(box: Sandbox, script: string) {
  box.write('bin/bulk-enrich', `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`);
  chmodSync(box.path('bin/bulk-enrich'), 0o755);
  const env = {PATH: `${box.path('bin')}:${process.env.PATH}`, HOME: box.home, ...service.env};
  return promisify(execFile)('sh', ['-ec', script], {cwd: box.directory, env});
}

test('the rejected rows are run again as the last line says, once they are fixed', async () => {
  using box = createSandbox();
  box.write('my list.csv', lines('ip,"a note"', '192.0.2.1,x', '192.0.2.2', '192.0.2.3', '192.0.2.4,z'));
  const {code, stderr} = await runHere(box, ['run', 'my list.csv', '--endpoint', 'embedded', '--force']);
  expect(code).toBe(3);
  const [, command] = /^To fix and rerun just these rows: (.*)$/m.exec(stderr) ?? [];
  box.write('bin/editor', '#!/bin/sh\nsed -i \'s/^192.*/&,y/\' "$1"\n');
  chmodSync(box.path('bin/editor'), 0o755);
  await shell(box, `EDITOR=editor\n${command}`);
  expect(command).toMatch(/ && bulk-enrich run 'my list\.enriched\.again\.csv' --endpoint embedded$/);
  expect(box.read('my list.enriched.again.enriched.csv')).toMatch(
    /^ip,a note,.*\n192\.0\.2\.2,y,ok,.*\n192\.0\.2\.3,y,ok,/,
  );
});

test.skipIf(lacks('zstd'))('a zstd list is read by this Node, or as the message says', async () => {
  using box = createSandbox();
  box.write('list.csv', lines('ip', '192.0.2.1'));
  await shell(box, 'zstd -q list.csv');
  const {code, stderr} = await runHere(box, ['run', 'list.csv.zst'], {env: service.env});
  const command = /^Try: (.*)$/m.exec(stderr)?.[1];
  if (code !== 0) await shell(box, command ?? 'false');
  expect(box.read('list.enriched.csv')).toMatch(/^192\.0\.2\.1,ok,/m);
});
