import {count} from '../format.ts';
import type {HistogramBlock, LinesBlock, StacksBlock} from '../model.ts';
import {html, type Markup} from './markup.ts';

/**
 * Charts as inline SVG that stretches with the page. Words are in HTML beside the SVG, so that they stay readable
 * at any width. Every chart has a table of its figures. For a screen reader, a chart is one image with a sentence.
 */

/** A bar that fills a share of its cell, from 0 to 1. */
export function bar(share: number): Markup {
  return html`<svg class="bar" aria-hidden="true"><rect class="fill-known" width="${length(share)}%" height="100%" rx="2"/></svg>`;
}

/** One row of a {@link StacksBlock} as a bar. Each part is as wide as its share of the row's sum. */
export function stack({keys}: StacksBlock, {name, counts}: StacksBlock['rows'][number]): Markup {
  const total = counts.reduce((sum, value) => sum + value, 0);
  const rects: Markup[] = [];
  let from = 0;
  for (const [index, value] of counts.entries()) {
    const tone = keys[index]?.tone;
    if (tone === undefined || value === 0) continue;
    const share = value / total;
    rects.push(
      html`<rect class="fill-${tone} part" x="${length(from)}%" width="${length(share)}%" height="100%"/>`,
    );
    from += share;
  }
  const parts = counts.flatMap((value, index) =>
    value === 0 ? [] : [`${keys[index]?.name} ${count(value)}`],
  );
  const label = `${name}: ${parts.length === 0 ? 'nothing' : parts.join(', ')}`;
  return html`<svg class="stack" role="img" aria-label="${label}"><rect class="fill-none" width="100%" height="100%"/>${rects}</svg>`;
}

/** Columns side by side, the highest as high as the chart. */
export function histogram({bins, what, caption}: HistogramBlock): Markup {
  const most = Math.max(1, ...bins.map(bin => bin.count));
  const width = 1 / Math.max(1, bins.length);
  const columns = bins.map(({count: value}, index) => {
    const height = value / most;
    return html`<rect class="fill-known" x="${length((index + 0.08) * width)}%" y="${length(1 - height)}%" width="${length(0.84 * width)}%" height="${length(height)}%"/>`;
  });
  const label = `${caption}: ${bins.map(bin => `${what} ${bin.name}: ${count(bin.count)}`).join('; ')}`;
  return html`<svg class="columns" role="img" aria-label="${label}">${columns}</svg>`;
}

const BOX = 100;

/** Lines over time, with gaps for missing values. `most` is the upper end of the scale. */
export function lines({series, ends, caption, unit}: LinesBlock, most: number): Markup {
  const span = Math.max(1, ends.at(-1) ?? 1);
  const paths = series.map(
    ({values, tone}) =>
      html`<path class="line stroke-${tone}" d="${path(values, ends, span, most)}" vector-effect="non-scaling-stroke"/>`,
  );
  const said = series.map(({name, values}) => {
    const known = values.filter(value => value !== null);
    return known.length === 0
      ? `${name}: nothing`
      : `${name}: ${count(Math.min(...known))} to ${count(Math.max(...known))} ${unit}`;
  });
  return html`<svg class="lines" viewBox="0 0 ${BOX} ${BOX}" preserveAspectRatio="none" role="img" aria-label="${`${caption} over time. ${said.join('; ')}`}"><path class="grid" d="M0 0H${BOX}M0 ${BOX / 2}H${BOX}M0 ${BOX}H${BOX}" vector-effect="non-scaling-stroke"/>${paths}</svg>`;
}

/** An SVG path through the values, each in the middle of its interval. A null leaves a gap. */
function path(
  values: readonly (number | null)[],
  ends: readonly number[],
  span: number,
  most: number,
): string {
  const parts: string[] = [];
  let drawing = false;
  for (const [index, value] of values.entries()) {
    if (value === null) {
      drawing = false;
      continue;
    }
    const start = ends[index - 1] ?? 0;
    const x = (BOX * (start + (ends[index] ?? start))) / 2 / span;
    const y = BOX * (1 - value / most);
    // A point between two gaps is a stroke without length. It shows as a dot, since the line has round caps.
    parts.push(drawing ? `L${short(x)} ${short(y)}` : `M${short(x)} ${short(y)}h0`);
    drawing = true;
  }
  return parts.join('');
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
