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
import type {Summary} from '../../src/report/summary.ts';
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
  risk: {...(fullSummary().risk as NonNullable<Summary['risk']>), reasons: {[EVIL]: 1}, missing: {[EVIL]: 1}},
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
    expect(page).toContain('<a href="#risk">1,959</a>');
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
  test('lets no text become markup, nor break its table', () => {
    expect(wholeTables(markdown(fullSummary()))).toBeGreaterThan(12);
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
