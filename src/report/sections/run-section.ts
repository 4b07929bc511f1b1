import {operationTitle} from '../../operations/table.ts';
import {
  formatAmount,
  formatBytes,
  formatCount,
  formatDuration,
  formatMoment,
  formatMoney,
  pluralize,
} from '../format.ts';
import type {ReportTable, Section, TableCell, Tone} from '../model.ts';
import {savedTotal} from '../run-record.ts';
import type {Summary, TimelineSummary} from '../summary.ts';

export function moneySection({credits, lookups, endpoint}: Summary): Section | undefined {
  if (Object.keys(lookups).length === 0) return undefined;
  const {spent, maybe_spent: maybe, saved} = credits;
  const isFree = endpoint.kind === 'embedded';
  const {price} = credits.account;
  const money =
    price === undefined || isFree
      ? ''
      : ` At ${formatAmount(price.per_credit, price.currency)} a credit that is ${formatMoney(spent, price)}${maybe === 0 ? '' : `, and perhaps ${formatMoney(maybe, price)}`}.`;
  const limit = credits.limit === null ? '' : ` The limit was ${formatCount(credits.limit)}.`;
  const perhaps =
    maybe === 0 ? '' : ` ${formatCount(maybe)} more may have been charged for calls that brought no answer.`;
  const conditions =
    saved.by_condition === 0 ? '' : ` ${formatCount(saved.by_condition)} of them by conditions on lookups.`;
  const parts = [
    ['spent', 'warn', spent],
    ['perhaps spent', 'bad', maybe],
    ['saved: asked once for repeats', 'repeat', saved.dedupe],
    ['saved: known from the store', 'known', saved.store],
    ['saved: not worth a call', 'quiet', saved.prefilter],
  ] as const;
  return {
    title: 'Money',
    note: `${isFree ? `The embedded service is free. At a live service: ${formatCount(spent)} credits` : `${formatCount(spent)} credits were`} spent, ${formatCount(savedTotal(credits))} were saved.${conditions}${perhaps}${money}${limit}`,
    blocks: [
      {
        caption: 'Credits: what all lookups would have cost, one by one',
        head: ['Credits', ...parts.map(([name]) => name)],
        rows: [['All lookups', ...parts.map(([, , credits]) => credits)]],
        chart: {kind: 'stacks', tones: parts.map(([, tone]) => tone)},
      },
      {
        caption: 'Calls and credits by operation',
        head: 'Operation,distinct values,from the store,calls,retries,spent,perhaps spent'.split(','),
        rows: Object.entries(lookups).map(([name, {distinct, from_store, calls, retries}]) => {
          const {spent = 0, maybe_spent: perhaps = 0} = credits.by_operation[name] ?? {};
          return [operationTitle(name), distinct, from_store, calls, retries, spent, perhaps];
        }),
      },
    ],
  };
}

export function paceSection({calls, pace, timeline}: Summary): Section | undefined {
  if (calls.total === 0) return undefined;
  const {p50, p95, p99, max} = calls.latency_ms;
  const limit = pace.rate_limit === null ? '' : `, of ${formatCount(pace.rate_limit)} allowed`;
  const pauses =
    pace.pauses === 0 ? '' : ` ${pluralize(pace.pauses, 'pause')}, ${formatDuration(pace.paused_ms)} in all.`;
  const latencies = Object.entries({half: p50, '95%': p95, '99%': p99, all: max});
  return {
    title: 'Pace and latency',
    note: `${formatCount(Math.round(pace.achieved * 10) / 10)} calls a second over the whole time${limit}.${pauses}`,
    blocks: [
      ...lines(timeline),
      {
        caption: 'Latency of all calls',
        head: ['Of the calls', 'took at most'],
        rows: latencies.map(([name, ms]) => [name, ms && formatDuration(ms)]),
        form: 'small',
      },
    ],
  };
}

/** Minimum points of a line chart: charts with fewer are left out. */
const FEWEST_POINTS = 2;

function lines(timeline: TimelineSummary): ReportTable[] {
  const {ms} = timeline;
  if (ms.length < FEWEST_POINTS) return [];
  let end = 0;
  const ends = ms.map(length => {
    end += length;
    return end;
  });
  const rate = (counts: readonly number[]) =>
    counts.map((value, index) => Math.round((value / (ms[index] ?? 1)) * 10_000) / 10);
  const chart = (
    caption: string,
    unit: string,
    series: readonly (readonly [name: string, tone: Tone, values: readonly TableCell[]])[],
  ): ReportTable => ({
    caption,
    head: ['until', ...series.map(([name]) => name)],
    rows: ends.map((at, index) => [
      formatDuration(at),
      ...series.map(([, , values]) => values[index] ?? null),
    ]),
    chart: {kind: 'lines', unit, ends, tones: series.map(([, tone]) => tone)},
  });
  return [
    chart('Pace', 'a second', [
      ['calls', 'known', rate(timeline.calls)],
      ['rows', 'good', rate(timeline.rows)],
    ]),
    chart('Latency', 'ms', [
      ['median', 'known', timeline.latency_p50_ms],
      ['95%', 'warn', timeline.latency_p95_ms],
    ]),
    chart('In flight', 'calls', [['in flight', 'repeat', timeline.in_flight]]),
  ];
}

export function runSection(summary: Summary): Section {
  const {endpoint, input, output, resumed} = summary;
  const sized = (text: string, size: number | null) =>
    size === null ? text : `${text} (${formatBytes(size)})`;
  const details: readonly (readonly [string, string | null])[] = [
    ['Run', summary.run_id],
    ['Started', formatMoment(summary.started_at)],
    ['Finished', formatMoment(summary.finished_at)],
    ['Service', endpoint.base_url === null ? endpoint.kind : `${endpoint.kind}, ${endpoint.base_url}`],
    ['Input', sized(input.paths.join(', '), input.bytes)],
    ['SHA-256 of the input', input.sha256],
    ['Output', sized(output.path, output.bytes)],
    ['SHA-256 of the output', output.sha256],
    ['Resumed', resumed.times === 0 ? null : pluralize(resumed.times, 'time')],
  ];
  const rows = details.filter(([, value]) => value !== null);
  return {title: 'This run', blocks: [{caption: 'Details', head: ['What', 'value'], texts: [1], rows}]};
}
