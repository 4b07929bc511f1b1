import {describe, expect, test} from 'vitest';
import {goOn, runAgain} from '../../src/cli/terminal/go-on.ts';
import type {ExitCode} from '../../src/errors.ts';
import type {Job} from '../../src/job/job.ts';
import type {Stop} from '../../src/run/stop.ts';

const GIVEN = ['run', 'my list.csv', '--max-credits', '5000', '--max-errors=1%', '--restart'];

/** What is said of a run that stopped for this reason. */
function said(reason: Stop['reason'], exitCode: ExitCode, more: Partial<Stop> = {}, settings: object = {}) {
  const job = {output: {lasts: true}, date: undefined, settings} as unknown as Job;
  const stop: Stop = {status: 'interrupted', reason, exitCode, message: '', ...more};
  return goOn(job, {exitCode}, stop, GIVEN);
}

describe('what goes on never stops for the same reason at once', () => {
  test.each<[string, ReturnType<typeof said>, string | undefined]>([
    [
      'a signal: the same',
      said('signal', 130),
      "bulk-enrich run 'my list.csv' --max-credits 5000 --max-errors=1%",
    ],
    [
      'a credit limit: a higher one',
      said('budget', 7, {}, {maxCredits: 5_000}),
      "bulk-enrich run 'my list.csv' --max-errors=1% --max-credits 10000",
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
    ['a list that is damaged: nothing', said('input_corrupt', 8), undefined],
    ['wrong settings: nothing', said('refused', 2), undefined],
  ])('%s', (_, next, command) => {
    expect(next?.command).toBe(command);
  });

  test('what has to be done first is said', () => {
    expect(said('credentials', 6)?.first).toBe(', with a key that is accepted');
    expect(said('credits', 7)?.first).toBe(', with credits in the account');
    expect(said('outage', 5, {comeBackMs: 1})?.first).toBe('');
  });
});

test('the rejected rows are run with the flags of the run, but for what says where its own files are', () => {
  const job = {inputs: ['my list.csv'], fromFile: false};
  const flags = [
    '--ip',
    'ip',
    '-o',
    'o.csv',
    '--max-rejects=5%',
    '--skip-lines',
    '2',
    '--rejects=r.ndjson',
    '--force',
  ];
  expect(runAgain(job, 'again.csv', ['my list.csv', ...flags])).toBe(
    'bulk-enrich run again.csv --ip ip --max-rejects=5%',
  );
  expect(runAgain({...job, fromFile: true}, 'again.csv', ['--job', 'job.yaml', '--date', '2026-01-02'])).toBe(
    'bulk-enrich run again.csv --job job.yaml -o again.enriched.csv',
  );
});
