import {describe, expect, test} from 'vitest';
import {runAgain, toContinue, toRetry, toRun} from '../../src/cli/terminal/next-command.ts';
import type {ExitCode} from '../../src/errors.ts';
import type {Job} from '../../src/job/job.ts';
import type {Stop} from '../../src/run/stop.ts';
import {whole} from '../support/whole.ts';

const GIVEN = ['run', 'my list.csv', '--max-credits', '5000', '--max-errors=1%', '--restart'];

/** The last lines of a run that stopped for this reason. */
function said(
  reason: Stop['reason'],
  exitCode: ExitCode,
  more: Partial<Stop> = {},
  settings: object = {},
  need?: number,
  of: object = {},
) {
  const job = {output: {lasts: true}, date: undefined, settings, ...of} as unknown as Job;
  const stop: Stop = {status: 'interrupted', reason, exitCode, message: '', ...more};
  return toContinue(job, exitCode, stop, need, GIVEN);
}

describe('the suggested command never stops for the same reason at once', () => {
  test.each<[string, ReturnType<typeof said>, string | undefined]>([
    [
      'a signal: the same',
      said('signal', 130),
      "bulk-enrich run 'my list.csv' --max-credits 5000 --max-errors=1%",
    ],
    [
      'a credit limit, where the need is not known: twice as high',
      said('budget', 7, {}, {maxCredits: 5_000}),
      "bulk-enrich run 'my list.csv' --max-errors=1% --max-credits 10000",
    ],
    [
      'a credit limit, where the need is known: what is needed',
      said('budget', 7, {}, {maxCredits: 5_000}, 5_123.4),
      "bulk-enrich run 'my list.csv' --max-errors=1% --max-credits 5124",
    ],
    [
      'a credit limit, where nothing more than it seems to be needed: one more',
      said('budget', 7, {}, {maxCredits: 5_000}, 4_999),
      "bulk-enrich run 'my list.csv' --max-errors=1% --max-credits 5001",
    ],
    [
      "a day's limit: the same, once it is tomorrow",
      said('budget', 7, {comeBackMs: 1}, {maxCredits: 5_000}),
      "bulk-enrich run 'my list.csv' --max-credits 5000 --max-errors=1%",
    ],
    [
      'a share of errors: a larger one',
      said('max_errors', 4, {}, {maxErrors: {share: 0.01}}),
      "bulk-enrich run 'my list.csv' --max-credits 5000 --max-errors 2%",
    ],
    [
      'a number of rejects: a larger one',
      said('max_rejects', 8, {}, {maxRejects: {count: 7}}),
      "bulk-enrich run 'my list.csv' --max-credits 5000 --max-errors=1% --max-rejects 14",
    ],
    [
      'far more rejects than the limit: above what was counted',
      said('max_rejects', 8, {counted: {count: 12, total: 60}}, {maxRejects: {count: 3}}),
      "bulk-enrich run 'my list.csv' --max-credits 5000 --max-errors=1% --max-rejects 24",
    ],
    [
      'a far larger share of errors: above what was counted',
      said('max_errors', 4, {counted: {count: 30, total: 100}}, {maxErrors: {share: 0.01}}),
      "bulk-enrich run 'my list.csv' --max-credits 5000 --max-errors 60%",
    ],
    [
      'a share of errors near all: all of them',
      said('max_errors', 4, {counted: {count: 90, total: 100}}, {maxErrors: {share: 0.8}}),
      "bulk-enrich run 'my list.csv' --max-credits 5000 --max-errors 100%",
    ],
    [
      'a credit limit on a day of its own: the same day',
      said('budget', 7, {}, {maxCredits: 5_000}, undefined, {date: '2026-01-02'}),
      "bulk-enrich run 'my list.csv' --max-errors=1% --date 2026-01-02 --max-credits 10000",
    ],
    ['a list that is damaged: nothing', said('input_corrupt', 8), undefined],
    ['a state of another command: nothing', said('state_corrupt' as Stop['reason'], 10), undefined],
    [
      'rows that went to a stream: nothing',
      said('signal', 130, {}, {}, undefined, {output: {lasts: false}}),
      undefined,
    ],
    ['wrong settings: nothing', said('refused', 2), undefined],
  ])('%s', (_, next, command) => {
    expect(next?.command).toBe(command);
  });

  test('the step before the command is named', () => {
    expect(said('credentials', 6)?.first).toBe(', with a key that is accepted');
    expect(said('credits', 7)?.first).toBe(', with credits in the account');
    expect(said('output_unwritable', 9)?.first).toBe(', once that is fixed');
    expect(said('outage', 5, {comeBackMs: 1})?.first).toBe('');
    expect(said('budget', 7, {comeBackMs: 1})?.first).toBe('');
  });
});

test('values without an answer are looked up again with --force', () => {
  expect(toRetry('2026-01-02', ['run', '--job', 'job.yaml', '--force', '--restart'])).toBe(
    'bulk-enrich run --job job.yaml --force --date 2026-01-02',
  );
});

test('a plan leads to its run, but not where the list came by a pipe', () => {
  expect(toRun(['plan', 'my list.csv', '--json', '--ip', 'ip'])).toBe(
    "bulk-enrich run 'my list.csv' --ip ip",
  );
  expect(toRun(['plan', '-'])).toBeUndefined();
});

test('rejected rows are run with the flags of the run, except those that name its files', () => {
  const job = whole<Job>({inputs: ['my list.csv'], fromFile: false});
  const flags = [
    '--ip',
    'ip',
    '-o',
    'o.csv',
    '--max-rejects=5%',
    '--skip-lines',
    '2',
    '--rejects=r.ndjson',
    ...['--summary', 's.json', '--state', 'dir', '--report=r.md', '--metrics', 'm.prom', '--limit', '9'],
    ...['--encoding', 'gbk', '--pad-short-rows', '--force', '--restart'],
  ];
  expect(runAgain(job, 'again.csv', ['my list.csv', ...flags])).toBe(
    'bulk-enrich run again.csv --ip ip --max-rejects=5%',
  );
  expect(runAgain({...job, fromFile: true}, 'again.csv', ['--job', 'job.yaml', '--date', '2026-01-02'])).toBe(
    'bulk-enrich run again.csv --job job.yaml -o again.enriched.csv',
  );
});
