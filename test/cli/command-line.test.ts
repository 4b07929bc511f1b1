import {expect, test} from 'vitest';
import {
  applyRemedy,
  type CommandLine,
  commandForOtherList,
  commandToContinue,
  commandToRetry,
  commandToRun,
} from '../../src/cli/terminal/command-line.ts';
import type {ExitCode} from '../../src/errors.ts';
import type {Job} from '../../src/job/job.ts';
import type {Stop} from '../../src/run/exit.ts';
import {whole} from '../support/whole.ts';

const lineOf = (inputs: readonly string[], flags: CommandLine['flags']) => ({command: 'run', inputs, flags});
const GIVEN = lineOf(['my list.csv'], {maxCredits: '5000', maxErrors: '1%', restart: true, where: undefined});

/** The command that continues a run that stopped for this reason. `settings`: those of its job. */
function next(reason: string, code: ExitCode, settings = {}, by: Partial<Stop> = {}, need?: number, of = {}) {
  const job = whole<Job>({output: {lasts: true}, date: undefined, settings, ...of});
  const stop = {status: 'interrupted', reason, exitCode: code, message: '', ...by} as Stop;
  return commandToContinue(GIVEN, job, stop, need);
}

const budget = {maxCredits: 5_000};
const rejects = (count: number) => ({maxRejects: {count}});
const errors = (share: number) => ({maxErrors: {share}});
const counted = (count: number, total: number) => ({counted: {count, total}});
const onDay = next('budget', 7, budget, {}, undefined, {date: '2026-01-02'});
const ofStream = next('signal', 130, {}, {}, undefined, {output: {lasts: false}});
const SAME = '5000 --max-errors 1%';

test.each<[string, ReturnType<typeof next>, string | undefined]>([
  ['a signal: the same', next('signal', 130), SAME],
  ['a credit limit, the need not known: twice as high', next('budget', 7, budget), '10000 --max-errors 1%'],
  ['a credit limit: what is needed', next('budget', 7, budget, {}, 5_123.4), '5124 --max-errors 1%'],
  ['nothing more seems needed: one more', next('budget', 7, budget, {}, 4_999), '5001 --max-errors 1%'],
  ["a day's limit: the same, tomorrow", next('budget', 7, budget, {comeBackMs: 1}), SAME],
  ['a share: a larger one', next('max_errors', 4, errors(0.01)), '5000 --max-errors 2%'],
  ['a number of rejects: a larger one', next('max_rejects', 8, rejects(7)), `${SAME} --max-rejects 14`],
  ['far more rejects', next('max_rejects', 8, rejects(3), counted(12, 60)), `${SAME} --max-rejects 24`],
  ['a far larger share', next('max_errors', 4, errors(0.01), counted(30, 100)), '5000 --max-errors 60%'],
  ['a share near all: all', next('max_errors', 4, errors(0.8), counted(90, 100)), '5000 --max-errors 100%'],
  ['a limit on a day of its own: the same day', onDay, '10000 --max-errors 1% --date 2026-01-02'],
  ['a list that is damaged: nothing', next('input_corrupt', 8), undefined],
  ['a state of another command: nothing', next('state_corrupt', 10), undefined],
  ['a stream: nothing', ofStream, undefined],
  ['wrong settings: nothing', next('refused', 2), undefined],
])('the suggested command never stops for the same reason at once: %s', (_, found, flags) => {
  expect(found?.command).toBe(flags && `bulk-enrich run 'my list.csv' --max-credits ${flags}`);
});

test('the step before the command is named', () => {
  expect(next('credentials', 6)?.first).toBe(', with a key that is accepted');
  expect(next('credits', 7)?.first).toBe(', with credits in the account');
  expect(next('output_unwritable', 9)?.first).toBe(', once that is fixed');
  expect(next('outage', 5, {}, {comeBackMs: 1})?.first).toBe('');
  expect(next('budget', 7, {}, {comeBackMs: 1})?.first).toBe('');
});

test('values without an answer are looked up again with --force', () => {
  const line = lineOf([], {job: 'job.yaml', force: true, restart: true});
  expect(commandToRetry(line, '2026-01-02')).toBe('bulk-enrich run --job job.yaml --force --date 2026-01-02');
});

test('a list whose name begins with a dash is no flag', () => {
  expect(applyRemedy(lineOf(['-e.csv'], {endpoint: 'embedded'}), {flags: ['--ip', 'ip']})).toBe(
    'bulk-enrich run ./-e.csv --endpoint embedded --ip ip',
  );
});

test('a plan leads to its run, but not where the list came by a pipe', () => {
  expect(commandToRun(lineOf(['my list.csv'], {ip: ['ip']}))).toBe("bulk-enrich run 'my list.csv' --ip ip");
  expect(commandToRun(lineOf(['-'], {}))).toBeUndefined();
});

test('a list that was fixed is run with the settings of the first run, but not with its files', () => {
  const beside = {report: 'r.md', metrics: 'm.prom', limit: '9'};
  const own = {output: 'o.csv', summary: 's.json', state: 'dir', ...beside};
  const format = {encoding: 'gbk', padShortRows: true, force: true, restart: true, skipLines: '2'};
  const line = lineOf(['my list.csv'], {ip: ['ip'], ...own, ...format, maxRejects: '5%'});
  expect(commandForOtherList(line, {fromFile: false}, 'again.csv')).toBe(
    'bulk-enrich run again.csv --ip ip --max-rejects 5%',
  );
  expect(
    commandForOtherList(lineOf([], {job: 'job.yaml', date: '2026-01-02'}), {fromFile: true}, 'again.csv'),
  ).toBe('bulk-enrich run again.csv --job job.yaml -o again.enriched.csv');
});

const TWO = ['--country', 'y', '--country', 'z'];
const PIPE = {pipe: {command: 'sed 1d', input: 'a.csv'}, flags: ['-o', 'b.csv']};

test.each<[string, CommandLine['flags'], Parameters<typeof applyRemedy>[1], string | undefined]>([
  ['nothing is known', {}, {}, undefined],
  ['a setting', {ip: ['a b']}, {flags: ['--encoding', 'gbk']}, "a.csv --ip 'a b' --encoding gbk"],
  ['one that is turned off', {store: false}, {flags: ['--no-header']}, 'a.csv --no-store --no-header'],
  ['another value', {output: 'o.zst'}, {flags: ['-o', 'o.gz']}, 'a.csv -o o.gz'],
  ['more values', {country: ['x']}, {flags: TWO}, 'a.csv --country x --country y --country z'],
  ['a pipe', {ip: ['ip']}, PIPE, '- --ip ip -o b.csv'],
  ['a pipe to an output', {output: 'c.csv'}, PIPE, '- -o c.csv'],
])('the command with its remedy: %s', (_, flags, remedy, words) => {
  const before = remedy.pipe === undefined ? '' : 'sed 1d a.csv | ';
  expect(applyRemedy(lineOf(['a.csv'], flags), remedy)).toBe(words && `${before}bulk-enrich run ${words}`);
});
