import {execFileSync} from 'node:child_process';
import {mkdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {parse} from 'csv-parse/sync';
import {beforeAll, expect, it} from 'vitest';
import {checkSettings, readJobFile} from '../../src/job/parse.ts';
import {describeSettings, spelled} from '../../src/job/settings.ts';
import {type CommandOutcome, createSandbox, type Sandbox} from '../support/command.ts';

const path = new URL('../../README.md', import.meta.url).pathname;
const BEGIN = '<!-- settings: begin -->';
const END = '<!-- settings: end -->';

/** One row a setting, in groups: what `--help` says, for reading. */
function settingsTable(): string {
  const rows: string[] = [];
  let group = '';
  for (const setting of describeSettings()) {
    if (setting.group !== group) {
      group = setting.group;
      rows.push('', `**${group}**`, '', '| flag | meaning | default |', '|---|---|---|');
    }
    const name = spelled(setting.name, '-');
    const key = spelled(setting.name, '_');
    const value = setting.value === undefined ? '' : ` ${setting.value}`;
    const flag = setting.uses.includes('run')
      ? `--${setting.negated === true ? 'no-' : ''}${name}${value}`
      : `${key} (job files)`;
    rows.push(`| \`${flag.replaceAll('|', '\\|')}\` | ${setting.description} | ${defaultOf(setting)} |`);
  }
  return rows.join('\n').trim();
}

function defaultOf({defaultText, default: value}: ReturnType<typeof describeSettings>[number]): string {
  if (defaultText !== undefined) return defaultText;
  return value === undefined || typeof value === 'boolean' ? '' : `\`${String(value)}\``;
}

it('the README has the table of all settings (UPDATE=1 writes it)', () => {
  const text = readFileSync(path, 'utf8');
  const [before = '', rest = ''] = text.split(BEGIN);
  const [, after = ''] = rest.split(END);
  const expected = `${before}${BEGIN}\n${settingsTable()}\n${END}${after}`;
  if (process.env.UPDATE === '1') writeFileSync(path, expected);
  expect(readFileSync(path, 'utf8')).toBe(expected);
});

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The README's code blocks in one language. */
function blocks(language: string): string[] {
  const found = readFileSync(path, 'utf8').matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'));
  return [...found].map(match => match[1] ?? '');
}

const [firstCommand = ''] = blocks('sh');
const words = firstCommand.trim().split(' ');
let sandbox: Sandbox;
let outcome: CommandOutcome;
beforeAll(async () => {
  sandbox = createSandbox();
  symlinkSync(`${root}samples/signups.csv`, sandbox.path('signups.csv'));
  outcome = await sandbox.run(words.slice(5).map(word => word.replace('samples/', '')));
  return () => sandbox[Symbol.dispose]();
});

it('the first command enriches the sample, as the README shows it', () => {
  expect(words.slice(0, 5).join(' ')).toBe('npm ci && npx bulk-enrich');
  expect(outcome.code).toBe(0);
  const [shown = ''] = blocks('text');
  for (const line of shown
    .trim()
    .split('\n')
    .filter(text => !/ in \d+ ms|…|written to/.test(text)))
    expect(outcome.stderr).toContain(line);
});

it('the seventh row has what the README shows of it', () => {
  const row = (parse(sandbox.read('signups.enriched.csv'), {columns: true}) as Record<string, string>[])[6];
  const shown = [...readFileSync(path, 'utf8').matchAll(/^\| `(\w+)` \| (.+?) \| `(\w+)` \| (.+?) \|$/gm)];
  const pairs = shown.flatMap(([, a = '', b, c = '', d]) => [[a, b] as const, [c, d] as const]);
  expect(pairs.length).toBeGreaterThan(6);
  for (const [name, value] of pairs) expect([name, row?.[name]]).toEqual([name, value]);
});

it('the job file in the README is one', () => {
  using sandbox = createSandbox();
  const [job = ''] = blocks('yaml');
  expect(checkSettings(readJobFile(sandbox.write('job.yaml', job)), {}).name).toBe('nightly-signups');
});

it('the code in the README runs', {timeout: 60_000}, () => {
  using sandbox = createSandbox();
  mkdirSync(sandbox.path('node_modules'));
  symlinkSync(root, sandbox.path('node_modules/bulk-enrich'));
  symlinkSync(`${root}samples`, sandbox.path('samples'));
  const [code = ''] = blocks('ts');
  const copied = code.replace("'samples/signups.csv'", "'samples/signups.csv', output: 'out.csv'");
  sandbox.write('example.mjs', copied);
  const env = {PATH: process.env.PATH ?? '', HOME: sandbox.home};
  const printed = execFileSync(process.execPath, ['example.mjs'], {
    cwd: sandbox.directory,
    env,
    encoding: 'utf8',
  });
  expect(printed).toBe('1 ok true\n2 invalid true\n0 400\n+12025550100\n');
});
