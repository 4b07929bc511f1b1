import {join} from 'node:path';
import {expect, test} from 'vitest';
import {buildReport} from '../../src/report/build-report.ts';
import {cellText} from '../../src/report/model.ts';
import {renderHtml} from '../../src/report/render/html.ts';
import {renderMarkdown} from '../../src/report/render/markdown.ts';
import {renderMetrics} from '../../src/report/render/metrics.ts';
import type {RiskCounts, Summary} from '../../src/report/summary.ts';
import {expectTexts} from '../support/told.ts';
import {bareSummary, fullSummary} from './summaries.ts';

const {credits, risk, calls, lookups, rows, input} = fullSummary();
const counted = risk as RiskCounts;
const {ip} = lookups as {readonly ip: Summary['lookups'][string]};
const price = {per_credit: 0.25, currency: 'EUR'};
const use = {per_day: {used: 90, limit: 100}, per_month: {used: 700, limit: 900}};
const account = {...credits.account, price, ...use};
const rule = {reason: 'mine', when: 'ip.is_vpn', add: 5, held: 3, undecided: 0, wrong: 0};
const rules = [
  {...rule, owner: 'fraud team'},
  {...rule, when: 'ip.is_tor_node && row.x > 1', description: 'Seen in March'},
  {...rule, reason: 'trial', shadow: true},
  {...rule, reason: 'plain'},
];
const refused = {...ip, refused_in_a_row: 10, stale: 7};
const points = Array.from({length: 241}, (_, n) => n);
const latency = {latency_p50_ms: points, latency_p95_ms: points};
const rising = {calls: points, rows: points, in_flight: points, ...latency};

/** Summaries that differ from the full one in these parts. */
const CASES: Readonly<Record<string, Partial<Summary>>> = {
  'a job without a name, of several lists, which is complete': {
    ...{job: null, status: 'completed', reason: 'done', exit_code: 0, drift: []},
    input: {...input, paths: ['a/b.csv', 'c.csv', 'd.csv']},
    output: {path: '-', bytes: null, sha256: null, delimiter: null},
    rows: {...rows, rejected: 0, with_errors: 0},
    resumed: {times: 0},
  },
  'of stdin, stopped, to be resumed': {
    ...{status: 'interrupted', reason: 'signal', exit_code: 130, job: null},
    input: {...input, paths: ['-']},
  },
  'before its input is known, failed': {
    ...{status: 'failed', reason: 'state_unwritable', exit_code: 9, job: null},
    input: {paths: [], bytes: null, sha256: null},
  },
  'a limit that was passed': {
    ...{status: 'completed', reason: 'fail_if', exit_code: 4, failed_if: ['risk.high > 500']},
    ...{job: null, unfinished_days: ['2026-01-04']},
  },
  'a price, and limits of the account': {credits: {...credits, account}},
  'the embedded service, with a price': {
    credits: {...credits, account, maybe_spent: 0, limit: null, saved: {...credits.saved, by_condition: 0}},
    endpoint: {kind: 'embedded', base_url: null},
  },
  'rules of the job, and few rows': {
    risk: {
      ...{...counted, scored: 10_000, high: 1_000, unknown: 0, rules, warnings: ['A rule never held.']},
      reasons: {mine: 6, vpn: 2, gone: 1},
    },
  },
  'hardly any row was scored': {
    risk: {
      ...{...counted, ...{scored: 2, unknown: 2, low: 0, medium: 0, high: 2}, high_rows: [3, 12], mean: null},
      ...{missing: {ip: 3}, reasons: {own: 1}},
    },
  },
  'no row of high risk': {risk: {...counted, high: 0, high_rows: []}, shared: {}},
  'short stretches of uneven length': {
    timeline: {
      ...{ms: [1_000, 2_000, 500], calls: [10, 10, 10], rows: [4, 4, 4], in_flight: [3, 3, 3]},
      ...{latency_p50_ms: [1, 1, 1], latency_p95_ms: [2, null, 2]},
    },
  },
  'many stretches, and a last one that no step ends at': {timeline: {...rising, ms: points.map(() => 1_000)}},
  'trouble of calls, and with the store': {
    calls: {...calls, by_status: {200: 9, 204: 1, 301: 2}, by_error: {}, oddities: ['Odd.']},
    store: {trouble: 'SQLITE_BUSY', not_looked_up: 5, perhaps_paid_again: 3, not_stored: 2},
  },
  'a code that the service has, too': {
    errors: [
      {code: 'ip.internal_error', count: 2, rows: [1, 2], service: true},
      {code: 'ip.internal_error', count: 1, rows: [3]},
    ],
  },
  'values that were refused in a row': {reason: 'refused_in_a_row', lookups: {ip: refused}},
  'many codes, of which some rows are not named': {
    errors: Array.from({length: 23}, (_, n) => ({
      ...{code: `ip.code_${n}`, count: 3, rows: n === 1 ? [1, 2] : [1, 2, 3]},
    })),
    repairs: [{code: 'phone.decimal_zero', count: 1_203, rows: [2, 7]}],
  },
  'counts of names that may be too low': {
    top: {networks: {counted: 9, missed_at_most: 1, names: [{name: 'Example Net', count: 7}]}},
  },
};

const textOf = (summary: Summary) =>
  `${renderMarkdown(buildReport(summary))}\n${renderMetrics(summary).replace(/\{job_name="[^"]*",?/g, '{')}`;

test('reports and metrics of all kinds of runs (UPDATE=1 writes them)', () => {
  const others = Object.entries(CASES).map(([name, of]) => [name, textOf(fullSummary(of))] as const);
  expectTexts(join(import.meta.dirname, 'figures.txt'), [
    ['something of everything', textOf(fullSummary())],
    ['stopped before its first row, without figures', textOf(bareSummary())],
    ...others,
  ]);
});

const PAGES = Object.entries(CASES).map(([name, of]) => [name, fullSummary(of)] as const);

test.each([
  ['something of everything', fullSummary()] as const,
  ['without figures', bareSummary()] as const,
  ...PAGES,
])('the HTML page tells what the Markdown tells: %s', (_, summary) => {
  const report = buildReport(summary);
  const {title, status, lead, facts, sections} = report;
  const blocks = sections.flatMap(section => section.blocks);
  const texts = [
    ...[lead, ...facts.flatMap(({value, note}) => [value, note])],
    ...sections.flatMap(section => [section.title, section.note]),
    ...blocks.flatMap(({caption, head, rows}) => [caption, ...head, ...rows.flat().map(cellText)]),
  ];
  const page = renderHtml(report).replaceAll('<wbr>', '');
  for (const text of texts) expect(page).toContain(escaped(text ?? ''));
  expect(page).toContain(`<title>${title}: ${status.text}</title>`);
  expect(page).toContain(`<h1>${title}</h1>`);
});

const entity: Readonly<Record<string, string>> = {'&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": '#39'};
const escaped = (text: string) => text.replace(/[&<>"']/g, character => `&${entity[character]};`);
