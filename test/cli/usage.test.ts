import {chmodSync} from 'node:fs';
import {afterAll, beforeAll, expect, test} from 'vitest';
import type {ErrorCode} from '../../src/errors.ts';
import {KEY, type Service, startService} from '../e2e/service.ts';
import {createSandbox, type Sandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';

let service: Service;
let sandbox: Sandbox;

beforeAll(async () => {
  service = await startService();
  sandbox = createSandbox();
  sandbox.write('list.csv', 'ip,note\n192.0.2.1,a\n');
  sandbox.write('clash.ndjson', '{"ip":"192.0.2.1","enrichment":{}}\n');
  sandbox.write('headless.csv', '0171 3920000\n0171 3920001\n');
  sandbox.write('unsure.csv', `ip\n${'maybe\n'.repeat(9)}192.0.2.1\n`);
  sandbox.write('national.csv', `Telefon\n${'030 23125 001\n'.repeat(9)}`);
  sandbox.write('secret.csv', 'ip\n192.0.2.1\n');
  chmodSync(sandbox.path('secret.csv'), 0);
  sandbox.write('done.csv', 'ip\n192.0.2.1\n');
  sandbox.write('done.enriched.csv', 'precious\n');
  sandbox.write('job.yaml', 'input: list.csv\nendpoint: live\nip: ip\nrat: 5/s\n');
  return async () => {
    sandbox[Symbol.dispose]();
    await service.close();
  };
});
afterAll(() => expect(service.ledger.requests).toBe(0));

/**
 * A mistake, the exit code, and the error's code, or a pattern for the words that help with it. Nothing is sent, written
 * or left behind.
 */
type Mistake = readonly [string, readonly string[], number, ErrorCode | RegExp, Record<string, string>?];
const mistakes: readonly Mistake[] = [
  [
    'a flag with one value, twice: the first one would be dropped',
    ['run', 'list.csv', '--where', 'row.note == "a"', '--where', 'true'],
    2,
    /^Error: --where is given twice\. Give it once\.$/m,
  ],
  [
    'a store, and none',
    ['run', 'list.csv', '--no-store', '--store', 'answers'],
    2,
    /^Error: --store is given twice, once as --no-store\. Give it once\.$/m,
  ],
  [
    'no store, and one',
    ['run', 'list.csv', '--store', 'answers', '--no-store'],
    2,
    /^Error: --store is given twice, once as --no-store\. Give it once\.$/m,
  ],
  [
    'two outputs',
    ['run', 'list.csv', '-o', 'a.csv', '--output', 'b.csv'],
    2,
    /^Error: --output is given twice\. Give it once\.$/m,
  ],
  ['unknown flag', ['run', 'list.csv', '--bogus'], 2, /^Error: unknown option '--bogus'/],
  [
    'a flag of other programs',
    ['run', 'list.csv', '--dry-run'],
    2,
    /^Error: unknown option '--dry-run'\n\(plan shows .*\)\n$/,
  ],
  ['the same misspelt', ['run', '--inptu', 'list.csv'], 2, /\(Name the list without a flag\.\)\n$/],
  ['a short flag of other programs', ['run', '-i', 'list.csv'], 2, /\(Name the list without a flag\.\)\n$/],
  ['-f', ['run', 'list.csv', '-f'], 2, /\(To replace an output: --force\. .*\)\n$/],
  ['another letter', ['run', 'list.csv', '-x'], 2, /^Error: unknown option '-x'\n$/],
  ['version, as a command', ['version'], 2, /"version"\. Did you mean "--version"\?\n$/],
  [
    'a value for --restart, which takes none',
    ['run', 'list.csv', '--ip', 'ip', '--restart=fresh'],
    2,
    /^Error: unknown option '--restart=fresh'/,
  ],
  ['version, in small', ['-v'], 2, /"-v"\. Did you mean "-V"\?\n$/],
  ['no such flag', ['-f'], 2, /^Error: There is no option "-f"\. bulk-enrich --help lists them all\.\n$/],
  ['two letters swapped', ['rnu', 'list.csv'], 2, /Did you mean "run"\?/],
  [
    'misspelt value',
    ['run', 'list.csv', '--ip', 'ip', '--input-format', 'cvs'],
    2,
    /^Error: --input-format: .* Did you mean "csv"\?/,
  ],
  ['misspelt flag', ['run', 'list.csv', '--max-credit', '5'], 2, /Did you mean --max-credits\?/],
  ['unknown command', ['runn', 'list.csv'], 2, /^Error: There is no command "runn"\. Did you mean "run"\?/],
  [
    'flag without its value',
    ['run', 'list.csv', '--ip'],
    2,
    /^Error: option '--ip <COL\[=PREFIX\]>' argument missing/,
  ],
  ['wrong value', ['run', 'list.csv', '--rate', 'fast'], 2, /^Error: --rate: expected a rate such as 20\/s/],
  ['missing folder', ['run', 'no/list.csv'], 8, 'input_missing'],
  ['misspelt file', ['run', 'hedless.csv'], 8, /^Error: .* Did you mean "headless\.csv"\?$/m],
  ['directory', ['run', '.', '-o', 'o.csv'], 8, 'input_unreadable'],
  ['unreadable file', ['run', 'secret.csv'], 8, /^Error: .*secret\.csv.*(permission|EACCES|may not)/i],
  ['missing folder for the output', ['run', 'list.csv', '-o', 'no/where.csv'], 9, 'no_directory'],
  ['missing folder for the summary', ['run', 'list.csv', '--summary', 'no/where.json'], 2, 'no_directory'],
  ['existing output', ['run', 'done.csv'], 2, 'output_exists'],
  [
    'unknown column',
    ['run', 'list.csv', '--ip', 'itp'],
    2,
    /^Error: --ip: there is no column "itp" \(columns: ip, note\)\. Did you mean "ip"\?/,
  ],
  ['NDJSON clash', ['run', 'clash.ndjson', '--ip', 'ip'], 2, 'column_clash'],
  [
    'unsure column',
    ['run', 'unsure.csv'],
    2,
    /^Error: Column "ip" is named like IP addresses, but only 10% of its values are .*add --ip ip\. Else .*\nTry: bulk-enrich run unsure\.csv --ip ip$/m,
  ],
  [
    'national phone numbers',
    ['run', 'national.csv'],
    2,
    /^Error: Column "Telefon" holds phone numbers in national form \(100% .*--country COLUMN, .*--default-country .*\.\n/,
  ],
  [
    'country that is none',
    ['run', 'list.csv', '--default-country', 'utopia'],
    2,
    /^Error: --default-country: expected a country, by name or code such as DE/,
  ],
  ['unknown field', ['run', 'list.csv', '--fields', 'ip.citty'], 2, /Did you mean "ip\.city"\?/],
  [
    'job file with an unknown key',
    ['run', '--job', 'job.yaml'],
    2,
    /^Error: job\.yaml:4: rat: this setting does not exist\. Did you mean "rate"\?/,
  ],
  ['key without URL', ['run', 'list.csv'], 2, 'no_endpoint', {BULK_ENRICH_API_KEY: KEY}],
  ['lookup of no value', ['lookup', 'ip', '192.0.2.256'], 2, 'not_a_value'],
  [
    'verify without token',
    ['verify', '--action', 'a'],
    2,
    /^Error: required option '--token <T>' not specified\n\nExamples:\n {2}bulk-enrich verify --token/,
  ],
  [
    'lookup of nothing',
    ['lookup'],
    2,
    /^Error: missing required argument 'operation'\n\nExamples:\n {2}bulk-enrich lookup ip /,
  ],
  [
    'a person to forget who is not named',
    ['store', 'purge'],
    2,
    /^Error: missing required argument 'value'\n\nExamples:\n {2}bulk-enrich store purge /,
  ],
];

const cases = mistakes.map(([what, args, code, said, env]) => ({what, args, code, said, env}));

test.each(cases)('$what', async ({args, code, said, env = service.env}) => {
  if (args.includes('secret.csv') && process.getuid?.() === 0) return;
  const before = sandbox.files();
  const outcome = await runHere(sandbox, args, {env});
  if (typeof said === 'string') expect(outcome.errorCode).toBe(said);
  else expect(outcome.stderr).toMatch(said);
  expect(outcome).toMatchObject({code, stdout: ''});
  expect(outcome.stderr).not.toMatch(/\n {4}at /);
  expect(outcome.stderr).not.toContain(KEY);
  const left = sandbox.files().filter(name => !before.includes(name));
  // A run that can't start leaves a summary, unless it was the user's mistake, such as a mistyped name.
  const isTypo = code === 2 || outcome.stderr.includes('does not exist');
  expect(left.filter(name => isTypo || !name.endsWith('.summary.json'))).toEqual([]);
});

test('errors are broken between words at a terminal, commands to copy are not', async () => {
  const before = {isTTY: process.stderr.isTTY, columns: process.stderr.columns};
  Object.assign(process.stderr, {isTTY: true, columns: 40});
  try {
    const args = ['run', 'unsure.csv', '--max-rejects', '9'];
    const {stderr} = await runHere(sandbox, args, {env: {...service.env, NO_COLOR: '1', CI: '1'}});
    const [command, ...lines] = stderr.trimEnd().split('\n').reverse();
    expect(command).toBe('Try: bulk-enrich run unsure.csv --max-rejects 9 --ip ip');
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.filter(line => line.length > 39)).toEqual([]);
  } finally {
    Object.assign(process.stderr, before);
  }
});
