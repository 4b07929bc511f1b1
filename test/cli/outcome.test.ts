import {expect, test, vi} from 'vitest';
import type {Console} from '../../src/cli/console.ts';
import {renderOutcome} from '../../src/cli/terminal/outcome.ts';
import {OutputError} from '../../src/errors.ts';
import type {Job} from '../../src/job/job.ts';
import type {RunOutcome} from '../../src/run/exit.ts';
import {makeErrorStop} from '../../src/run/stop.ts';
import {fullSummary} from '../report/summaries.ts';
import {whole} from '../support/whole.ts';

const summary = fullSummary();
const {credits, calls} = summary;
const fileJob = whole<Job>({
  inputs: ['list.csv'],
  output: {name: 'out.csv', lasts: true},
  paths: {state: 'out.csv.run'},
  settings: {},
  ...{date: undefined, fromFile: false},
});
const stop: RunOutcome['stop'] = {
  status: 'interrupted',
  reason: 'signal',
  exitCode: 130,
  message: 'Stopped.',
};

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
const single = of({credits: {...unpaid, spent: 1}, calls: {...calls, total: 1}});

test.each<[says: RegExp, Partial<RunOutcome>, job?: object]>([
  [/ need no call, 4,310 of them by condition\. 53,401 calls in/, {}],
  [/19,392 for values that need no call\. /, unsaved],
  [/^1 credit spent\. Saved: .*\. 1 call in /m, single],
  [/ in 3 sessions since 5 Jan 2026, 02:00 UTC\./, of({resumed: {times: 2}})],
  [/^Risk: [\d,]+ high, [\d,]+ medium, [\d,]+ low, [\d,]+ unknown$/m, {}],
  [/^ {2}88 × phone\.country_unknown, rows 4, .*--default-country COUNTRY\.$/m, {}],
  [/^Safe: every answer paid for \(in out\.csv\.run\)\.$/m, {stop}],
  [/ and 207 that may have been charged without an answer/, {stop}],
  [/Safe: every answer/, {stop, ...of({credits: {...unpaid, maybe_spent: 1}})}],
  [/^Safe: every answer that could be written /m, {...full, lostAnswers: true}],
  [/Safe: every answer paid for\./, {stop}, STREAM],
  [/Safe: nothing\./, {stop}, {...STREAM, ...UNSTORED}],
  [/Missing: out\.csv\.run, which has every answer paid for\./, lost],
  [/^Nothing was spent: the embedded service is free\. A live service would have cost [\d,]+ /m, of(free)],
  [/^It is complete\.$/, COMPLETE],
  // There is no table where no value was looked at.
  [/^Risk: /, of({lookups: {}})],
  [/ failed lookups, paying for all again \(--no-store\): /, of(failed), UNSTORED],
  [/^To ask for the refused values again: .* --force$/m, of({...failed, reason: 'refused_in_a_row'})],
  // Values that the service rejects are not asked for again.
  [/^To retry 3 failed lookups: /m, of({...failed, lookups: email({failed: 103, rejected: 100})})],
])('it says %s', (expected, outcome, job = {}) => {
  expect(said({...fileJob, ...job} as Job, outcome)).toMatch(expected);
});

test.each<[unsaid: string, where: string, Partial<RunOutcome>, job?: object]>([
  ['Risk:', 'no row was scored', of({risk: null})],
  ['Safe:', 'nothing was paid for', {stop, ...of({credits: unpaid})}],
  ['Safe:', 'the state went missing', lost],
  ['bulk-enrich explain', 'rows went to a stream', {}, STREAM],
  ['To retry', 'the list came from a pipe', of(failed), {inputs: ['-']}],
  ['To retry', 'values were rejected', of({...failed, lookups: email({failed: 100, rejected: 100})})],
])('it does not say %s where %s', (unsaid, _, outcome, job = {}) => {
  expect(said({...fileJob, ...job} as Job, outcome)).not.toContain(unsaid);
});

test('the last lines show the output, its cost and the next step', () => {
  const [written, cost, high, retry] = said(fileJob, of(failed)).split('\n').slice(-4);
  expect([written, cost]).toEqual(['Done.', expect.stringMatching(/^[\d,]+ credits spent/)]);
  expect(high).toMatch(/^To list the 1,959 rows of high risk: bulk-enrich explain out\.csv --level high$/);
  expect(retry).toMatch(/^To retry \d+ failed lookups: bulk-enrich( .*)? --force$/);
});

test('columns of nothing but zeros are left out, however wide the terminal is', () => {
  const text = said(fileJob, of({lookups: email({skipped: 0, stale: 0})}));
  const [head = ''] = text.split('\n').filter(line => line.includes('distinct'));
  expect(head).not.toMatch(/unknown|skipped|stale/);
  expect(head).toMatch(/values +distinct .*calls/);
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
