import {expect, test} from 'vitest';
import {buildReport} from '../../src/report/build.ts';
import type {Summary} from '../../src/report/summary.ts';
import {fullSummary} from './summaries.ts';

const {credits, risk, calls} = fullSummary();
const counted = risk as NonNullable<Summary['risk']>;

const factOf = (label: string, changes: Partial<Summary>) =>
  buildReport(fullSummary(changes)).facts.find(fact => fact.label === label);

function sectionOf(title: string, changes: Partial<Summary> = {}) {
  const section = buildReport(fullSummary(changes)).sections.find(found => found.title === title);
  const block = (caption: string) => section?.blocks.find(found => found.caption === caption);
  return {note: section?.note, block};
}

test('credits stand at the top with the doubtful ones, and with all that were saved', () => {
  expect(factOf('Credits spent', {})?.note).toContain('207 more perhaps');
  expect(factOf('Credits saved', {})?.value).toBe('57,351');
});

test('the share of high risk is one of the rows that have a score', () => {
  const few = {...counted, scored: 10_000, high: 1_000};
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
    head: [
      ...['Credits', 'spent', 'perhaps spent', 'saved: asked once for repeats'],
      ...['saved: known from the store', 'saved: not worth a call'],
    ],
    rows: [['All lookups', 53_130, 207, 13_125, 24_834, 19_392]],
  });
});

test('each operation has its calls and credits in the columns of their names', () => {
  const table = sectionOf('Money').block('Calls and credits by operation');
  expect(table).toMatchObject({
    head: ['Operation', 'distinct values', 'from the store', 'calls', 'retries', 'spent', 'perhaps spent'],
  });
  expect(table?.rows[0]).toEqual(['IP addresses', 28_102, 3_310, 24_792, 12, 24_792, 30]);
});

test('credits that conditions saved are a part of all saved ones', () => {
  expect(sectionOf('Money').note).toContain('57,351 were saved. 4,310 of them by conditions on lookups.');
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
  const {block} = sectionOf('Pace and latency', {timeline});
  expect(block('Pace')).toMatchObject({
    head: ['until', 'calls', 'rows'],
    rows: [
      ['1 s', 10, 4],
      ['3 s', 5, 2],
      ['4 s', 20, 8],
    ],
    chart: {ends: [1_000, 3_000, 3_500]},
  });
  expect(block('Latency')).toMatchObject({head: ['until', 'median', '95%'], rows: [['1 s', 1, 2], {}, {}]});
});

test('each share of the calls has its own latency', () => {
  expect(sectionOf('Pace and latency').block('Latency of all calls')).toMatchObject({
    rows: [
      ['half', '84 ms'],
      ['95%', '311 ms'],
      ['99%', '902 ms'],
      ['all', '30 s'],
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
  expect(block('Calls without a usable answer, retried ones included')).toMatchObject({rows: [['301', 2]]});
  expect(note).toContain(' 3 rarer codes are in the summary file.');
  expect(
    block('Codes, most often first')
      ?.rows.slice(0, 2)
      .map(([, , rows]) => rows),
  ).toEqual(['1, 2, 3', '1, 2, …']);
});

test('counts of names that may be too low are told as such', () => {
  const captions = (missed_at_most: number) => {
    const networks = {counted: 9, missed_at_most, names: [{name: 'Example Net', count: 7}]};
    const {sections} = buildReport(fullSummary({top: {networks}}));
    return sections.find(({title}) => title === 'Where they come from')?.blocks.map(({caption}) => caption);
  };
  expect([captions(0), captions(1)]).toEqual([['Networks'], ['Networks (counts are at least these)']]);
});

test('countries of addresses and of phone numbers are told apart', () => {
  const {block} = sectionOf('Where they come from');
  expect(block('Countries of IP addresses')).toMatchObject({
    rows: expect.arrayContaining([['United States (US)', 14_120, '36%']]),
  });
  expect(block('Countries of phone numbers')).toMatchObject({
    rows: expect.arrayContaining([['United States (US)', 6_120, '50%']]),
  });
});

test('values that can not be looked up are counted over all operations', () => {
  expect(sectionOf('Rows and outcomes').note).toContain(" 1,419 values can't be looked up");
});

test('a figure that jumped is shown as it is now, then as it usually is', () => {
  expect(sectionOf('Unlike the last runs').block('What jumped')).toMatchObject({
    rows: [
      ['Share of high risk', '4.9%', '2.1%'],
      ['Mean risk score', '21.4', '9.8'],
      ['Rows', '40,000', '22,410'],
      ['ip.is_vpn', '18%', '4.9%'],
    ],
  });
});

test('each level has the count of its own rows, and the last bar ends at the highest score', () => {
  const {block} = sectionOf('Risk');
  expect(block('Rows by level')).toMatchObject({
    head: ['Rows', 'low', 'medium', 'high', 'unknown'],
    rows: [['All rows', 30_942, 6_801, 1_959, 298]],
  });
  expect(
    block('Rows by score')
      ?.rows.slice(-2)
      .map(([name]) => name),
  ).toEqual(['80–89', '90–100']);
});

test('a rule with an owner or a description is listed; a reason has the words of all its rules', () => {
  const rule = {reason: 'mine', when: 'ip.is_vpn', add: 5, held: 3, undecided: 0, wrong: 0};
  const rules = [
    {...rule, owner: 'fraud team'},
    {...rule, when: 'ip.is_tor_node', description: 'Seen in March'},
    {...rule, reason: 'plain'},
  ];
  const {block} = sectionOf('Risk', {risk: {...counted, reasons: {mine: 6}, rules}});
  expect(block('Rules')).toMatchObject({
    rows: [
      ['mine', 5, 3, '', 'fraud team'],
      ['mine', 5, 3, 'Seen in March', ''],
    ],
  });
  expect(block('Reasons, most often first')).toMatchObject({
    rows: [['mine: ip.is_vpn or ip.is_tor_node', 6, '< 0.1%']],
  });
});

test('a complete run leads with its unreadable rows and the values that were refused in a row', () => {
  const {ip} = fullSummary().lookups;
  const lookups = {ip: {...(ip as Summary['lookups'][string]), refused_in_a_row: 10}};
  const {lead} = buildReport(fullSummary({reason: 'refused_in_a_row', lookups}));
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

test('unreadable rows hide no failed lookup, and a run tells how often it was resumed', () => {
  expect(sectionOf('Rows and outcomes').note).toContain(
    '12 could not be read. In 129 rows a lookup failed or was not made.',
  );
  expect(sectionOf('This run').block('Details')?.rows).toContainEqual(['Resumed', '1 time']);
});
