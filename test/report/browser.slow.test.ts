import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import axe from 'axe-core';
import playwright from 'playwright-core';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {buildReport} from '../../src/report/build-report.ts';
import {renderHtml} from '../../src/report/render/html.ts';
import type {Summary} from '../../src/report/summary.ts';
import {chromiumPath, lacks} from '../support/real-parts.ts';
import {bareSummary, fullSummary} from './summaries.ts';

/** Set to a directory, to look at what the tests see. */
const pictures = process.env.SCREENSHOTS;

/** In points: the margin below a printed page, and what a heading needs with its sentence and a row. */
const BELOW = 30;
const ROOM = 70;

const HOSTILE = '<img src="https://example.com/a.png" onerror="alert(1)"><script>alert(1)</script>';

const reports: Readonly<Record<string, Summary>> = {
  full: fullSummary(),
  bare: bareSummary(),
  hostile: fullSummary({
    job: HOSTILE,
    errors: [{code: `ip.${HOSTILE}`, count: 1, rows: [1]}],
    top: {networks: {counted: 9, missed_at_most: 3, names: [{name: HOSTILE.repeat(2), count: 9}]}},
  }),
};

// A check of the whole page takes seconds where the machine is busy.
describe.skipIf(lacks('chromium'))('the HTML report in Chromium', {timeout: 120_000}, () => {
  const directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-report-'));
  let browser: playwright.Browser;

  beforeAll(async () => {
    for (const [name, summary] of Object.entries(reports))
      writeFileSync(join(directory, `${name}.html`), renderHtml(buildReport(summary)));
    // Root has no sandbox to be in.
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    browser = await playwright.chromium.launch({executablePath: chromiumPath() as string, args});
  });

  afterAll(async () => {
    await browser?.close();
    rmSync(directory, {recursive: true, force: true});
  });

  /** Opens a report; what it says on the console and asks of the network is in the lists. */
  async function open(name: string, colorScheme: 'light' | 'dark', width: number) {
    const page = await browser.newPage({viewport: {width, height: 900}, colorScheme});
    const url = pathToFileURL(join(directory, `${name}.html`)).href;
    const said: string[] = [];
    const requests: string[] = [];
    page.on('console', message => said.push(message.text()));
    page.on('pageerror', error => said.push(error.message));
    page.on('dialog', dialog => {
      said.push(dialog.message());
      void dialog.dismiss();
    });
    page.on('request', request => requests.push(request.url()));
    await page.goto(url);
    return {page, url, said, requests};
  }

  async function violations(page: playwright.Page): Promise<string[]> {
    await page.evaluate(axe.source);
    const {violations: found} = (await page.evaluate('axe.run(document)')) as axe.AxeResults;
    return found.flatMap(({id, nodes}) => nodes.map(node => `${id}: ${node.html.slice(0, 120)}`));
  }

  /** Tables of which a part is out of sight. */
  const cutOff = `[...document.querySelectorAll('.scroll')].filter(box => box.scrollWidth > box.clientWidth).map(box => box.ariaLabel)`;
  const widths = [320, 390, 768, 1_280];

  test.each(Object.keys(reports))('%s: at four widths and in both themes', async name => {
    const {page, url, said, requests} = await open(name, 'light', 1_280);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({colorScheme});
      for (const width of widths) {
        await page.setViewportSize({width, height: 900});
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
        // Widths between the extremes differ only in size; the other pages are parts of the full one.
        if (width === 1_280 || (width === 320 && name === 'full')) expect(await violations(page)).toEqual([]);
        if (name !== 'hostile') expect(await page.evaluate(cutOff)).toEqual([]);
        if (pictures === undefined) continue;
        mkdirSync(pictures, {recursive: true});
        await page.screenshot({path: join(pictures, `${name}-${colorScheme}-${width}.png`), fullPage: true});
      }
    }
    await page.waitForLoadState('networkidle');
    expect(said).toEqual([]);
    expect(requests).toEqual([url]);
    await page.close();
  });

  test('the figures behind the charts, opened, on a phone', async () => {
    const {page} = await open('full', 'dark', 360);
    await page.evaluate('for (const details of document.querySelectorAll("details")) details.open = true');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    expect(await violations(page)).toEqual([]);
    await page.close();
  });

  test('the themes differ, and paper is white', async () => {
    const background = 'getComputedStyle(document.documentElement).backgroundColor';
    const {page: light} = await open('full', 'light', 1_280);
    const {page: dark} = await open('full', 'dark', 1_280);
    expect(await light.evaluate(background)).not.toBe(await dark.evaluate(background));
    await dark.emulateMedia({media: 'print'});
    expect(await dark.evaluate(background)).toBe('rgb(255, 255, 255)');
    expect(await violations(dark)).toEqual([]);
    await Promise.all([light.close(), dark.close()]);
  });

  test('on paper no heading stands alone at the end of a page, wherever pages end', async () => {
    const {page} = await open('full', 'light', 1_280);
    const alone: string[] = [];
    for (let height = 700; height <= 1_120; height += 60) {
      const margin = {top: '40px', bottom: '40px', left: '40px', right: '40px'};
      const size = {width: '794px', height: `${height}px`};
      const pdf = await page.pdf({...size, margin, tagged: true, outline: true});
      const headings = pdf
        .toString('latin1')
        .matchAll(/\/Title \(([^)]*)\)[^>]*?\/Dest \[\d+ 0 R \/XYZ [\d.]+ ([\d.]+)/g);
      const found = [...headings].map(([, title = '', top]) => ({title, left: Number(top) - BELOW}));
      expect(found.length).toBeGreaterThan(8);
      for (const {title, left} of found) if (left < ROOM) alone.push(`${title}: ${left} of ${height}`);
    }
    expect(alone).toEqual([]);
    await page.close();
  });

  test('every chart is drawn: bars and lines have a size that fits their figures', async () => {
    const {page} = await open('full', 'light', 1_280);
    const widths = (await page.evaluate(
      `[...document.querySelectorAll('.ranking')].map(table => [...table.querySelectorAll('.bar rect')].map(bar => bar.getBoundingClientRect().width))`,
    )) as number[][];
    expect(widths.length).toBe(6);
    for (const bars of widths) {
      expect(bars).toEqual([...bars].sort((a, b) => b - a));
      expect(bars.at(-1)).toBeGreaterThan(0);
    }
    const stacks = (await page.evaluate(
      `[...document.querySelectorAll('.stack')].map(stack => [...stack.querySelectorAll('.part')].reduce((sum, part) => sum + part.getBoundingClientRect().width, 0) / stack.getBoundingClientRect().width)`,
    )) as number[];
    expect(stacks.length).toBe(5);
    for (const share of stacks) expect(share).toBeCloseTo(1, 2);
    const lines = (await page.evaluate(
      `[...document.querySelectorAll('.line')].map(line => line.getBoundingClientRect().width / line.closest('svg').getBoundingClientRect().width)`,
    )) as number[];
    expect(lines.length).toBe(5);
    for (const share of lines) expect(share).toBeGreaterThan(0.95);
    await page.close();
  });
});
