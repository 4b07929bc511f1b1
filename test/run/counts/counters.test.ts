import fc from 'fast-check';
import {expect, test} from 'vitest';
import type {Row} from '../../../src/input/row.ts';
import type {CellResult} from '../../../src/ledger/lookup-outcome.ts';
import type {Operation} from '../../../src/operations/table.ts';
import type {EnrichedRow} from '../../../src/output/encoder.ts';
import {
  type Counters,
  countReject,
  countRow,
  countTopName,
  countTopNames,
  emptyCounters,
  emptyTopCounts,
  listErrors,
  sumAskedCells,
  sumFailedCells,
  sumUnaskedCells,
  topSummary,
} from '../../../src/run/counts/counters.ts';
import {riskSummary} from '../../../src/run/counts/risk-counts.ts';
import type {RuleSet} from '../../../src/score/rules.ts';
import type {Risk} from '../../../src/score/scorer.ts';
import {whole} from '../../support/whole.ts';

type Columns = Parameters<typeof countRow>[2];
const answerFields = [{name: 'asn', path: ['asn']}];

/** Counts of rows with these results, each in a column of its own. */
function countsOf(
  rows: readonly (Partial<EnrichedRow<Row>> | readonly CellResult[])[],
  {counters = emptyCounters(), operation = 'ip'}: {counters?: Counters; operation?: Operation} = {},
): Counters {
  const column = {target: {operation, cell: () => ''}, answerFields};
  for (const [index, given] of rows.entries()) {
    const row = {type: 'csv', record: index + 1, line: index + 1, fields: []} as const;
    const own = Array.isArray(given) ? {results: given} : (given as Partial<EnrichedRow<Row>>);
    const {results = []} = own;
    const columns = results.map(() => whole<Columns[number]>(column));
    const enriched = {row, results, repairs: undefined, answers: results.map(() => ({})), ...own};
    countRow(counters, {risk: undefined, outcomes: undefined, ...enriched}, columns);
  }
  return counters;
}

const ok: CellResult = {status: 'ok', data: '{}', boughtAt: 1};
const failed: CellResult = {status: 'failed', error: 'odd'};
const unknown: CellResult = {status: 'unknown', error: 'timeout'};
const invalid: CellResult = {status: 'invalid', error: 'ip_malformed'};
const skipped = (error: 'condition' | 'budget'): CellResult => ({status: 'skipped', error});
const scored = (score: number | null, level: Risk['level'] = 'low', more: Partial<Risk> = {}): Risk => ({
  ...{score, level, points: {}, reasons: [], missing: []},
  ...more,
});

test('of each error code the first ten rows are named, and all are counted', () => {
  const counters = emptyCounters();
  for (let record = 1; record <= 12; record++) {
    const place = {record, line: record, file: 'a.csv', detail: '', raw: ''};
    countReject(counters, {type: 'reject', reason: 'column_count', ...place});
  }
  const rows = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  expect(counters.errors).toEqual({'rejected.column_count': {count: 12, rows}});
  expect(counters.rows).toEqual({written: 0, rejected: 12, ok: 0, with_errors: 0});
});

test('a code of this program and the same word of the service are two', () => {
  const error = 'internal_error';
  const service = ['once', 'twice'].map(
    rejected => ({status: 'failed', error, rejected, boughtAt: 1}) as CellResult,
  );
  const results: CellResult[] = [
    {status: 'failed', error},
    ...service,
    {status: 'failed', error, said: 'service'},
    {status: 'failed', error: 'bad_response', rejected: 'twice', boughtAt: 1},
  ];
  const counters = countsOf(results.map(result => [result]));
  expect(listErrors(counters.errors)).toEqual([
    {code: 'ip.internal_error', count: 3, rows: [2, 3, 4], service: true},
    {code: 'ip.internal_error', count: 1, rows: [1]},
    {code: 'ip.bad_response', count: 1, rows: [5]},
  ]);
  expect([counters.rejected.ip, counters.refused]).toEqual([2, 2]);
});

test('the first hundred rows of high risk are named, and all are counted', () => {
  const rows = Array.from({length: 240}, (_, n) => ({risk: scored(70, n % 2 === 1 ? 'high' : 'low')}));
  const {levels, highRows} = countsOf(rows).risk;
  expect(levels.high).toBe(120);
  expect(highRows).toEqual(Array.from({length: 100}, (_, n) => 2 * n + 2));
});

test('a service that has a code for every value fills no summary: of each operation so many are named', () => {
  const codes = [...Array.from({length: 4_000}, (_, n) => `odd_${n + 1}`), 'odd_1'];
  const counters = countsOf(codes.map(error => [{status: 'failed', error}]));
  countsOf([[failed]], {counters, operation: 'email'});
  const listed = listErrors(counters.errors);
  expect(listed).toHaveLength(52);
  expect(listed).toContainEqual({code: 'email.odd', count: 1, rows: [1]});
  expect(listed[0]).toMatchObject({code: 'ip.other_codes', count: 3_950});
  expect(listed[1]).toEqual({code: 'ip.odd_1', count: 2, rows: [1, 4_001]});
});

test('a score of 100 is in the last of ten bars, as one of 90 is', () => {
  const {histogram} = countsOf([0, 9, 10, 89, 90, 100].map(score => ({risk: scored(score)}))).risk;
  expect(histogram).toEqual([2, 1, 0, 0, 0, 0, 0, 0, 1, 2]);
});

test('a field that an answer leaves empty is not counted as there', () => {
  const {lookups, fields} = countsOf([7, null, undefined].map(asn => ({results: [ok], answers: [{asn}]})));
  expect([lookups.ip.ok, fields.ip.asn]).toEqual([3, {present: 1, true: 0}]);
});

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
  expect([sumFailedCells(counters), sumAskedCells(counters)]).toEqual([3, 4]);
});

test('a cell with an expired answer is one that was not asked for, as a skipped one is', () => {
  const counters = countsOf([[{...ok, stale: 'budget'}], [skipped('budget')], [{...ok, stale: 'outage'}]]);
  expect([sumUnaskedCells(counters, 'budget'), sumUnaskedCells(counters, 'outage')]).toEqual([2, 1]);
});

test('a cell with two repairs is one repaired cell', () => {
  const counters = countsOf([{results: [ok], repairs: [['quoted', 'port']]}]);
  expect(counters.repaired.ip).toBe(1);
  const first = {count: 1, rows: [1]};
  expect(counters.repairs).toEqual({'ip.quoted': first, 'ip.port': first});
});

test('a reason may be called like what each object has, and rules count by their outcome', () => {
  const risk = scored(20, 'low', {reasons: ['constructor'], missing: ['toString']});
  const outcomes = {held: [0, 2], undecided: [1], wrong: [3]};
  const counters = countsOf(Array(2).fill({risk, outcomes}));
  expect(counters.risk).toMatchObject({reasons: {constructor: 2}, missing: {toString: 2}, sum: 40});
  const outcome = (name: string) => ({held: 0, undecided: 0, wrong: 0, [name]: 2});
  expect(counters.risk.rules).toEqual({...['held', 'undecided', 'held', 'wrong'].map(outcome)});
});

test('a row without a score tells what it lacked, and does not lower the mean', () => {
  const counters = countsOf([{risk: scored(60, 'high')}, {risk: scored(null, 'unknown', {missing: ['ip']})}]);
  const summary = {scored: 1, unknown: 1, mean: 60, missing: {ip: 1}};
  expect(riskSummary(counters.risk, 2, undefined)).toMatchObject(summary);
});

const rule = (own: boolean) => ({when: 'double(row.n) > 1', add: 1, reason: 'much', place: '', own});
const rulesOf = (...own: boolean[]): RuleSet => ({
  ...{levels: {medium: 30, high: 60}, constants: {}, lists: {}},
  rules: own.map(rule),
});

test('the summary tells that the default rules counted, also beside rules of the job', () => {
  const told = (...own: boolean[]) => riskSummary(emptyCounters().risk, 0, rulesOf(...own)).default_rules;
  expect([told(true), told(false, true), told(false)]).toEqual([false, true, true]);
});

test('a rule that was decided in some rows is no warning, however often its values were of no use', () => {
  const wrong = {risk: scored(0), outcomes: {held: [], undecided: [], wrong: [0]}};
  const warnings = (...rows: Parameters<typeof countsOf>[0]) =>
    riskSummary(countsOf(rows).risk, rows.length, rulesOf(true)).warnings;
  expect(warnings(wrong)[0]).toContain('could not use the values it reads in the only row');
  expect(warnings(wrong, {})).toEqual(['A rule never held in any of 2 rows: much']);
});

test('answers are counted by country, network and domain, wherever an operation has them', () => {
  const top = emptyTopCounts();
  countTopNames(top, 'ip', {country: 'US', asn_organization: ' Example Net '});
  countTopNames(top, 'ip', {country: 'US', asn_organization: ''});
  countTopNames(top, 'phone', {country: 'AU'});
  countTopNames(top, 'verify', {location: {country: 'US'}, email: {domain_name: 'example.org'}});
  countTopNames(top, 'verify', {location: null, email: 'not an object'});
  for (let n = 0; n < 5; n += 1) countTopNames(top, 'email', {domain: 'example.com'});
  expect(topSummary(top)).toEqual({
    countries: {counted: 3, missed_at_most: 0, names: [{name: 'US', count: 3}]},
    networks: {counted: 1, missed_at_most: 0, names: [{name: 'Example Net', count: 1}]},
    domains: {counted: 6, missed_at_most: 0, names: [{name: 'example.com', count: 5}]},
    phone_countries: {counted: 1, missed_at_most: 0, names: [{name: 'AU', count: 1}]},
  });
});

test('a domain with fewer than five rows is never named', () => {
  const top = emptyTopCounts();
  for (let n = 0; n < 4; n += 1) countTopNames(top, 'email', {domain: 'family.example'});
  expect(topSummary(top).domains).toEqual({counted: 4, missed_at_most: 0, names: []});
});

test('names that objects have by themselves are names like any other', () => {
  const top = emptyTopCounts();
  for (const name of ['constructor', 'toString', '__proto__', 'constructor'])
    countTopName(top.networks, name);
  expect(topSummary(top).networks?.names).toEqual([
    {name: 'constructor', count: 2},
    {name: 'toString', count: 1},
  ]);
});

test('memory stays bounded, a common name is kept, and no count is too high', () => {
  const names = fc.array(fc.integer({min: 0, max: 3_000}), {minLength: 2_000, maxLength: 6_000});
  fc.assert(
    fc.property(names, picks => {
      const top = emptyTopCounts();
      const truth = new Map<string, number>();
      for (const [index, pick] of picks.entries()) {
        const name = index % 3 === 0 ? 'common.example' : `domain${pick}.example`;
        countTopName(top.domains, name);
        truth.set(name, (truth.get(name) ?? 0) + 1);
      }
      expect(Object.keys(top.domains.counts).length).toBeLessThanOrEqual(400);
      expect(topSummary(top).domains?.names[0]?.name).toBe('common.example');
      for (const [name, count] of Object.entries(top.domains.counts)) {
        expect(count).toBeLessThanOrEqual(truth.get(name) ?? 0);
        expect(count + top.domains.missed).toBeGreaterThanOrEqual(truth.get(name) ?? 0);
      }
    }),
    {numRuns: 20, seed: 11},
  );
});

test('what a name lacks is never more than is said, however often it was dropped', () => {
  const top = emptyTopCounts();
  for (const round of [1, 2]) {
    for (let times = 0; times < 2; times += 1) countTopName(top.domains, 'lost.example');
    for (let n = 0; n < 400; n += 1)
      for (let times = 0; times < 3; times += 1) countTopName(top.domains, `${round}-${n}.example`);
    expect(top.domains.counts['lost.example']).toBeUndefined();
  }
  countTopName(top.domains, 'lost.example');
  expect((top.domains.counts['lost.example'] ?? 0) + top.domains.missed).toBeGreaterThanOrEqual(5);
});

test('a name that repeats the value is counted without it', () => {
  const top = emptyTopCounts();
  for (const asn_organization of ['dsl-203.0.113.7', 'Example Net', 'host 203.0.113.7'])
    countTopNames(top, 'ip', {country: 'US', asn_organization}, ' 203.0.113.7');
  countTopNames(top, 'email', {domain: 'example.com'}, 'jo@example.com');
  expect(top.networks.counts).toEqual({'[value]': 2, 'Example Net': 1});
  expect([top.countries.counts, top.domains.counts]).toEqual([{US: 3}, {'example.com': 1}]);
});

test('of a long name eighty characters are kept, so names that only differ after them are one', () => {
  const top = emptyTopCounts();
  for (const end of ['a', 'b']) countTopName(top.networks, `${'n'.repeat(80)}${end}`);
  const names = [{name: 'n'.repeat(80), count: 2}];
  expect(topSummary(top).networks).toEqual({counted: 2, missed_at_most: 0, names});
});
