import {expect, test} from 'vitest';
import type {Row} from '../../../src/input/row.ts';
import type {Result} from '../../../src/ledger/lookup.ts';
import type {EnrichedRow} from '../../../src/output/encoder.ts';
import {
  asked,
  type Counters,
  countFailure,
  countReject,
  countRow,
  emptyCounters,
  failures,
  listErrors,
  unasked,
} from '../../../src/run/counts/counters.ts';
import {riskSummary} from '../../../src/run/counts/risk-summary.ts';
import type {Risk} from '../../../src/score/risk.ts';
import type {RuleSet} from '../../../src/score/rules.ts';

test('of each error code the first ten rows are named, and all are counted', () => {
  const counters = emptyCounters();
  for (let record = 1; record <= 12; record++) {
    const place = {record, line: record, file: 'a.csv', detail: '', raw: ''};
    countReject(counters, {type: 'reject', reason: 'column_count', ...place});
  }
  expect(counters.errors).toEqual({
    'rejected.column_count': {count: 12, rows: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]},
  });
  expect(counters.rows).toEqual({written: 0, rejected: 12, ok: 0, with_errors: 0});
});

test('the first hundred rows of high risk are named, and all are counted', () => {
  const counters = emptyCounters();
  for (let record = 1; record <= 240; record++) {
    const level = record % 2 === 0 ? 'high' : 'low';
    const row = {type: 'csv' as const, record, line: record, fields: []};
    const risk = {score: 70, level, points: {}, reasons: [], missing: []} as Risk;
    countRow(counters, {row, results: [], answers: [], risk} as unknown as EnrichedRow<Row>, []);
  }
  expect(counters.risk.levels.high).toBe(120);
  expect(counters.risk.highRows).toEqual(Array.from({length: 100}, (_, n) => 2 * n + 2));
});

test('a service that has a code for every value fills no summary: of each operation so many are named', () => {
  const counters = emptyCounters();
  for (let row = 1; row <= 4_000; row++) countFailure(counters, 'ip', `odd_${row}`, row);
  countFailure(counters, 'ip', 'odd_1', 4_001);
  countFailure(counters, 'email', 'odd', 4_002);
  const codes = listErrors(counters.errors);
  expect(codes).toHaveLength(52);
  expect(codes[0]).toMatchObject({code: 'ip.other_codes', count: 3_950});
  expect(codes[1]).toEqual({code: 'ip.odd_1', count: 2, rows: [1, 4_001]});
  expect(codes).toContainEqual({code: 'email.odd', count: 1, rows: [4_002]});
});

test('a score of 100 is in the last of ten bars, as one of 90 is', () => {
  const counters = emptyCounters();
  for (const score of [0, 9, 10, 89, 90, 100]) {
    const row = {type: 'csv' as const, record: 1, line: 1, fields: []};
    const risk = {score, level: 'low', points: {}, reasons: [], missing: []} as Risk;
    countRow(counters, {row, results: [], answers: [], risk} as unknown as EnrichedRow<Row>, []);
  }
  expect(counters.risk.histogram).toEqual([2, 1, 0, 0, 0, 0, 0, 0, 1, 2]);
});

test('a field that an answer leaves empty is not counted as there', () => {
  const counters = emptyCounters();
  const columns = [
    {target: {operation: 'ip', cell: () => ''}, answerFields: [{name: 'asn', path: ['asn']}]},
  ] as unknown as Parameters<typeof countRow>[2];
  for (const asn of [7, null, undefined]) {
    const row = {type: 'csv' as const, record: 1, line: 1, fields: []};
    const results = [{status: 'ok', data: '{}'}];
    countRow(counters, {row, results, answers: [{asn}]} as unknown as EnrichedRow<Row>, columns);
  }
  expect([counters.lookups.ip.ok, counters.fields.ip.asn]).toEqual([3, {present: 1, true: 0}]);
});

/** Counts of rows with these results, each in a column of its own. */
function countsOf(rows: readonly (readonly Result[])[], more: Partial<EnrichedRow<Row>> = {}): Counters {
  const counters = emptyCounters();
  const column = {target: {operation: 'ip', cell: () => ''}, answerFields: []};
  for (const [index, results] of rows.entries()) {
    const row = {type: 'csv' as const, record: index + 1, line: index + 1, fields: []};
    const enriched = {row, results, answers: results.map(() => ({})), ...more};
    const columns = results.map(() => column) as unknown as Parameters<typeof countRow>[2];
    countRow(counters, enriched as unknown as EnrichedRow<Row>, columns);
  }
  return counters;
}

const ok: Result = {status: 'ok', data: '{}', boughtAt: 1};
const failed: Result = {status: 'failed', error: 'odd'};
const unknown: Result = {status: 'unknown', error: 'timeout'};
const invalid: Result = {status: 'invalid', error: 'ip_malformed'};
const skipped = (error: 'condition' | 'budget'): Result => ({status: 'skipped', error});

test('a row has errors if a value got no answer, not if it was left out by choice or can not be looked up', () => {
  const rows = [[ok], [invalid], [skipped('condition')], [failed], [unknown], [skipped('budget')]];
  const counters = countsOf([...rows, [failed, invalid], [invalid, ok]]);
  expect(counters.rows).toMatchObject({written: 8, ok: 4, with_errors: 4});
  expect(counters.errors).toEqual({
    'ip.ip_malformed': {count: 3, rows: [2, 7, 8]},
    'ip.odd': {count: 2, rows: [4, 7]},
    'ip.timeout': {count: 1, rows: [5]},
    'ip.budget': {count: 1, rows: [6]},
  });
});

test('values without an answer are the failed and the doubtful ones; those skipped were not asked', () => {
  const counters = countsOf([[ok], [failed], [unknown], [unknown], [invalid], [skipped('budget')]]);
  expect([failures(counters), asked(counters)]).toEqual([3, 4]);
});

test('a cell with an expired answer is one that was not asked for, as a skipped one is', () => {
  const counters = countsOf([[{...ok, stale: 'budget'}], [skipped('budget')], [{...ok, stale: 'outage'}]]);
  expect([unasked(counters, 'budget'), unasked(counters, 'outage')]).toEqual([2, 1]);
});

test('a cell with two repairs is one repaired cell', () => {
  const counters = countsOf([[ok]], {repairs: [['trimmed', 'port']]} as unknown as Partial<EnrichedRow<Row>>);
  expect(counters.repaired.ip).toBe(1);
  expect(counters.repairs).toEqual({
    'ip.trimmed': {count: 1, rows: [1]},
    'ip.port': {count: 1, rows: [1]},
  });
});

test('a reason may be called like what each object has, and rules count by their outcome', () => {
  const risk = {score: 20, level: 'low', points: {}, reasons: ['constructor'], missing: ['toString']};
  const outcomes = {held: [0, 2], undecided: [1], wrong: [3]};
  const counters = countsOf([[ok], [ok]], {risk, outcomes} as unknown as Partial<EnrichedRow<Row>>);
  expect(counters.risk).toMatchObject({reasons: {constructor: 2}, missing: {toString: 2}, sum: 40});
  const outcome = (name: string) => ({held: 0, undecided: 0, wrong: 0, [name]: 2});
  expect(counters.risk.rules).toEqual({
    0: outcome('held'),
    1: outcome('undecided'),
    2: outcome('held'),
    3: outcome('wrong'),
  });
});

const scored = (score: number | null, level: string, missing: readonly string[] = []) =>
  ({score, level, points: {}, reasons: [], missing}) as unknown as Risk;

test('a row without a score tells what it lacked, and does not lower the mean', () => {
  const counters = countsOf([[ok]], {risk: scored(60, 'high')});
  const row = {type: 'csv' as const, record: 2, line: 2, fields: []};
  const unknown = {row, results: [], answers: [], risk: scored(null, 'unknown', ['ip'])};
  countRow(counters, unknown as unknown as EnrichedRow<Row>, []);
  expect(riskSummary(counters, undefined)).toMatchObject({scored: 1, unknown: 1, mean: 60, missing: {ip: 1}});
});

test('the summary tells that the default rules counted, also beside rules of the job', () => {
  const rule = (own: boolean) => ({when: 'ip.is_vpn', add: 1, reason: `r_${own}`, place: '', own});
  const set = (...own: boolean[]): RuleSet => ({
    levels: {medium: 30, high: 60},
    rules: own.map(rule),
    constants: {},
    lists: {},
  });
  const told = (...own: boolean[]) => riskSummary(emptyCounters(), set(...own)).default_rules;
  expect([told(true), told(false, true), told(false)]).toEqual([false, true, true]);
});

test('a rule that was decided in some rows is no warning, however often its values were of no use', () => {
  const rule = {when: 'double(row.n) > 1', add: 1, reason: 'much', place: 'rules.yaml:2', own: true};
  const set: RuleSet = {levels: {medium: 30, high: 60}, rules: [rule], constants: {}, lists: {}};
  const wrong = {risk: scored(0, 'low'), outcomes: {held: [], undecided: [], wrong: [0]}};
  const counters = countsOf([[ok]], wrong as unknown as Partial<EnrichedRow<Row>>);
  expect(riskSummary(counters, set).warnings[0]).toContain(
    'could not use the values it reads in the only row',
  );
  const row = {type: 'csv' as const, record: 2, line: 2, fields: []};
  countRow(counters, {row, results: [], answers: []} as unknown as EnrichedRow<Row>, []);
  expect(riskSummary(counters, set).warnings).toEqual(['A rule never held in any of 2 rows: much']);
});
