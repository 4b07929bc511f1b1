import {join} from 'node:path';
import {expect, test, vi} from 'vitest';
import type {Console} from '../../src/cli/console.ts';
import {renderOutcome} from '../../src/cli/terminal/outcome.ts';
import {OutputError} from '../../src/errors.ts';
import type {Job} from '../../src/job/job.ts';
import type {RunOutcome} from '../../src/run/exit.ts';
import {makeErrorStop} from '../../src/run/stop.ts';
import {fullSummary} from '../report/summaries.ts';
import {expectTexts} from '../support/told.ts';
import {whole} from '../support/whole.ts';

const summary = fullSummary();
const {credits, calls} = summary;
const fileJob = whole<Job>({
  inputs: ['list.csv'],
  output: {name: 'out.csv', lasts: true},
  paths: {state: 'out.csv.run'},
  settings: {maxAge: {}},
  ...{date: undefined, fromFile: false},
});
const stop = {status: 'interrupted', reason: 'signal', exitCode: 130, message: 'Stopped.'} as const;

const line = {command: 'run', inputs: ['list.csv'], flags: {}};

/** Texts that the last outcome wrote to stderr even if the run is quiet. */
let loud: string[] = [];

/** All that is said of an outcome. */
function said(job: Job, outcome: Partial<RunOutcome>): string {
  loud = [];
  const lines: string[] = [];
  const console = whole<Console>({
    say: line => lines.push(String(line)),
    paint: (_: string, text: string) => text,
    ...{width: 500, forMachine: false},
  });
  vi.spyOn(process.stderr, 'write').mockImplementation(text => loud.push(String(text)) > 0);
  try {
    const all = {exitCode: 0, summary, stop: undefined, message: 'Done.', ...outcome} as const;
    renderOutcome({job, outcome: all, line}, console);
  } finally {
    vi.restoreAllMocks();
  }
  return lines.join('\n');
}

/** An outcome whose summary has these parts. */
const of = (more: object) => ({summary: {...summary, ...more}}) as Partial<RunOutcome>;
const failed = {reason: 'lookups_failed', rows: {...summary.rows, rejected: 0}};
const email = (counts: object) => ({email: {...summary.lookups.email, unknown: 0, ...counts}});
const unpaid = {...credits, spent: 0, maybe_spent: 0};
const free = {endpoint: {kind: 'embedded', base_url: null}};
const full: Partial<RunOutcome> = {stop: {...stop, reason: 'output_unwritable', exitCode: 9}, exitCode: 9};
const lost: Partial<RunOutcome> = {stop: {...stop, reason: 'publish_lost', exitCode: 9}, exitCode: 9};
const COMPLETE: Partial<RunOutcome> = {found: 'complete', message: 'It is complete.'};
const STREAM = {output: {kind: 'stream', name: '-', lasts: false, to: '-'}, paths: {}};
const UNSTORED = {settings: {store: false}};
/** No part of what was saved is by conditions. */
const unsaved = of({credits: {...credits, saved: {...credits.saved, by_condition: 0}}});
const repairs = ['phone', 'email'].map(name => ({code: `${name}.decimal_zero`, count: 1_203, rows: [2]}));
const codes = Array.from({length: 9}, (_, n) => ({code: `ip.code_${n}`, count: 9 - n, rows: [n + 1]}));
const single = of({credits: {...unpaid, spent: 1}, calls: {...calls, total: 1}});

/** What is told of runs; each has its own part of the recorded text. */
const CASES: Readonly<Record<string, readonly [Partial<RunOutcome>, job?: object]>> = {
  'all rows': [{}],
  'nothing saved by conditions': [unsaved],
  'one credit, one call': [single],
  'two resumes': [of({resumed: {times: 2}})],
  'no values looked at': [of({lookups: {}})],
  'no row scored': [of({risk: null})],
  'the embedded service': [of(free)],
  'repairs, and refusals that are kept': [of({repairs, lookups: email({failed: 103, rejected: 3})})],
  'more codes than are shown': [of({errors: codes})],
  'one more code than usual': [of({errors: codes.slice(0, 6)})],
  'a code that the service has, too': [
    of({
      errors: [
        {code: 'ip.internal_error', count: 2, rows: [1, 2], service: true},
        {code: 'ip.internal_error', count: 1, rows: [3]},
      ],
    }),
  ],
  complete: [COMPLETE],
  'a stream': [{}, STREAM],
  'failed lookups, without a store': [of(failed), UNSTORED],
  'failed lookups of a pipe': [of(failed), {inputs: ['-']}],
  'some of the failed were rejected': [of({...failed, lookups: email({failed: 103, rejected: 100})})],
  'all of the failed were rejected': [of({...failed, lookups: email({failed: 100, rejected: 100})})],
  'refusals are kept for hours': [
    of({lookups: email({failed: 103, rejected: 3})}),
    {settings: {maxAge: {rejected: 5_400_000}}},
  ],
  'all of the failed were rejected, and refusals are not kept': [
    of({...failed, lookups: email({failed: 100, rejected: 100})}),
    {settings: {maxAge: {rejected: 0}}},
  ],
  'refused in a row': [of({...failed, reason: 'refused_in_a_row'})],
  stopped: [{stop}],
  'stopped before anything was paid for': [{stop, ...of({credits: unpaid})}],
  'stopped with doubtful credits alone': [{stop, ...of({credits: {...unpaid, maybe_spent: 1}})}],
  'stopped, a full disk': [{...full, lostAnswers: true}],
  'stopped, a stream': [{stop}, STREAM],
  'stopped, a stream without a store': [{stop}, {...STREAM, ...UNSTORED}],
  'stopped, the state went missing': [lost],
};

test('outcomes of all kinds (UPDATE=1 writes them)', () => {
  const texts = Object.entries(CASES).map(
    ([name, [outcome, job = {}]]) => [name, said({...fileJob, ...job} as Job, outcome)] as const,
  );
  expectTexts(join(import.meta.dirname, 'outcome.txt'), texts);
});

test.each([
  ['list.json', 'ndjson'],
  ['list.tsv.gz', 'tsv'],
  ['list.txt', 'txt'],
  ['list', 'csv'],
])('rejected rows of %s are fixed in a list that is read as the first one: .%s', (input, ending) => {
  const job = {...fileJob, inputs: [input], paths: {rejects: 'out.rejects.ndjson'}};
  expect(said(whole<Job>(job), {})).toContain(
    `bulk-enrich rejects out.rejects.ndjson > out.again.${ending} && \${EDITOR:-vi} out.again.${ending} && bulk-enrich run out.again.${ending}`,
  );
});

test('of a reader that has seen enough, as head has, nothing is said but one line', () => {
  const cause = Object.assign(new Error('write EPIPE'), {code: 'EPIPE'});
  const error = new OutputError('output_unwritable', 'Nobody reads.', {cause});
  const gone = {...makeErrorStop(error), message: 'Nobody reads.'};
  expect(said(fileJob, {exitCode: 9, stop: gone, message: gone.message})).toBe('');
  expect(said(fileJob, {exitCode: 9, stop: {...gone, error: undefined}})).not.toBe('');
});

test('a quiet run hides neither a failure, nor many gaps, nor answers that were not stored', () => {
  const store = {trouble: 'SQLITE_FULL', not_looked_up: 0, perhaps_paid_again: 0, not_stored: 2};
  const heard = (outcome: Partial<RunOutcome>) => {
    said(fileJob, outcome);
    return loud.join('');
  };
  expect(heard({summary: {...summary, store}})).toBe('Done.\n');
  expect([heard({exitCode: 4}), heard({exitCode: 3}), heard({})]).toEqual(['Done.\n', '', '']);
  const gaps = (withErrors: number, read = 100) => {
    const rows = {...summary.rows, read, rejected: 1, with_errors: withErrors};
    return heard({exitCode: 3, summary: {...summary, rows, exit_code: 3, reason: 'lookups_failed'}});
  };
  expect(gaps(5)).toBe('Done. 6 rows of 100 have gaps (lookups_failed).\n');
  expect(gaps(4)).toBe('');
  expect(gaps(0, 5)).toBe('Done. 1 row of 5 has gaps (lookups_failed).\n');
});

test('a log tells when a run that used up its day can continue, and how', () => {
  const logged: unknown[] = [];
  const hear = (fields: unknown) => logged.push(fields);
  const log = {error: hear, warn: hear};
  const comeBackMs = Date.parse('2026-01-06T00:00:00.000Z');
  const used = {...stop, reason: 'budget', exitCode: 7, comeBackMs} as const;
  const outcome = {exitCode: 7, summary, stop: used, message: ''} as const;
  renderOutcome({job: fileJob, outcome, line}, whole<Console>({forMachine: true, log}));
  expect(logged).toEqual([
    expect.objectContaining({
      ...{reason: 'budget', exit_code: 7, come_back_at: '2026-01-06T00:00:00.000Z'},
      to_continue: expect.stringMatching(/^bulk-enrich/),
    }),
  ]);
});
