import {readFileSync} from 'node:fs';
import {sourceFile} from '../../operations/package-files.ts';
import {count, duration, percent} from '../format.ts';
import type {
  Block,
  HistogramBlock,
  LinesBlock,
  RankingBlock,
  Report,
  Section,
  StacksBlock,
  TableBlock,
} from '../model.ts';
import {withoutControls} from '../safe-text.ts';
import {bar, histogram, lines, roundUp, stack} from './charts.ts';
import {breakable, html, type Markup, raw} from './markup.ts';

/** The report as one self-contained HTML page: no network, no scripts, and a policy that forbids both. */
export function renderHtml(report: Report): string {
  const {title, status, lead, facts, sections} = report;
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
${raw(style())}</style>
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
      html`<div><dt>${label}</dt><dd>${section === undefined ? value : html`<a href="#${idOf(section)}">${value}</a>`}</dd>${note === undefined ? undefined : html`<dd class="note">${note}</dd>`}</div>`,
  )}</dl>
${sections.map(sectionHtml)}
</main>
<footer><p>Made by bulk-enrich from the run's summary. Counts only: no values from the rows.</p></footer>
</body>
</html>
`;
  return withoutControls(String(page));
}

/** The page's style sheet. No meaning is shown by colour alone. Contrasts are 4.5:1 or more in both themes. */
function style(): string {
  return readFileSync(sourceFile('report/render/style.css'), 'utf8');
}

/** A section's anchor, from its title: `Where they come from` → `where-they-come-from`. */
function idOf(title: string): string {
  return title.toLowerCase().replaceAll(/\W+/g, '-');
}

function sectionHtml({title, note, blocks}: Section): Markup {
  return html`<section id="${idOf(title)}">
<h2>${title}</h2>
${note === undefined ? undefined : html`<p>${note}</p>`}
<div class="blocks">${blocks.map(blockHtml)}</div>
</section>
`;
}

function blockHtml(block: Block): Markup {
  switch (block.kind) {
    case 'table':
      return html`<div class="${block.small === true ? 'small' : 'wide'}${block.folded === true ? ' folded' : ''}">${block.folded === true ? behind(block, block.caption) : table(block)}</div>`;
    case 'ranking':
      return ranking(block);
    case 'stacks':
      return stacks(block);
    case 'histogram':
      return columns(block);
    case 'lines':
      return timeChart(block);
    default:
      return block satisfies never;
  }
}

type Table = Omit<TableBlock, 'kind'>;

/**
 * A table. On a phone, each row of a table with more than two columns becomes a list of its cells with their
 * headings. Wide content scrolls, also by keyboard.
 */
function table({caption, head, rows, texts = []}: Table): Markup {
  const kind = (index: number) => (index === 0 || texts.includes(index) ? 'text' : 'figure');
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table${head.length > 2 ? raw(' class="cards"') : undefined}>
<caption>${caption}</caption>
<thead><tr>${head.map((cell, index) => html`<th scope="col" class="${kind(index)}">${cell}</th>`)}</tr></thead>
<tbody>${rows.map(
    row =>
      html`<tr>${row.map((cell, index) => (index === 0 && row.length > 1 ? html`<th scope="row" class="text">${breakable(cell)}</th>` : html`<td class="${kind(index)}" data-label="${head[index] ?? ''}">${breakable(cell)}</td>`))}</tr>
`,
  )}</tbody>
</table></div>`;
}

/** A table that is shown on demand: the figures of a chart, or a folded block. */
function behind(block: Table, label = 'Figures'): Markup {
  return html`<details><summary>${label}</summary>${table(block)}</details>`;
}

function ranking({caption, what, of, rows}: RankingBlock): Markup {
  const most = Math.max(1, ...rows.map(row => row.count));
  const lines = rows.map(
    ({name, count: times}) =>
      html`<tr><th scope="row" class="text">${breakable(name)}${bar(times / most)}</th><td class="figure">${count(times)}</td><td class="figure share">${percent(times, of)}</td></tr>
`,
  );
  return html`<table class="ranking">
<caption>${caption}</caption>
<thead><tr><th scope="col" class="text">${what}</th><th scope="col" class="figure">count</th><th scope="col" class="figure">share</th></tr></thead>
<tbody>${lines}</tbody>
</table>`;
}

function stacks(block: StacksBlock): Markup {
  const {caption, what, keys, rows} = block;
  const used = keys.flatMap((key, index) =>
    rows.some(row => (row.counts[index] ?? 0) > 0) ? [{...key, index}] : [],
  );
  const drawn = rows.map(
    row =>
      html`<div class="stack-row">${rows.length > 1 ? html`<p>${row.name}</p>` : undefined}${stack(block, row)}</div>`,
  );
  const total = (counts: readonly number[]) => counts.reduce((sum, value) => sum + value, 0);
  return html`<figure class="wide">
<figcaption>${caption}</figcaption>
${drawn}
<ul class="legend">${used.map(({name, tone, index}) => html`<li><span class="key fill-${tone}"></span>${name} <b>${count(rows.reduce((sum, row) => sum + (row.counts[index] ?? 0), 0))}</b></li>`)}</ul>
${behind({
  caption,
  head: [what, ...keys.map(key => key.name), 'all'],
  rows: rows.map(({name, counts}) => [name, ...counts.map(count), count(total(counts))]),
})}
</figure>`;
}

function columns(block: HistogramBlock): Markup {
  const {caption, what, bins} = block;
  return html`<figure class="wide">
<figcaption>${caption}</figcaption>
<p class="scale" aria-hidden="true">${count(Math.max(0, ...bins.map(bin => bin.count)))}</p>
${histogram(block)}
<p class="axis" aria-hidden="true">${bins.map(({name}) => html`<span>${name.split('–')[0]}</span>`)}</p>
${behind({caption, head: [what, 'rows'], rows: bins.map(({name, count: rows}) => [name, count(rows)])})}
</figure>`;
}

function timeChart(block: LinesBlock): Markup {
  const {caption, unit, ends, series} = block;
  const most = roundUp(Math.max(0, ...series.flatMap(({values}) => values.map(value => value ?? 0))));
  const cell = (value: number | null | undefined) => (typeof value === 'number' ? count(value) : '–');
  const legend =
    series.length === 1
      ? undefined
      : html`<ul class="legend">${series.map(({name, tone}) => html`<li><span class="key fill-${tone}"></span>${name}</li>`)}</ul>`;
  return html`<figure>
<figcaption>${caption}</figcaption>
<p class="scale" aria-hidden="true">${count(most)} ${unit}</p>
${lines(block, most)}
<p class="axis" aria-hidden="true"><span>0</span><span>${duration(ends.at(-1) ?? 0)}</span></p>
${legend}
${behind({
  caption: `${caption}, ${unit}`,
  head: ['until', ...series.map(({name}) => name)],
  rows: ends.map((end, index) => [duration(end), ...series.map(({values}) => cell(values[index]))]),
})}
</figure>`;
}
