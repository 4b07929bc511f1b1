import {count, duration, many} from '../format.ts';
import type {LinesBlock, Section} from '../model.ts';
import type {Summary, TimelineSummary} from '../summary.ts';

/** Rate of the calls and latency of the answers; undefined without calls. */
export function paceSection({calls, pace, timeline}: Summary): Section | undefined {
  if (calls.total === 0) return undefined;
  const {p50, p95, p99, max} = calls.latency_ms;
  const limit = pace.rate_limit === null ? '' : `, of ${count(pace.rate_limit)} allowed`;
  const pauses =
    pace.pauses === 0 ? '' : ` ${many(pace.pauses, 'pause')}, ${duration(pace.paused_ms)} in all.`;
  const ms = (value: number | null) => (value === null ? '–' : duration(value));
  return {
    title: 'Pace and latency',
    note: `${count(Math.round(pace.achieved * 10) / 10)} calls a second over the whole time${limit}.${pauses}`,
    blocks: [
      ...lines(timeline),
      {
        kind: 'table',
        caption: 'Latency of all calls',
        head: ['Of the calls', 'took at most'],
        rows: [
          ['half', ms(p50)],
          ['95%', ms(p95)],
          ['99%', ms(p99)],
          ['all', ms(max)],
        ],
        small: true,
      },
    ],
  };
}

/** Minimum points of a line chart: charts with fewer are left out. */
const FEWEST_POINTS = 2;

function lines(timeline: TimelineSummary): LinesBlock[] {
  const {ms} = timeline;
  if (ms.length < FEWEST_POINTS) return [];
  let end = 0;
  const ends = ms.map(length => {
    end += length;
    return end;
  });
  const rate = (counts: readonly number[]) =>
    counts.map((value, index) => Math.round((value / (ms[index] ?? 1)) * 10_000) / 10);
  return [
    {
      kind: 'lines',
      caption: 'Pace',
      unit: 'a second',
      ends,
      series: [
        {name: 'calls', tone: 'known', values: rate(timeline.calls)},
        {name: 'rows', tone: 'good', values: rate(timeline.rows)},
      ],
    },
    {
      kind: 'lines',
      caption: 'Latency',
      unit: 'ms',
      ends,
      series: [
        {name: 'median', tone: 'known', values: timeline.latency_p50_ms},
        {name: '95%', tone: 'warn', values: timeline.latency_p95_ms},
      ],
    },
    {
      kind: 'lines',
      caption: 'In flight',
      unit: 'calls',
      ends,
      series: [{name: 'in flight', tone: 'repeat', values: timeline.in_flight}],
    },
  ];
}
