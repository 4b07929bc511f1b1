import {describe, expect, test} from 'vitest';
import {buildReport} from '../../src/report/build-report.ts';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatMoment,
  formatPercent,
} from '../../src/report/format.ts';

import {drawLines, renderHtml, roundUp} from '../../src/report/render/html.ts';
import {renderMarkdown} from '../../src/report/render/markdown.ts';
import {reasonMeanings} from '../../src/report/sections/risk-section.ts';
import type {RiskCounts, Summary} from '../../src/report/summary.ts';
import {defaultRules} from '../../src/score/rules.ts';
import {bareSummary, fullSummary} from './summaries.ts';

/** All texts of a report that come from outside: none may become markup. */
const EVIL =
  '"><script>alert(1)</script>|\n# [x](https://example.com) <b>&amp;`*_ www.example.com jo@example.com @someone';

const hostile = fullSummary({
  job: EVIL,
  reason: EVIL,
  endpoint: {kind: EVIL, base_url: EVIL},
  input: {paths: [EVIL], bytes: 1, sha256: EVIL},
  output: {path: EVIL, bytes: 1, sha256: EVIL, delimiter: ','},
  errors: [{code: EVIL, count: 3, rows: [1]}],
  repairs: [{code: EVIL, count: 3, rows: [1]}],
  lookups: {[EVIL]: fullSummary().lookups.ip as Summary['lookups'][string]},
  fields: {[EVIL]: {[EVIL]: {present: 1, true: 1}}},
  top: {networks: {counted: 5, missed_at_most: 1, names: [{name: EVIL, count: 5}]}},
  drift: [{what: EVIL, now: 1, usual: 0, runs: 3}],
  risk: {
    ...(fullSummary().risk as NonNullable<Summary['risk']>),
    reasons: {[EVIL]: 1},
    missing: {[EVIL]: 1},
  },
});

const html = (summary: Summary) => renderHtml(buildReport(summary));
const markdown = (summary: Summary) => renderMarkdown(buildReport(summary));

test.each([
  ['HTML', html],
  ['Markdown', markdown],
])('no text of a run steers the terminal in which its %s report is shown', (_, render) => {
  const steering = 'a\u001b[2Jb\u009bc\u202ed\u2066e\u0007';
  const page = render({...hostile, job: steering, output: {...hostile.output, path: steering}});
  expect(page).not.toMatch(/(?![\t\n])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
  expect(page.replaceAll('<wbr>', '')).toMatch(/a.{0,2}\[2Jbcde/);
});

describe('the HTML page', () => {
  test.each<[Partial<Summary>, string]>([
    [{}, 'nightly-signups (signups-2026-01-05.csv)'],
    [{job: null}, 'signups-2026-01-05.csv'],
    [{job: null, input: {paths: ['a/b.csv', 'c.csv', 'd.csv'], bytes: 1, sha256: ''}}, 'b.csv and 2 more'],
    [{job: null, input: {paths: ['-'], bytes: 1, sha256: ''}}, 'stdin'],
    [{job: null, input: {paths: [], bytes: 1, sha256: ''}}, 'Enrichment run'],
  ])('is named by its list, in its title and its heading: %#', (changes, name) => {
    const page = html(fullSummary(changes));
    expect(page).toContain(`<title>${name}: Complete, with gaps</title>`);
    expect(page).toContain(`<h1>${name}</h1>`);
    expect(markdown(fullSummary(changes))).toMatch(/^# .*: Complete, with gaps$/m);
  });

  test('leads from the rows of high risk to their numbers, and to the command that lists all', () => {
    const risk = (high: number[]) => ({...(fullSummary().risk as RiskCounts), high: 1_959, high_rows: high});
    const page = html(fullSummary({risk: risk(Array.from({length: 100}, (_, n) => 7 * n + 1))}));
    expect(page).toContain('<a href="#risk">1,959</a>');
    const plain = page.replaceAll('<wbr>', '');
    expect(plain).toMatch(/>The first 100 rows of high risk<.*>1, 8, 15, .*, 694, …</s);
    expect(plain).toContain('bulk-enrich explain exports/signups-2026-01-05.enriched.csv --level high');
    const output = {path: '-', bytes: null, sha256: null, delimiter: null};
    const few = html(fullSummary({risk: {...risk([3, 12]), high: 2}, output}));
    expect(few).toMatch(/>Rows of high risk<.*>3, 12</s);
    expect(few).not.toContain('bulk-enrich explain');
    expect(html(fullSummary({risk: {...risk([]), high: 0}}))).not.toContain('ows of high risk<');
  });

  const counted = fullSummary().risk as RiskCounts;
  const counts = {add: 9, held: 1, undecided: 0, wrong: 0};
  const rules = [{reason: 'tor', when: 'ip.is_tor_node && row.x > 1', ...counts}];
  test.each<[string, Partial<Summary>, readonly string[]]>([
    [
      'repairs with the meaning of their codes',
      {repairs: [{code: 'phone.decimal_zero', count: 1_203, rows: [2, 7]}]},
      ['Repaired before the lookup', 'phone.decimal_zero', '1,203', '2, 7, …', 'The .0 at its end'],
    ],
    [
      'reasons in words: their meaning, or the rule of the job',
      {risk: {...counted, reasons: {tor: 3, vpn: 2, gone: 1}, rules}},
      ['vpn: the address of a VPN', 'tor: ip.is_tor_node &amp;&amp; row.x &gt; 1', '>gone<'],
    ],
    [
      'that nothing was spent at the embedded service',
      {endpoint: {kind: 'embedded', base_url: null}},
      [
        'The embedded service is free. At a live service: 53,130 credits',
        '<dt>Credits spent</dt><dd>0</dd><dd class="note">a live service: 53,130',
      ],
    ],
    [
      'the limits that were passed',
      {reason: 'fail_if', exit_code: 4, failed_if: ['risk.high > 500']},
      ['Exit code 4 (fail if). Limit passed: risk.high &gt; 500.'],
    ],
    [
      'money, rows, risk, places, pace and trouble, with the meaning of codes',
      {},
      [
        ...['nightly-signups', 'Complete, with gaps', '5 Jan 2026, 02:00 UTC, ran for 24 min 36 s', '53,130'],
        ...['The limit was 60,000.', '207 more may have been charged', '91,360 of 91,489', '1,959'],
        ...['untrusted_email', 'United States (US)', 'Fictional Broadband GmbH', 'mail.example.net'],
        ...['36.2 calls a second', '3 pauses, 3 min 12 s in all', 'email.timeout', 'econnrefused'],
        ...['12, 53, 97, 146, 201, 388, 402, 511, 689, 702, …', 'Share of high risk', '2.1%', '1 time'],
        'An IPv6 address: the service takes IPv4 only.',
      ],
    ],
  ])('shows %s', (_, changes, texts) => {
    const page = html(fullSummary(changes)).replaceAll('<wbr>', '');
    for (const text of texts) expect(page).toContain(text);
    expect(page.includes('Repaired before')).toBe(changes.repairs !== undefined);
  });

  test('has a meaning of every default reason, in words', () => {
    for (const {reason} of defaultRules)
      expect(reasonMeanings[reason], reason).toMatch(/^(?!.*_)[a-z].*[^.]$/i);
  });

  test('needs nothing but itself, and its own policy refuses the rest', () => {
    const page = html(fullSummary());
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"`);
    expect(page).not.toMatch(/<script|<link(?! rel="icon" href="data:,")|<img|<iframe|@import|url\(/);
    const links = [...page.matchAll(/\b(src|href|action)="([^"]*)"/g)].map(([, , to]) => to);
    expect(links).toEqual(['data:,', '#risk']);
    expect(page).toContain('<section id="risk">');
  });

  test('has the figures of every chart in a table', () => {
    const page = html(fullSummary());
    for (const [figure] of page.matchAll(/<figure.*?<\/figure>/gs)) {
      expect(figure).toContain('<table');
      expect(figure).toMatch(/<svg class="\w+"[^>]* role="img" aria-label="[^"]{10,}"/);
    }
    expect(page.match(/<figure/g)).toHaveLength(7);
    expect(page).toMatch(/<td class="figure" data-label="[^"]+">17,906<\/td>/);
  });

  test('adds up all bars in the legend, each bar in its own row, and gives shares of all that was counted', () => {
    const {ip, email} = fullSummary().lookups as {[name: string]: Summary['lookups'][string]};
    const lookups = {ip, email: {...email, answered: 40_000}} as Summary['lookups'];
    const page = html(fullSummary({lookups}));
    expect(page).toContain('answered <b>79,602</b>');
    expect(page).toMatch(/data-label="all">40,000<[\s\S]*data-label="all">40,443</);
    expect(page).toContain('14,120</td><td class="figure share">36%</td>');
    expect(page).toContain('1,959</a></dd><dd class="note">4.9% of scored rows</dd>');
  });

  test('of a run that did nothing says that, without empty charts', () => {
    const page = html(bareSummary());
    expect(page).toContain('Stopped: outage (exit code 5), with 0 rows written so far. Run again after');
    expect(page).not.toMatch(/<figure|NaN|undefined|null/);
  });

  test('lets no text become markup', () => {
    const page = html(hostile);
    expect(page).not.toContain('<script');
    expect(page).not.toContain('<b>&amp;`');
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  });

  test.each<[Partial<Summary>, string]>([
    [{status: 'completed', reason: 'done', exit_code: 0}, 'good">Complete<'],
    [{status: 'completed', reason: 'drift', exit_code: 4}, 'warn">Complete, limit passed<'],
    [{status: 'partial', exit_code: 3}, 'warn">Complete, with gaps<'],
    [{status: 'interrupted', reason: 'signal', exit_code: 130}, 'warn">Interrupted<'],
    [{status: 'failed', reason: 'credentials', exit_code: 6}, 'bad">Failed<'],
  ])('says how it ended: %o', (changes, text) => {
    expect(html(fullSummary(changes))).toContain(`class="status status-${text}`);
  });
});

describe('Markdown', () => {
  test('has the same words and figures, every table whole', () => {
    const text = markdown(fullSummary());
    expect(text).toContain('# nightly-signups (signups-2026-01-05.csv): Complete, with gaps');
    expect(text).toContain('| United States (US) | 14,120 | 36% |');
    expect(wholeTables(text)).toBeGreaterThan(12);
  });

  test('gives the shares of missing signals among all rows, also those that could not be scored', () => {
    const risk = {
      ...(fullSummary().risk as RiskCounts),
      ...{scored: 1, unknown: 3, reasons: {own: 1}, missing: {ip: 3}},
    };
    const text = markdown(fullSummary({risk}));
    expect(text).toContain('| ip | 3 | 75% |');
    expect(text).toContain('| own | 1 | 100% |');
  });

  test('lets no text become markup, nor break its table', () => {
    const text = markdown(hostile);
    expect(text).not.toMatch(/(?<!\\)<(?!wbr>|!-- bulk-enrich report -->\n#)|(?<!\\)\[x/);
    expect(text.split('\n').filter(line => line.startsWith('# '))).toHaveLength(1);
    expect(wholeTables(text)).toBeGreaterThan(8);
  });

  test('lets no text become a link on GitHub, which looks at each text between elements by itself', () => {
    const text = markdown(hostile);
    expect(text).toContain('@<wbr>someone');
    for (const part of text.split('<wbr>')) expect(part).not.toMatch(/www\.|:\/\/|@./i);
  });

  test('shows a long timeline at no more than a dozen moments', () => {
    const points = Array.from({length: 240}, (_, n) => n);
    const counts = {calls: points, rows: points, in_flight: points};
    const timeline = {ms: points.map(() => 1_000), latency_p50_ms: points, latency_p95_ms: points, ...counts};
    const [, pace = ''] = markdown(fullSummary({timeline})).split('**Pace, a second**');
    const lines = pace.split('**')[0]?.trim().split('\n') ?? [];
    expect(lines.length).toBeLessThan(14);
    // Also of stretches that no step ends at.
    const odd = Object.fromEntries(Object.entries(timeline).map(([name, all]) => [name, all.slice(0, 25)]));
    const [, short = ''] = markdown(fullSummary({timeline: odd as typeof timeline})).split(
      '**Pace, a second**',
    );
    expect([lines.at(-1), short]).toEqual([
      expect.stringMatching(/^\| 4 min 00 s \|/),
      expect.stringContaining('\n| 25 s |'),
    ]);
  });
});

/** Counts the tables after holding each line of each to the width of its head. */
function wholeTables(text: string): number {
  const tables = text.split(/\n(?!\|)/).map(part => part.split('\n').filter(line => line.startsWith('|')));
  const found = tables.filter(lines => lines.length > 0);
  const cells = (line: string) => line.replaceAll('\\\\', '').replaceAll('\\|', '').split('|').length;
  for (const table of found) expect(new Set(table.map(cells)).size, table.join('\n')).toBe(1);
  return found.length;
}

describe('charts', () => {
  const chart = (values: (number | null)[], most = 10) => {
    const rows = values.map(value => ['', value] as const);
    const ends = values.map((_, n) => 1_000 * (n + 1));
    const block = {caption: 'x', head: ['until', 'a'], rows};
    return drawLines(block, {kind: 'lines', unit: 'ms', ends, tones: ['known']}, most).toString();
  };

  test('a line goes through the middle of each stretch, and has a gap where nothing was measured', () => {
    expect(chart([10, 5, null, 0])).toContain('d="M12.5 0h0L37.5 50M87.5 100h0"');
  });

  test('a line of nothing is no line, and says so', () => {
    expect(chart([null, null])).toContain('d=""');
    expect(chart([null, null])).toContain('a: nothing');
  });

  test('a scale ends at a round figure', () => {
    expect([0, 1, 49, 51, 101, 1_999].map(roundUp)).toEqual([1, 1, 50, 100, 200, 2_000]);
    expect(roundUp(0.3)).toBeCloseTo(0.5, 9);
  });
});

test('figures are written for people', () => {
  expect([0, 1_234_567, 0.125].map(formatCount)).toEqual(['0', '1,234,567', '0.13']);
  const durations = [850, 12_000, 200_000, 7_500_000].map(formatDuration);
  expect(durations).toEqual(['850 ms', '12 s', '3 min 20 s', '2 h 05 min']);
  const sizes = [0, 512, 1_536, 5 * 1_024 ** 3].map(formatBytes);
  expect(sizes).toEqual(['0 bytes', '512 bytes', '1.5 KiB', '5 GiB']);
  expect(formatMoment('2026-01-05T07:29:16.123Z')).toBe('5 Jan 2026, 07:29 UTC');
  const shares: [number, number, string][] = [
    [0, 0, '–'],
    [0, 5, '0%'],
    [1, 100_000, '< 0.1%'],
    [99_999, 100_000, '> 99.9%'],
    [1, 3, '33%'],
    [1, 40, '2.5%'],
    [5, 5, '100%'],
  ];
  for (const [part, whole, text] of shares) expect(formatPercent(part, whole)).toBe(text);
});
