import {readFileSync} from 'node:fs';
import {raw, html as template} from 'hono/html';
import {sourceFile} from '../../operations/package-files.ts';
import {formatCount, formatDuration, withoutControls} from '../format.ts';
import {
  type Chart,
  cellText,
  type Report,
  type ReportTable,
  type Section,
  type TableCell,
  type Tone,
} from '../model.ts';

type Markup = ReturnType<typeof raw>;
type MarkupPart = string | number | Markup | readonly Markup[] | undefined;

/** HTML with all texts escaped; {@link Markup} is inserted as it is. */
function html(texts: TemplateStringsArray, ...parts: readonly MarkupPart[]): Markup {
  // hono returns a promise only if a part is a promise. No part is.
  return template(texts, ...parts) as Markup;
}

/** The report as one self-contained HTML page: no network, no scripts, and a policy that forbids both. */
export function renderHtml({title, status, lead, facts, sections}: Report): string {
  const page = html`<!doctype html>
<!-- bulk-enrich report -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>${title}: ${status.text}</title>
<style>
${raw(readFileSync(sourceFile('report/render/style.css'), 'utf8'))}</style>
</head>
<body>
<header>
<p class="status status-${status.tone}">${status.text}</p>
<h1>${title}</h1>
<p class="lead">${lead}</p>
</header>
<main>
<dl class="facts">${facts.map(
    ({label, value, note, section}) =>
      html`<div><dt>${label}</dt><dd>${section === undefined ? value : html`<a href="#${anchorOf(section)}">${value}</a>`}</dd>${note === undefined ? undefined : html`<dd class="note">${note}</dd>`}</div>`,
  )}</dl>
${sections.map(renderSection)}
</main>
<footer><p>Made by bulk-enrich from the run's summary. Counts only: no values from the rows.</p></footer>
</body>
</html>
`;
  return withoutControls(String(page));
}

/** A section's anchor, from its title: `Where they come from` → `where-they-come-from`. */
function anchorOf(title: string): string {
  return title.toLowerCase().replaceAll(/\W+/g, '-');
}

function renderSection({title, note, blocks}: Section): Markup {
  return html`<section id="${anchorOf(title)}">
<h2>${title}</h2>
${note === undefined ? undefined : html`<p>${note}</p>`}
<div class="blocks">${blocks.map(renderBlock)}</div>
</section>
`;
}

function renderBlock(block: ReportTable): Markup {
  const {form, chart} = block;
  switch (chart?.kind) {
    case undefined:
      if (form === 'folded') return html`<div class="wide folded">${folded(block, block.caption)}</div>`;
      return html`<div class="${form === 'small' ? 'small' : 'wide'}">${table(block)}</div>`;
    case 'ranking':
      return ranking(block);
    case 'stacks':
      return stacks(block, chart.tones);
    case 'histogram':
      return histogram(block);
    case 'lines':
      return timeChart(block, chart);
    default:
      return chart satisfies never;
  }
}

/** On a phone, a row of more than two columns becomes a list of its cells. Wide content scrolls, also by keyboard. */
function table({caption, head, rows, texts = []}: ReportTable): Markup {
  const kind = (index: number) => (index === 0 || texts.includes(index) ? 'text' : 'figure');
  const cellHtml = (cell: TableCell, index: number) =>
    index === 0 && head.length > 1
      ? html`<th scope="row" class="text">${addWordBreaks(cellText(cell))}</th>`
      : html`<td class="${kind(index)}" data-label="${head[index] ?? ''}">${addWordBreaks(cellText(cell))}</td>`;
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table${head.length > 2 ? raw(' class="cards"') : undefined}>
<caption>${caption}</caption>
<thead><tr>${head.map((cell, index) => html`<th scope="col" class="${kind(index)}">${cell}</th>`)}</tr></thead>
<tbody>${rows.map(row => html`<tr>${row.map(cellHtml)}</tr>\n`)}</tbody>
</table></div>`;
}

/** Lets a browser break a name such as `ip.asn_organization` behind `_`, `.` and `/`, not inside a word. */
function addWordBreaks(text: string): Markup {
  const parts = text.split(/(?<=_|[a-z][./])(?=[a-z])/i);
  return html`${parts.map((part, index) => (index === 0 ? html`${part}` : html`<wbr>${part}`))}`;
}

/** A table that is shown on demand: the figures of a chart, or a folded block. */
function folded(block: ReportTable, label = 'Figures'): Markup {
  return html`<details><summary>${label}</summary>${table(block)}</details>`;
}

// Charts are inline SVG that stretches with the page. Words are beside it, so that they stay readable at any width. Every
// chart has a table of its figures. For a screen reader, a chart is one image with a sentence.

function ranking({caption, head: [what], rows}: ReportTable): Markup {
  const most = Math.max(1, ...rows.map(([, times]) => Number(times)));
  const lines = rows.map(
    ([name, times = null, share = null]) =>
      html`<tr><th scope="row" class="text">${addWordBreaks(name)}<svg class="bar" aria-hidden="true"><rect class="fill-known" width="${percent(Number(times) / most)}%" height="100%" rx="2"/></svg></th><td class="figure">${cellText(times)}</td><td class="figure share">${cellText(share)}</td></tr>
`,
  );
  return html`<table class="ranking">
<caption>${caption}</caption>
<thead><tr><th scope="col" class="text">${what}</th><th scope="col" class="figure">count</th><th scope="col" class="figure">share</th></tr></thead>
<tbody>${lines}</tbody>
</table>`;
}

type Key = readonly [name: string, tone: Tone | undefined, sum?: number];

function legend(keys: readonly Key[]): Markup {
  const shown = keys.map(
    ([name, tone, sum]) =>
      html`<li><span class="key fill-${tone}"></span>${name}${sum === undefined ? undefined : html` <b>${formatCount(sum)}</b>`}</li>`,
  );
  return html`<ul class="legend">${shown}</ul>`;
}

function stacks({caption, head, rows}: ReportTable, tones: readonly Tone[]): Markup {
  const [, ...names] = head;
  const counts = rows.map(([, ...cells]) => cells.map(Number));
  const keys = names.map(
    (name, column): Key => [name, tones[column], sumOf(counts.map(row => row[column] ?? 0))],
  );
  const drawn = rows.map(([name], index) => {
    const heading = rows.length > 1 ? html`<p>${name}</p>` : undefined;
    return html`<div class="stack-row">${heading}${drawStack(name, names, counts[index] ?? [], tones)}</div>`;
  });
  const all = rows.map((row, index) => [...row, sumOf(counts[index] ?? [])] as const);
  return html`<figure class="wide">
<figcaption>${caption}</figcaption>
${drawn}
${legend(keys.filter(([, , sum = 0]) => sum > 0))}
${folded({caption, head: [...head, 'all'], rows: all})}
</figure>`;
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** A bar whose parts are each as wide as their share of the sum. */
function drawStack(
  name: string,
  names: readonly string[],
  counts: readonly number[],
  tones: readonly Tone[],
): Markup {
  const used = counts.flatMap((value, index) => (value === 0 ? [] : [{value, index}]));
  let from = 0;
  const rects = used.map(({value, index}) => {
    const [x, share] = [from, value / sumOf(counts)];
    from += share;
    return html`<rect class="fill-${tones[index]} part" x="${percent(x)}%" width="${percent(share)}%" height="100%"/>`;
  });
  const parts = used.map(({value, index}) => `${names[index]} ${formatCount(value)}`);
  const label = `${name}: ${parts.length === 0 ? 'nothing' : parts.join(', ')}`;
  return html`<svg class="stack" role="img" aria-label="${label}"><rect class="fill-none" width="100%" height="100%"/>${rects}</svg>`;
}

/** Columns side by side, the highest as high as the chart. */
function histogram(block: ReportTable): Markup {
  const {caption, head, rows} = block;
  const most = Math.max(0, ...rows.map(([, value]) => Number(value)));
  const width = 1 / Math.max(1, rows.length);
  const bars = rows.map(([, value], index) => {
    const height = Number(value) / Math.max(1, most);
    return html`<rect class="fill-known" x="${percent((index + 0.08) * width)}%" y="${percent(1 - height)}%" width="${percent(0.84 * width)}%" height="${percent(height)}%"/>`;
  });
  const spoken = rows.map(([name, value = null]) => `${head[0]} ${name}: ${cellText(value)}`);
  return html`<figure class="wide">
<figcaption>${caption}</figcaption>
<p class="scale" aria-hidden="true">${formatCount(most)}</p>
<svg class="columns" role="img" aria-label="${`${caption}: ${spoken.join('; ')}`}">${bars}</svg>
<p class="axis" aria-hidden="true">${rows.map(([name]) => html`<span>${name.split('–')[0]}</span>`)}</p>
${folded(block)}
</figure>`;
}

type LinesChart = Extract<Chart, {kind: 'lines'}>;

function timeChart(block: ReportTable, chart: LinesChart): Markup {
  const {caption, head, rows} = block;
  const {unit, ends, tones} = chart;
  const [, ...names] = head;
  const most = roundUp(Math.max(0, ...rows.flatMap(([, ...cells]) => cells.map(Number))));
  return html`<figure>
<figcaption>${caption}</figcaption>
<p class="scale" aria-hidden="true">${formatCount(most)} ${unit}</p>
${drawLines(block, chart, most)}
<p class="axis" aria-hidden="true"><span>0</span><span>${formatDuration(ends.at(-1) ?? 0)}</span></p>
${names.length === 1 ? undefined : legend(names.map((name, index) => [name, tones[index]]))}
${folded({...block, caption: `${caption}, ${unit}`})}
</figure>`;
}

const BOX = 100;

/** Lines over time, with gaps for missing values. `most` is the upper end of the scale. */
export function drawLines(
  {caption, head, rows}: ReportTable,
  {tones, ends, unit}: LinesChart,
  most: number,
): Markup {
  const series = tones.map((_, index) =>
    rows.map(([, ...cells]) => (typeof cells[index] === 'number' ? cells[index] : null)),
  );
  const paths = series.map(
    (values, index) =>
      html`<path class="line stroke-${tones[index]}" d="${pathOf(values, ends, most)}" vector-effect="non-scaling-stroke"/>`,
  );
  const spoken = series.map((values, index) => {
    const known = values.filter(value => value !== null);
    const range = `${formatCount(Math.min(...known))} to ${formatCount(Math.max(...known))} ${unit}`;
    return `${head[index + 1]}: ${known.length === 0 ? 'nothing' : range}`;
  });
  return html`<svg class="lines" viewBox="0 0 ${BOX} ${BOX}" preserveAspectRatio="none" role="img" aria-label="${`${caption} over time. ${spoken.join('; ')}`}"><path class="grid" d="M0 0H${BOX}M0 ${BOX / 2}H${BOX}M0 ${BOX}H${BOX}" vector-effect="non-scaling-stroke"/>${paths}</svg>`;
}

/** An SVG path through the values, each in the middle of its interval. A null leaves a gap. */
function pathOf(values: readonly (number | null)[], ends: readonly number[], most: number): string {
  const span = Math.max(1, ends.at(-1) ?? 1);
  const points = values.map((value, index) => {
    if (value === null) return '';
    const start = ends[index - 1] ?? 0;
    const at = `${rounded((BOX * (start + (ends[index] ?? start))) / 2 / span)} ${rounded(BOX * (1 - value / most))}`;
    // A point between two gaps is a stroke without length. It shows as a dot, since the line has round caps.
    return (values[index - 1] ?? null) === null ? `M${at}h0` : `L${at}`;
  });
  return points.join('');
}

/** The next round number, for the upper end of a scale: 1, 2 or 5 times a power of ten. */
export function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 5].find(step => step * power >= value) ?? 10;
  return factor * power;
}

function percent(share: number): number {
  return rounded(100 * Math.min(1, Math.max(0, share)));
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
