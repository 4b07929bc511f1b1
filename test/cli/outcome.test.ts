import {expect, test, vi} from 'vitest';
import type {Console} from '../../src/cli/console.ts';
import {renderOutcome} from '../../src/cli/terminal/outcome.ts';
import {OutputError} from '../../src/errors.ts';
import type {Job} from '../../src/job/job.ts';
import type {Summary} from '../../src/report/summary.ts';
import type {RunOutcome} from '../../src/run/run-outcome.ts';
import {stopForError} from '../../src/run/stop.ts';
import {fullSummary} from '../report/summaries.ts';

const summary = fullSummary() as unknown as Summary;
const {credits, calls} = summary;
const fileJob = {
  inputs: ['list.csv'],
  output: {name: 'out.csv', lasts: true},
  paths: {state: 'out.csv.run'},
  settings: {},
} as unknown as Job;
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
  const console = {
    say: (line: string) => lines.push(line),
    paint: (_: string, text: string) => text,
    width: 500,
  };
  vi.spyOn(process.stderr, 'write').mockImplementation(text => loud.push(String(text)) > 0);
  try {
    const whole = {exitCode: 0, summary, stop: undefined, message: 'Done.', ...outcome} as const;
    renderOutcome({job, outcome: whole, line}, console as unknown as Console);
  } finally {
    vi.restoreAllMocks();
  }
  return lines.join('\n');
}

test('the credits: those saved, and the part saved by conditions', () => {
  expect(said(fileJob, {})).toContain(
    '19,392 for values that need no call, 4,310 of them by condition. 53,401 calls in',
  );
  const without = {...credits, saved: {...credits.saved, by_condition: 0}};
  expect(said(fileJob, {summary: {...summary, credits: without}})).toContain(
    '19,392 for values that need no call. ',
  );
});

test('one of a thing is no plural', () => {
  const one = {...summary, credits: {...credits, spent: 1, maybe_spent: 0}, calls: {...calls, total: 1}};
  expect(said(fileJob, {summary: one})).toMatch(/^1 credit spent\. Saved: .*\. 1 call in /m);
});

test('a run that was interrupted says since when, not how long it lay', () => {
  const resumed = {...summary, resumed: {times: 2}};
  expect(said(fileJob, {summary: resumed})).toContain('calls in 3 sessions since 5 Jan 2026, 02:00 UTC.');
});

test('the risk is said, where rows were scored', () => {
  expect(said(fileJob, {})).toMatch(/^Risk: [\d,]+ high, [\d,]+ medium, [\d,]+ low, [\d,]+ unknown$/m);
  expect(said(fileJob, {summary: {...summary, risk: null}})).not.toContain('Risk:');
});

test('unclear codes come with advice', () => {
  expect(said(fileJob, {})).toMatch(
    /^ {2}88 × phone\.country_unknown, rows 4, .*--default-country COUNTRY\.$/m,
  );
});

test('what was paid for is safe', () => {
  const safe = said(fileJob, {stop});
  expect(safe).toMatch(/^Safe: every answer paid for \(in out\.csv\.run\)\.$/m);
  expect(safe).toMatch(/ and 207 that may have been charged without an answer/);
});

test('a run that stopped before it paid for anything says nothing of what is safe', () => {
  const unpaid = {...summary, credits: {...credits, spent: 0, maybe_spent: 0}};
  expect(said(fileJob, {stop, summary: unpaid})).not.toContain('Safe:');
  const perhaps = {...unpaid, credits: {...unpaid.credits, maybe_spent: 1}};
  expect(said(fileJob, {stop, summary: perhaps})).toContain('Safe: every answer');
});

test('after a disk that is full, no answer is said to be safe that was not written', () => {
  const full = {...stop, reason: 'output_unwritable', exitCode: 9} as const;
  const safe = said(fileJob, {stop: full, exitCode: 9, lostAnswers: true});
  expect(safe).toMatch(/^Safe: every answer that could be written /m);
});

test('nothing of a stream is safe but the answers in the store', () => {
  const stream = {output: {kind: 'stream', name: '-', lasts: false, to: '-'}, paths: {}};
  expect(said({...stream, settings: {}} as unknown as Job, {stop})).toContain('Safe: every answer paid for.');
  expect(said({...stream, settings: {store: false}} as unknown as Job, {stop})).toContain('Safe: nothing.');
});

test('the last lines show the output, its cost and the next step', () => {
  const failed = {...summary, reason: 'lookups_failed', rows: {...summary.rows, rejected: 0}};
  const [written, cost, high, retry] = said(fileJob, {summary: failed}).split('\n').slice(-4);
  expect([written, cost]).toEqual(['Done.', expect.stringMatching(/^[\d,]+ credits spent/)]);
  expect(high).toMatch(/^To list the 1,959 rows of high risk: bulk-enrich explain out\.csv --level high$/);
  expect(retry).toMatch(/^To retry \d+ failed lookups: bulk-enrich( .*)? --force$/);
  const unstored = {...fileJob, settings: {store: false}} as Job;
  expect(said(unstored, {summary: failed})).toContain('failed lookups, paying for all again (--no-store): ');
  const refused = {...failed, reason: 'refused_in_a_row'};
  expect(said(fileJob, {summary: refused})).toMatch(/^To ask for the refused values again: .* --force$/m);
  const piped = {...fileJob, inputs: ['-']} as Job;
  expect(said(piped, {summary: failed})).not.toContain('To retry');
});

test('the lookups to retry are those that are asked again: not values that the service rejects', () => {
  const email = summary.lookups.email as Summary['lookups'][string];
  const of = (failed: number, rejected: number) => {
    const lookups = {email: {...email, failed, rejected, unknown: 0}};
    return said(fileJob, {summary: {...summary, reason: 'lookups_failed', lookups}});
  };
  expect(of(103, 100)).toMatch(/^To retry 3 failed lookups: /m);
  expect(of(100, 100)).not.toContain('To retry');
});

test('the embedded service is free, and the cost of a live one is shown', () => {
  const embedded = {...summary, endpoint: {kind: 'embedded', base_url: null}};
  expect(said(fileJob, {summary: embedded})).toMatch(
    /^Nothing was spent: the embedded service is free\. A live service would have cost [\d,]+ credits/m,
  );
});

test('a run that was complete before says so, and nothing else', () => {
  expect(said(fileJob, {found: 'complete', message: 'It is complete.'})).toBe('It is complete.');
});

test('columns of nothing but zeros are left out, however wide the terminal is', () => {
  const zero = Object.fromEntries(
    Object.entries(summary.lookups).map(([name, counts]) => [
      name,
      {...counts, unknown: 0, skipped: 0, stale: 0},
    ]),
  ) as Summary['lookups'];
  const text = said(fileJob, {summary: {...summary, lookups: zero}});
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
  expect(said(job as unknown as Job, {})).toContain(
    `bulk-enrich rejects out.rejects.ndjson > out.again.${ending} && \${EDITOR:-vi} out.again.${ending} && bulk-enrich run out.again.${ending}`,
  );
});

test('of a reader that has seen enough, as head has, nothing is said but one line', () => {
  const cause = Object.assign(new Error('write EPIPE'), {code: 'EPIPE'});
  const error = new OutputError('output_unwritable', 'Nobody reads.', {cause});
  const gone = {...stopForError(error), message: 'Nobody reads.'};
  expect(said(fileJob, {exitCode: 9, stop: gone, message: gone.message})).toBe('');
  expect(said(fileJob, {exitCode: 9, stop: {...gone, error: undefined}})).not.toBe('');
});

test('where no value was looked at there is no table', () => {
  expect(said(fileJob, {summary: {...summary, lookups: {}}})).toMatch(/^Risk: /);
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

test('a state that went missing before its output was in place is not called safe', () => {
  const lost = {...stop, reason: 'publish_lost', exitCode: 9} as const;
  const text = said(fileJob, {stop: lost, exitCode: 9});
  expect(text).toContain('Missing: out.csv.run, which has every answer paid for.');
  expect(text).not.toContain('Safe:');
});

test('rows that went to a stream can not be explained, so no command for it is named', () => {
  const stream = {...fileJob, output: {kind: 'stream', name: '-', lasts: false}, paths: {}};
  expect(said(stream as unknown as Job, {})).not.toContain('bulk-enrich explain');
});

test('a log tells when a run that used up its day can continue, and how', () => {
  const logged: unknown[] = [];
  const log = {
    error: (fields: unknown) => logged.push(fields),
    warn: (fields: unknown) => logged.push(fields),
  };
  const comeBackMs = Date.parse('2026-01-06T00:00:00.000Z');
  const used = {...stop, reason: 'budget', exitCode: 7, comeBackMs} as const;
  const outcome = {exitCode: 7, summary, stop: used, message: ''} as const;
  renderOutcome({job: fileJob, outcome, line}, {forMachine: true, log} as unknown as Console);
  expect(logged).toEqual([
    expect.objectContaining({
      ...{reason: 'budget', exit_code: 7, come_back_at: '2026-01-06T00:00:00.000Z'},
      to_continue: expect.stringMatching(/^bulk-enrich/),
    }),
  ]);
});
