import {existsSync, statSync} from 'node:fs';
import {parse} from 'csv-parse/sync';
import {beforeAll, expect, it} from 'vitest';
import {operations} from '../../src/operations/table.ts';
import {defaultRules} from '../../src/score/rules.ts';
import {startService} from '../e2e/service.ts';
import {createSite} from '../jobs/site.ts';
import {bin, type CommandOutcome, createSandbox, type Sandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {blocksOf, commandsIn, root, textOf} from './blocks.ts';

const text = textOf('README.md');
const [firstCommand = '', ...others] = blocksOf(text, 'sh');
const words = firstCommand.trim().split(' ');
let sandbox: Sandbox;
let outcome: CommandOutcome;
beforeAll(async () => {
  sandbox = createSandbox({'signups.csv': textOf('samples/signups.csv')});
  outcome = await runHere(
    sandbox,
    words.slice(5).map(word => word.replace('samples/', '')),
  );
  return () => sandbox[Symbol.dispose]();
});

it('the README is read in three minutes: at most 950 words', () => {
  expect(text.trim().split(/\s+/).length).toBeLessThanOrEqual(950);
});

it('the first command enriches the sample, and prints all that the README shows', () => {
  expect(words.slice(0, 5).join(' ')).toBe('npm ci && npx bulk-enrich');
  expect(outcome.code).toBe(0);
  const shown = (blocksOf(text, 'text')[0] ?? '').replaceAll('samples/', '');
  expect(outcome.stderr.replace(/(\d+ calls) in .*/, '$1 in 815 ms.')).toBe(shown);
});

it('the first command runs a second time: each build leaves a file that npx can start', () => {
  expect(statSync(bin).mode & 0o777).toBe(0o755);
});

it('the README has the command that runs the tests', () => {
  const {scripts} = JSON.parse(textOf('package.json')) as {scripts: Record<string, string>};
  expect(text).toContain('`npm ci && npm test`');
  expect(scripts.test).toMatch(/vitest run$/);
});

it('each cell of the comparison says by what it is shown: a test of this repository, or a page of the other tool', () => {
  const table = text.split('\n\n').find(block => block.includes('after `kill -9`')) ?? '';
  const cells = table
    .split('\n')
    .slice(2)
    .flatMap(line => line.split('|').slice(2, -1));
  expect(cells).toHaveLength(20);
  for (const cell of cells) {
    const [, file, name] = /^ \[.+\](?:\(([^)]+)\)|\[([^\]]+)\]) *$/.exec(cell) ?? [];
    const target = file ?? new RegExp(`^\\[${name}\\]: (.*)$`, 'm').exec(text)?.[1] ?? 'none';
    expect(target.startsWith('https://') || existsSync(root + target), cell).toBe(true);
  }
});

it('the sample is a night as it looks: few rows of high risk, and every reason that open data can give', () => {
  const {risk} = sandbox.summary('signups.enriched.summary.json');
  const reasons = defaultRules.map(({reason}) => reason);
  const given = reasons.filter(reason => Object.hasOwn(risk?.reasons ?? {}, reason));
  // No open data has these, and a list without session tokens has no verdicts.
  const without = [
    'ip_threat',
    'residential_proxy',
    'phone_threat',
    'phone_spam',
    ...operations.verify.rules.map(({reason}) => reason),
  ];
  expect(reasons.filter(reason => !given.includes(reason))).toEqual(without);
  expect(risk?.low).toBeGreaterThan(3 * (risk?.medium ?? 0));
  expect(risk?.medium).toBeGreaterThan(3 * (risk?.high ?? 0));
});

it('the rows that the README shows are those of the sample, before and after', () => {
  const rows = parse(sandbox.read('signups.enriched.csv'), {columns: true}) as Record<string, string>[];
  const tables = text.split('\n\n').filter(table => table.startsWith('| `id` |'));
  expect(tables).toHaveLength(2);
  for (const table of tables) {
    const [names = [], , ...shown] = table.split('\n').map(line =>
      line
        .split('|')
        .slice(1, -1)
        .map(cell => cell.trim().replaceAll('`', '')),
    );
    for (const cells of shown) {
      const row = rows.find(({id}) => id === cells[0]);
      expect(names.map(name => row?.[name])).toEqual(cells);
    }
    expect(shown).toHaveLength(2);
  }
});

const LIST = 'exports/signups-{date}.csv';
const [job = ''] = blocksOf(text, 'yaml');

const firstOf = (lines?: number) => textOf('samples/signups.csv').split('\n').slice(0, lines).join('\n');

/** A place with the first lines of the sample as the list of today. */
function createNight(lines?: number): Sandbox {
  const box = createSite();
  box.write(LIST.replace('{date}', new Date().toISOString().slice(0, 10)), firstOf(lines));
  return box;
}

it('every other command that the README shows works as it stands', async () => {
  await using service = await startService();
  using box = createNight(8);
  box.write('signups.yaml', job);
  // Few rows: the pace is that of a live service.
  box.write('signups.csv', firstOf(8));
  const commands = commandsIn(others).filter(command => !command.startsWith('export '));
  expect(commands.length).toBeGreaterThan(4);
  for (const command of commands) {
    const [name, ...args] = command.split(' ');
    const {code, stderr} = await runHere(box, args, {env: service.env});
    expect([name, code, code === 0 ? '' : stderr], command).toEqual(['bulk-enrich', 0, '']);
  }
});

it('the job file in the README is the one that init writes, for the live service', async () => {
  using box = createNight();
  expect((await runHere(box, ['init', LIST])).code).toBe(0);
  const written = box
    .read('signups.yaml')
    .split('\n')
    .map(line => line.replace(/\s*#.*$/, ''))
    .filter(line => line !== '');
  const live = written.map(line => line.replace('endpoint: embedded', 'endpoint: live'));
  expect(live.join('\n')).toBe(job.trim());
});
