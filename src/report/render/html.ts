import {readFileSync} from 'node:fs';
import {sourceFile} from '../../operations/package-files.ts';
import {formatCount, formatDuration, withoutControls} from '../format.ts';
import {cellText, type Report, type ReportTable, type Section, type TableCell, type Tone} from '../model.ts';
import {
  addWordBreaks,
  drawBar,
  drawHistogram,
  drawLines,
  drawStack,
  html,
  type LinesChart,
  type Markup,
  raw,
  roundUp,
  sumCounts,
  tableNumbers,
} from './charts.ts';

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

function blockHtml(block: ReportTable): Markup {
  const {caption, form, chart} = block;
  switch (chart?.kind) {
    case undefined: {
      const content = form === 'folded' ? behind(block, caption) : table(block);
      return html`<div class="${form === 'small' ? 'small' : 'wide'}${form === 'folded' ? ' folded' : ''}">${content}</div>`;
    }
    case 'ranking':
      return ranking(block);
    case 'stacks':
      return stacks(block, chart.tones);
    case 'histogram':
      return columns(block);
    case 'lines':
      return timeChart(block, chart);
    default:
      return chart satisfies never;
  }
}

/**
 * A table. On a phone, each row of a table with more than two columns becomes a list of its cells with their
 * headings. Wide content scrolls, also by keyboard.
 */
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

/** A table that is shown on demand: the figures of a chart, or a folded block. */
function behind(block: ReportTable, label = 'Figures'): Markup {
  return html`<details><summary>${label}</summary>${table(block)}</details>`;
}

function ranking({caption, head: [what], rows}: ReportTable): Markup {
  const most = Math.max(1, ...rows.map(([, times]) => Number(times)));
  const lines = rows.map(
    ([name, times = null, share = null]) =>
      html`<tr><th scope="row" class="text">${addWordBreaks(name)}${drawBar(Number(times) / most)}</th><td class="figure">${cellText(times)}</td><td class="figure share">${cellText(share)}</td></tr>
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

function stacks(block: ReportTable, tones: readonly Tone[]): Markup {
  const {caption, head, rows} = block;
  const [, ...names] = head;
  const figures = tableNumbers(block);
  const keys = names.map(
    (name, column) => [name, tones[column], sumCounts(figures.map(row => row[column] ?? 0))] as const,
  );
  const drawn = rows.map(row => {
    const name = rows.length > 1 ? html`<p>${row[0]}</p>` : undefined;
    return html`<div class="stack-row">${name}${drawStack(names, row, tones)}</div>`;
  });
  const all = rows.map((row, index) => [...row, sumCounts(figures[index] ?? [])] as const);
  return html`<figure class="wide">
<figcaption>${caption}</figcaption>
${drawn}
${legend(keys.filter(([, , sum]) => sum > 0))}
${behind({caption, head: [...head, 'all'], rows: all})}
</figure>`;
}

function columns(block: ReportTable): Markup {
  const {caption, rows} = block;
  const most = Math.max(0, ...rows.map(([, value]) => Number(value)));
  return html`<figure class="wide">
<figcaption>${caption}</figcaption>
<p class="scale" aria-hidden="true">${formatCount(most)}</p>
${drawHistogram(block, most)}
<p class="axis" aria-hidden="true">${rows.map(([name]) => html`<span>${name.split('–')[0]}</span>`)}</p>
${behind(block)}
</figure>`;
}

function timeChart(block: ReportTable, chart: LinesChart): Markup {
  const {caption, head} = block;
  const {unit, ends, tones} = chart;
  const [, ...names] = head;
  const most = roundUp(Math.max(0, ...tableNumbers(block).flat().map(Number)));
  return html`<figure>
<figcaption>${caption}</figcaption>
<p class="scale" aria-hidden="true">${formatCount(most)} ${unit}</p>
${drawLines(block, chart, most)}
<p class="axis" aria-hidden="true"><span>0</span><span>${formatDuration(ends.at(-1) ?? 0)}</span></p>
${names.length === 1 ? undefined : legend(names.map((name, index) => [name, tones[index]]))}
${behind({...block, caption: `${caption}, ${unit}`})}
</figure>`;
}
