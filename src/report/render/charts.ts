import {raw, html as template} from 'hono/html';
import {formatCount} from '../format.ts';
import {type Chart, cellText, type ReportTable, type Tone} from '../model.ts';

/** Text that is already HTML. */
export type Markup = ReturnType<typeof raw>;

type MarkupPart = string | number | Markup | readonly Markup[] | undefined;

/** HTML with all texts escaped; {@link Markup} is inserted as it is. */
export function html(texts: TemplateStringsArray, ...parts: readonly MarkupPart[]): Markup {
  // hono returns a promise only if a part is a promise. No part is.
  return template(texts, ...parts) as Markup;
}

export {raw};

/** Lets a browser break a name such as `ip.asn_organization` behind `_`, `.` and `/`, not inside a word. */
export function addWordBreaks(text: string): Markup {
  const parts = text.split(/(?<=_|[a-z][./])(?=[a-z])/i);
  return html`${parts.map((part, index) => (index === 0 ? html`${part}` : html`<wbr>${part}`))}`;
}

/**
 * Charts as inline SVG that stretches with the page. Words are in HTML beside the SVG, so that they stay readable
 * at any width. Every chart has a table of its figures. For a screen reader, a chart is one image with a sentence.
 */

/** A bar that fills a share of its cell, from 0 to 1. */
export function drawBar(share: number): Markup {
  return html`<svg class="bar" aria-hidden="true"><rect class="fill-known" width="${length(share)}%" height="100%" rx="2"/></svg>`;
}

/** Figures of the table's columns, from the second on; null where a cell has none. */
export function tableNumbers({rows}: ReportTable): (number | null)[][] {
  return rows.map(([, ...cells]) => cells.map(cell => (typeof cell === 'number' ? cell : null)));
}

export function sumCounts(counts: readonly (number | null)[]): number {
  return counts.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

/** One row as a bar. Each part is as wide as its share of the row's sum. */
export function drawStack(
  names: readonly string[],
  [name, ...cells]: ReportTable['rows'][number],
  tones: readonly Tone[],
): Markup {
  const counts = cells.map(Number);
  const used = counts.flatMap((value, index) => (value === 0 ? [] : [{value, index}]));
  let from = 0;
  const rects = used.map(({value, index}) => {
    const [x, share] = [from, value / sumCounts(counts)];
    from += share;
    return html`<rect class="fill-${tones[index]} part" x="${length(x)}%" width="${length(share)}%" height="100%"/>`;
  });
  const parts = used.map(({value, index}) => `${names[index]} ${formatCount(value)}`);
  const label = `${name}: ${parts.length === 0 ? 'nothing' : parts.join(', ')}`;
  return html`<svg class="stack" role="img" aria-label="${label}"><rect class="fill-none" width="100%" height="100%"/>${rects}</svg>`;
}

/** Columns side by side, the highest as high as the chart. */
export function drawHistogram({rows, head, caption}: ReportTable, most: number): Markup {
  const width = 1 / Math.max(1, rows.length);
  const columns = rows.map(([, value], index) => {
    const height = Number(value) / Math.max(1, most);
    return html`<rect class="fill-known" x="${length((index + 0.08) * width)}%" y="${length(1 - height)}%" width="${length(0.84 * width)}%" height="${length(height)}%"/>`;
  });
  const said = rows.map(([name, value = null]) => `${head[0]} ${name}: ${cellText(value)}`);
  return html`<svg class="columns" role="img" aria-label="${`${caption}: ${said.join('; ')}`}">${columns}</svg>`;
}

const BOX = 100;

export type LinesChart = Extract<Chart, {kind: 'lines'}>;

/** Lines over time, with gaps for missing values. `most` is the upper end of the scale. */
export function drawLines(block: ReportTable, {tones, ends, unit}: LinesChart, most: number): Markup {
  const figures = tableNumbers(block);
  const series = tones.map((_, column) => figures.map(row => row[column] ?? null));
  const paths = series.map(
    (values, index) =>
      html`<path class="line stroke-${tones[index]}" d="${path(values, ends, most)}" vector-effect="non-scaling-stroke"/>`,
  );
  const said = series.map((values, index) => {
    const known = values.filter(value => value !== null);
    const range = `${formatCount(Math.min(...known))} to ${formatCount(Math.max(...known))} ${unit}`;
    return `${block.head[index + 1]}: ${known.length === 0 ? 'nothing' : range}`;
  });
  return html`<svg class="lines" viewBox="0 0 ${BOX} ${BOX}" preserveAspectRatio="none" role="img" aria-label="${`${block.caption} over time. ${said.join('; ')}`}"><path class="grid" d="M0 0H${BOX}M0 ${BOX / 2}H${BOX}M0 ${BOX}H${BOX}" vector-effect="non-scaling-stroke"/>${paths}</svg>`;
}

/** An SVG path through the values, each in the middle of its interval. A null leaves a gap. */
function path(values: readonly (number | null)[], ends: readonly number[], most: number): string {
  const span = Math.max(1, ends.at(-1) ?? 1);
  const points = values.map((value, index) => {
    if (value === null) return '';
    const start = ends[index - 1] ?? 0;
    const at = `${short((BOX * (start + (ends[index] ?? start))) / 2 / span)} ${short(BOX * (1 - value / most))}`;
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

function length(share: number): string {
  return short(100 * Math.min(1, Math.max(0, share)));
}

function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}
