import {afterAll, beforeAll, expect, test} from 'vitest';
import type {ErrorCode} from '../../src/errors.ts';
import {KEY, startService} from '../e2e/service.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {opened} from '../support/opened.ts';

const service = opened(startService, beforeAll);
const FILES = {
  'list.csv': 'ip,note\n192.0.2.1,a\n',
  'headless.csv': '0171 3920000\n0171 3920001\n',
  'unsure.csv': `ip\n${'maybe\n'.repeat(9)}192.0.2.1\n`,
  'lists/signups.csv': 'ip\n192.0.2.1\n',
  'signup.csv': 'ip\n192.0.2.1\n',
  'nights-2026-10.csv': 'ip\n192.0.2.1\n',
  'job.yaml': 'input: list.csv\nendpoint: live\nip: ip\nrat: 5/s\n',
};
const sandbox = opened(() => createSandbox(FILES), beforeAll);
afterAll(() => expect(service.ledger.requests).toBe(0));

/**
 * A mistaken command line, the exit code, and the error's code, or a pattern for the words that help with it. Nothing is
 * sent, written or left behind. `test/codes` has the sentences of all codes.
 */
type Mistake = readonly [line: string, code: number, said: ErrorCode | RegExp];
const mistakes: readonly Mistake[] = [
  // The first one would be dropped.
  ['run list.csv --where row.note=="a" --where true', 2, /^Error: --where is given twice\. Give it once\.$/m],
  ['run list.csv --no-store --store answers', 2, /^Error: --store is given twice, once as --no-store\. /m],
  ['run list.csv --store answers --no-store', 2, /^Error: --store is given twice, once as --no-store\. /m],
  ['run list.csv -o a.csv --output b.csv', 2, /^Error: --output is given twice\. Give it once\.$/m],
  ['run list.csv --bogus', 2, /^Error: unknown option '--bogus'/],
  // Flags of other programs, also misspelt.
  ['run list.csv --dry-run', 2, /^Error: unknown option '--dry-run'\n\(plan shows .*\)\n$/],
  ['run --inptu list.csv', 2, /\(Name the list without a flag\.\)\n$/],
  ['run -i list.csv', 2, /\(Name the list without a flag\.\)\n$/],
  ['run list.csv -f', 2, /\(To replace an output: --force\. .*\)\n$/],
  // An unknown flag's value may be a key.
  ['run list.csv --api-key=canary-1', 2, /^Error: unknown option '--api-key'\n\(The key is never on /],
  ['run list.csv -x', 2, /^Error: unknown option '-x'\n$/],
  ['version', 2, /"version"\. Did you mean "--version"\?\n$/],
  ['-v', 2, /"-v"\. Did you mean "-V"\?\n$/],
  ['-f', 2, /^Error: There is no option "-f"\. bulk-enrich --help lists them all\.\n$/],
  ['run list.csv --ip ip --restart=fresh', 2, /^Error: unknown option '--restart=fresh'/],
  ['rnu list.csv', 2, /Did you mean "run"\?/],
  ['run list.csv --ip ip --input-format cvs', 2, /^Error: --input-format: .* Did you mean "csv"\?/],
  ['run list.csv --max-credit 5', 2, /Did you mean --max-credits\?/],
  ['worker --log json', 2, /^\{"level":50.*"event":"error".*"code":"no_redis"/],
  ['run list.csv --ip', 2, /^Error: option '--ip <COL\[=PREFIX\]>' argument missing/],
  ['run list.csv --rate fast', 2, /^Error: --rate: expected a rate such as 20\/s/],
  ['run hedless.csv', 8, /^Error: .* Did you mean "headless\.csv"\?$/m],
  // In the folder of the missing list, and never last month's for this month's.
  ['run lists/signup.csv --ip ip', 8, /Did you mean "lists\/signups\.csv"\?/],
  ['run nights-2026-11.csv --ip ip', 8, /nights-2026-11\.csv does not exist \(looked for in [^"]*$/],
  ['run . -o o.csv', 8, 'input_unreadable'],
  ['run list.csv -o no/where.csv', 9, 'no_directory'],
  ['run --job job.yaml', 2, /^Error: job\.yaml:4: rat: this setting does not exist\. Did you mean "rate"\?/],
  [
    'verify --action a',
    2,
    /^Error: required option '--token <T>' not specified\n\nExamples:\n {2}bulk-enrich verify /,
  ],
  ['lookup', 2, /^Error: missing required argument 'operation'\n\nExamples:\n {2}bulk-enrich lookup ip /],
  ['store purge', 2, /^Error: Name one value, or a time with --since/],
];

test.each(mistakes.map(mistake => ({mistake, line: mistake[0]})))('$line', async ({mistake}) => {
  const [line, code, said] = mistake;
  const before = sandbox.files();
  const outcome = await runHere(sandbox, line, {env: service.env});
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
    const env = {...service.env, NO_COLOR: '1', CI: '1'};
    const {stderr} = await runHere(sandbox, 'run unsure.csv --max-rejects 9', {env});
    const [command, ...lines] = stderr.trimEnd().split('\n').reverse();
    expect(command).toBe('Try: bulk-enrich run unsure.csv --max-rejects 9 --ip ip');
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.filter(line => line.length > 39)).toEqual([]);
  } finally {
    Object.assign(process.stderr, before);
  }
});
