import {expect, test} from 'vitest';
import {buildReport} from '../../src/report/build-report.ts';
import type {RiskCounts, Summary} from '../../src/report/summary.ts';
import {fullSummary} from './summaries.ts';

const {credits, risk, calls, lookups} = fullSummary();
const counted = risk as RiskCounts;
const price = {per_credit: 0.25, currency: 'EUR'};
const priced = {credits: {...credits, account: {...credits.account, price}}};
const free = {...priced, endpoint: {kind: 'embedded', base_url: null}};

const factOf = (label: string, changes: Partial<Summary> = {}) =>
  buildReport(fullSummary(changes)).facts.find(fact => fact.label === label);

function sectionOf(title: string, changes: Partial<Summary> = {}) {
  const section = buildReport(fullSummary(changes)).sections.find(found => found.title === title);
  const block = (caption: string) => section?.blocks.find(found => found.caption === caption);
  return {note: section?.note, block, captions: section?.blocks.map(({caption}) => caption)};
}

test('credits stand at the top with the doubtful ones, and with all that were saved; high risk among the scored rows', () => {
  expect(factOf('Credits spent')?.note).toContain('207 more perhaps');
  expect(factOf('Credits saved')?.value).toBe('57,351');
  const few = {...counted, scored: 10_000, high: 1_000};
  expect(factOf('High risk', {risk: few})).toMatchObject({value: '1,000', note: '10% of scored rows'});
});

test.each<[string, string, Partial<Summary>?]>([
  ['Money', 'At 0.25 EUR a credit that is 13,282.50 EUR, and perhaps 51.75 EUR.', priced],
  ['Money', 'The embedded service is free.', free],
  ['Money', '57,351 were saved. 4,310 of them by conditions on lookups.'],
  ['Rows and outcomes', " 1,419 values can't be looked up"],
  ['Rows and outcomes', '12 could not be read. In 129 rows a lookup failed or was not made.'],
])('%s: %s', (title, words, changes) => expect(sectionOf(title, changes).note).toContain(words));

test('the embedded service costs no money', () => expect(sectionOf('Money', free).note).not.toContain('EUR'));

const rule = {reason: 'mine', when: 'ip.is_vpn', add: 5, held: 3, undecided: 0, wrong: 0};
const rules = [
  {...rule, owner: 'fraud team'},
  {...rule, when: 'ip.is_tor_node', description: 'Seen in March'},
  {...rule, reason: 'plain'},
];
const ruled = {risk: {...counted, reasons: {mine: 6}, rules}};
const stretches = {
  timeline: {
    ...{ms: [1_000, 2_000, 500], calls: [10, 10, 10], rows: [4, 4, 4], in_flight: [3, 3, 3]},
    ...{latency_p50_ms: [1, 1, 1], latency_p95_ms: [2, 2, 2]},
  },
};

/** Each block has these columns, if they are given, and begins with these rows. */
test.each<[string, string, readonly string[] | undefined, readonly unknown[][], Partial<Summary>?]>([
  [
    'Money',
    'Credits: what all lookups would have cost, one by one',
    [
      ...['Credits', 'spent', 'perhaps spent', 'saved: asked once for repeats'],
      ...['saved: known from the store', 'saved: not worth a call'],
    ],
    [['All lookups', 53_130, 207, 13_125, 24_834, 19_392]],
  ],
  [
    'Money',
    'Calls and credits by operation',
    ['Operation', 'distinct values', 'from the store', 'calls', 'retries', 'spent', 'perhaps spent'],
    [['IP addresses', 28_102, 3_310, 24_792, 12, 24_792, 30]],
  ],
  // The pace of each stretch is by its own length.
  [
    'Pace and latency',
    'Pace',
    ['until', 'calls', 'rows'],
    [
      ['1 s', 10, 4],
      ['3 s', 5, 2],
      ['4 s', 20, 8],
    ],
    stretches,
  ],
  ['Pace and latency', 'Latency', ['until', 'median', '95%'], [['1 s', 1, 2]], stretches],
  [
    'Pace and latency',
    'Latency of all calls',
    undefined,
    [
      ['half', '84 ms'],
      ['95%', '311 ms'],
      ['99%', '902 ms'],
      ['all', '30 s'],
    ],
  ],
  // Every status that is no success is told, redirects too.
  [
    'Where something was wrong',
    'Calls without a usable answer, retried ones included',
    undefined,
    [['301', 2]],
    {calls: {...calls, by_status: {200: 9, 204: 1, 301: 2}, by_error: {}}},
  ],
  ['Where they come from', 'Countries of IP addresses', undefined, [['United States (US)', 14_120, '36%']]],
  ['Where they come from', 'Countries of phone numbers', undefined, [['United States (US)', 6_120, '50%']]],
  [
    'Unlike the last runs',
    'What jumped',
    ['What', 'this run', 'usually'],
    [
      ['Share of high risk', '4.9%', '2.1%'],
      ['Mean risk score', '21.4', '9.8'],
      ['Rows', '40,000', '22,410'],
      ['ip.is_vpn', '18%', '4.9%'],
    ],
  ],
  [
    'Risk',
    'Rows by level',
    ['Rows', 'low', 'medium', 'high', 'unknown'],
    [['All rows', 30_942, 6_801, 1_959, 298]],
  ],
  // A rule with an owner or a description is listed; a reason has the words of all its rules.
  [
    'Risk',
    'Rules',
    undefined,
    [
      ['mine', 5, 3, '', 'fraud team'],
      ['mine', 5, 3, 'Seen in March', ''],
    ],
    ruled,
  ],
  [
    'Risk',
    'Reasons, most often first',
    undefined,
    [['mine: ip.is_vpn or ip.is_tor_node', 6, '< 0.1%']],
    ruled,
  ],
  // A field that no answer had has no share of yes.
  [
    'Answer fields',
    'Shares of the answers',
    undefined,
    [
      ['ip.is_vpn', '100%', '5.4%'],
      ['ip.is_tor_node', '100%', '0.8%'],
      ['ip.is_threat', '0%', ''],
      ['ip.postal_code', '30%', ''],
      ['email.is_trusted', '100%', '89%'],
    ],
  ],
])('%s, %s', (title, caption, head, rows, changes) => {
  const block = sectionOf(title, changes).block(caption);
  if (head !== undefined) expect(block?.head).toEqual(head);
  expect(block?.rows.slice(0, rows.length)).toEqual(rows);
});

test('a rule that nobody describes is not listed; the last bar ends at the highest score; stretches end at their own time', () => {
  expect(sectionOf('Risk', ruled).block('Rules')?.rows).toHaveLength(2);
  const bars = sectionOf('Risk').block('Rows by score')?.rows ?? [];
  expect(bars.slice(-2).map(([name]) => name)).toEqual(['80–89', '90–100']);
  const {chart} = sectionOf('Pace and latency', stretches).block('Pace') ?? {};
  expect(chart).toMatchObject({ends: [1_000, 3_000, 3_500]});
});

test('rarer codes are counted, and rows that are not named are told', () => {
  const errors = Array.from({length: 23}, (_, n) => ({code: `ip.code_${n}`, count: 3, rows: [1, 2, 3]}));
  errors[1] = {code: 'ip.code_1', count: 3, rows: [1, 2]};
  const {note, block} = sectionOf('Where something was wrong', {errors});
  expect(note).toContain(' 3 rarer codes are in the summary file.');
  const [first, second] = block('Codes, most often first')?.rows ?? [];
  expect([first?.[2], second?.[2]]).toEqual(['1, 2, 3', '1, 2, …']);
});

test('counts of names that may be too low are told as such', () => {
  const captions = (missed_at_most: number) => {
    const networks = {counted: 9, missed_at_most, names: [{name: 'Example Net', count: 7}]};
    return sectionOf('Where they come from', {top: {networks}}).captions;
  };
  expect([captions(0), captions(1)]).toEqual([['Networks'], ['Networks (counts are at least these)']]);
});

test('a complete run leads with its unreadable rows and the values that were refused in a row', () => {
  const refused = {ip: {...(lookups.ip as Summary['lookups'][string]), refused_in_a_row: 10}};
  const {lead} = buildReport(fullSummary({reason: 'refused_in_a_row', lookups: refused}));
  expect(lead).toMatch(
    /^40,000 rows written, 12 rejected as unreadable\. .* 10 ip values in a row were refused/,
  );
});

test('a stopped run leads with the next step: the same command, or the time to come back', () => {
  const lead = (come_back_at?: string) =>
    buildReport(fullSummary({status: 'interrupted', ...(come_back_at !== undefined && {come_back_at})})).lead;
  expect(lead()).toContain('The same command resumes it.');
  expect(lead('2026-01-06T00:00:00.000Z')).toContain('Run again after 6 Jan 2026, 00:00 UTC.');
});

test('a run tells how often it was resumed', () => {
  expect(sectionOf('This run').block('Details')?.rows).toContainEqual(['Resumed', '1 time']);
});
