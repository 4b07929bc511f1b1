import {expect, test} from 'vitest';
import {buildReport} from '../../src/report/build.ts';
import type {Summary} from '../../src/report/summary.ts';
import {fullSummary} from './summaries.ts';

const {credits, risk, calls} = fullSummary();

const factOf = (label: string, changes: Partial<Summary>) =>
  buildReport(fullSummary(changes)).facts.find(fact => fact.label === label);

function sectionOf(title: string, changes: Partial<Summary> = {}) {
  const section = buildReport(fullSummary(changes)).sections.find(found => found.title === title);
  const block = (caption: string) => section?.blocks.find(found => found.caption === caption);
  return {note: section?.note, block};
}

test('credits stand at the top with those of earlier attempts, doubtful ones included, and with all that were saved', () => {
  const earlier = {...credits.earlier, counted: {spent: 1_200, maybe_spent: 34}};
  expect(factOf('Credits spent', {credits: {...credits, earlier}})?.note).toContain(
    '1,234 of it by earlier attempts',
  );
  expect(factOf('Credits saved', {})?.value).toBe('57,351');
});

test('the share of high risk is one of the rows that have a score', () => {
  const few = {...(risk as NonNullable<Summary['risk']>), scored: 10_000, high: 1_000};
  expect(factOf('High risk', {risk: few})).toMatchObject({value: '1,000', note: '10% of scored rows'});
});

test('credits have their money, doubtful ones apart; the embedded service costs none', () => {
  const price = {per_credit: 0.25, currency: 'EUR'};
  const priced = {credits: {...credits, account: {...credits.account, price}}};
  expect(sectionOf('Money', priced).note).toContain(
    'At 0.25 EUR a credit that is 13,282.50 EUR, and perhaps 51.75 EUR.',
  );
  const free = sectionOf('Money', {...priced, endpoint: {kind: 'embedded', base_url: null}});
  expect(free.note).toContain('The embedded service is free.');
  expect(free.note).not.toContain('EUR');
});

test('each part of the credits has the name of what saved it', () => {
  const stack = sectionOf('Money').block('Credits: what all lookups would have cost, one by one');
  expect(stack).toMatchObject({
    keys: [
      {name: 'spent'},
      {name: 'perhaps spent'},
      {name: 'saved: asked once for repeats'},
      {name: 'saved: known from the store'},
      {name: 'saved: not worth a call'},
    ],
    rows: [{counts: [53_130, 207, 13_125, 24_834, 19_392]}],
  });
});

test('the pace of each stretch is by its own length, at its own time', () => {
  const timeline = {
    ms: [1_000, 2_000, 500],
    calls: [10, 10, 10],
    rows: [4, 4, 4],
    latency_p50_ms: [1, 1, 1],
    latency_p95_ms: [2, 2, 2],
    in_flight: [3, 3, 3],
  };
  expect(sectionOf('Pace and latency', {timeline}).block('Pace')).toMatchObject({
    ends: [1_000, 3_000, 3_500],
    series: [
      {name: 'calls', values: [10, 5, 20]},
      {name: 'rows', values: [4, 2, 8]},
    ],
  });
});

test('every status that is no success is told, redirects too; rarer codes are counted, and so are rows without a number', () => {
  const errors = Array.from({length: 23}, (_, n) => ({code: `ip.code_${n}`, count: 3, rows: [1, 2, 3]}));
  errors[1] = {code: 'ip.code_1', count: 3, rows: [1, 2]};
  const {note, block} = sectionOf('Where something was wrong', {
    errors,
    calls: {...calls, by_status: {200: 9, 204: 1, 301: 2}, by_error: {}},
  });
  expect(block('Calls without a usable answer, retried ones included')).toMatchObject({rows: [['301', '2']]});
  expect(note).toContain(' 3 rarer codes are in the summary file.');
  const codes = block('Codes, most often first') as {rows: readonly (readonly string[])[]};
  expect(codes.rows.slice(0, 2).map(([, , rows]) => rows)).toEqual(['1, 2, 3', '1, 2, …']);
});

test('counts of names that may be too low are told as such', () => {
  const captions = (missed_at_most: number) => {
    const networks = {counted: 9, missed_at_most, names: [{name: 'Example Net', count: 7}]};
    const {sections} = buildReport(fullSummary({top: {networks}}));
    return sections.find(({title}) => title === 'Where they come from')?.blocks.map(({caption}) => caption);
  };
  expect([captions(0), captions(1)]).toEqual([['Networks'], ['Networks (counts are at least these)']]);
});

test('reasons that came are a share of the rows of now', () => {
  const counts = {old: 0, new: 0};
  const changes = {
    compared_with: 'last.csv',
    key: ['ip'],
    rows: {old: 10, new: 40},
    new: 31,
    gone: 1,
    changed: 4,
    unchanged: 5,
    without_key: counts,
    repeated: counts,
    levels: {},
    reasons: {came: {vpn: 4}, went: {}},
    answers: {},
    columns: {old: [], new: []},
  };
  const {block} = sectionOf('Since the last output', {changes});
  expect(block('Reasons that came')).toMatchObject({of: 40, rows: [{name: 'vpn', count: 4}]});
  expect(block('Rows')).toMatchObject({
    rows: [
      ['new', '31'],
      ['gone', '1'],
      ['changed', '4'],
      ['unchanged', '5'],
    ],
  });
});

test('values that can not be looked up are counted over all operations', () => {
  expect(sectionOf('Rows and outcomes').note).toContain(" 1,419 values can't be looked up");
});
