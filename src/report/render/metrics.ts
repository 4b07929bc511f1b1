import {exitCodes, isSuccess} from '../../errors.ts';
import {packageVersion} from '../../operations/package-files.ts';
import type {LookupCounts, Summary} from '../summary.ts';
import declared from './metrics.json' with {type: 'json'};

/** A number, or numbers by the value of a metric's first label, then by that of the next. Unknown ones are left out. */
type Figure = number | null | undefined | {readonly [labelValue: string]: Figure};

export type Metric = readonly [name: string, help: string, figure: Figure, ...labels: string[]];

type MetricName = keyof typeof declared;
type Figures = Readonly<Partial<Record<MetricName, Figure>>>;

/** The end of a run. It is also known for a run that could not begin, which has no summary. */
interface RunEnd
  extends Pick<Summary, 'finished_at' | 'exit_code'>,
    Partial<Pick<Summary, 'reason' | 'duration_ms' | 'drift' | 'unfinished_days'>> {
  /** Null for a run without a job's name; undefined if the name is unknown. */
  readonly job: string | null | undefined;
}

/**
 * Metrics of a finished run as Prometheus text (version 0.0.4), for the node exporter's textfile collector. The
 * collector refuses timestamps on samples, so times are gauges. `before` is the file's previous content: after a failed
 * run, its time of the last success is kept.
 */
export function renderMetrics(summary: Summary, before = ''): string {
  return metricsOfJob(summary.job, endFigures(summary, before), {
    ...workFigures(summary),
    ...creditFigures(summary),
  });
}

/** Metrics of a run that could not begin. If its `job` is unknown, the name in `before` is kept, as alerts go by it. */
export function renderUnstartedMetrics({job: known, ...end}: RunEnd, before = ''): string {
  const job = known === undefined ? (findLabelValue(before, 'job_name') ?? null) : known;
  return metricsOfJob(job, endFigures({...end, job}, before), {});
}

/** The label is `job_name`, since Prometheus itself sets the label `job`. */
function metricsOfJob(job: string | null, end: Figures, others: Figures): string {
  const metrics = (figures: Figures) =>
    (Object.keys(figures) as MetricName[]).map((name): Metric => {
      const [help = '', ...labels] = declared[name];
      return [name, help, figures[name], ...labels];
    });
  return formatPrometheusText([...metrics(end), buildInfo(), ...metrics(others)], {job_name: job ?? ''});
}

function endFigures(end: RunEnd, before: string): Figures {
  const {job, finished_at, exit_code, reason, duration_ms, drift, unfinished_days: days} = end;
  const kept = (name: MetricName) => valueIn(before, name, job ?? '');
  const finished = secondsOf(finished_at);
  const success = isSuccess(exit_code);
  return {
    last_run_timestamp_seconds: finished,
    last_run_success: success ? 1 : 0,
    last_run_complete: exit_code === exitCodes.ok ? 1 : 0,
    last_success_timestamp_seconds: success ? finished : kept('last_success_timestamp_seconds'),
    last_run_exit_code: exit_code,
    last_run_duration_seconds: inSeconds(duration_ms),
    // A run that could not begin has not looked.
    unfinished_days: duration_ms === undefined ? kept('unfinished_days') : days?.length,
    last_run_reason: reason === undefined ? null : {[reason]: 1},
    last_run_drifts: drift?.length,
  };
}

function workFigures({started_at, rows, input, pace, lookups, calls}: Summary): Figures {
  const {ok, with_errors, rejected} = rows;
  const {p50, p95, p99, max} = calls.latency_ms;
  const byOperation = (figureOf: (counts: LookupCounts) => Figure) =>
    Object.fromEntries(Object.entries(lookups).map(([name, counts]) => [name, figureOf(counts)]));
  return {
    run_started_timestamp_seconds: secondsOf(started_at),
    run_rows_read: rows.read,
    run_input_bytes: input.bytes,
    run_rate_limit: pace.rate_limit,
    run_paused_seconds: inSeconds(pace.paused_ms),
    run_rows: {ok, with_errors, rejected},
    run_lookups: byOperation(({answered, empty, invalid, failed, unknown, skipped}) => ({
      ...{answered, empty, invalid, failed, unknown, skipped},
    })),
    run_stale_lookups: byOperation(({stale}) => stale),
    run_distinct_values: byOperation(({distinct}) => distinct),
    run_values_from_store: byOperation(({from_store}) => from_store),
    run_calls: byOperation(counts => counts.calls),
    run_retries: calls.retries,
    run_call_latency_seconds: {'0.5': inSeconds(p50), '0.95': inSeconds(p95), '0.99': inSeconds(p99)},
    run_call_latency_max_seconds: inSeconds(max),
    run_hit_ratio: byOperation(({from_store: known, distinct}) => (distinct === 0 ? null : known / distinct)),
  };
}

function creditFigures({credits, store, risk}: Summary): Figures {
  const {spent, maybe_spent, saved, account} = credits;
  const {dedupe: saved_by_dedupe, store: saved_by_store, prefilter: saved_by_prefilter} = saved;
  const periods = {day: account.per_day, month: account.per_month};
  return {
    run_credits: {spent, maybe_spent, saved_by_dedupe, saved_by_store, saved_by_prefilter},
    run_operation_credits: credits.by_operation,
    run_credit_limit: credits.limit,
    run_account_credits: Object.fromEntries(
      Object.entries(periods).map(([period, use]) => [period, use && {used: use.used, limit: use.limit}]),
    ),
    run_store_usable: store && (store.trouble === null ? 1 : 0),
    run_store_missed: store && {not_looked_up: store.not_looked_up, not_stored: store.not_stored},
    run_risk_rows: risk && {low: risk.low, medium: risk.medium, high: risk.high, unknown: risk.unknown},
    run_risk_score_mean: risk?.mean,
  };
}

function secondsOf(time: string): number {
  return Date.parse(time) / 1_000;
}

function inSeconds(ms: number | null = null): number | null {
  return ms && ms / 1_000;
}

function valueIn(before: string, name: string, job: string): number | null {
  const start = `${sampleName(name, {job_name: job})} `;
  const line = before.split('\n').find(text => text.startsWith(start));
  const value = Number(line?.slice(start.length));
  return line !== undefined && Number.isFinite(value) ? value : null;
}

export function buildInfo(): Metric {
  return ['build_info', 'The version of the program that wrote this.', {[packageVersion()]: 1}, 'version'];
}

type Labels = Readonly<Record<string, string>>;

/**
 * The text of all metrics that have figures. A name that ends in `_total` is a counter's, a metric with the label
 * `quantile` is a summary, all others are gauges. `more`: labels to add to every sample.
 */
export function formatPrometheusText(metrics: readonly Metric[], more: Labels = {}): string {
  const texts = metrics.map(([name, help, figure, ...labels]) => {
    const samples = samplesOf(figure, labels, more);
    if (samples.length === 0) return '';
    const type = name.endsWith('_total') ? 'counter' : labels.includes('quantile') ? 'summary' : 'gauge';
    const lines = samples.map(([labelled, value]) => `${sampleName(name, labelled)} ${value}\n`);
    return `# HELP bulk_enrich_${name} ${help}\n# TYPE bulk_enrich_${name} ${type}\n${lines.join('')}`;
  });
  return texts.join('');
}

function samplesOf(
  figure: Figure,
  [label = '', ...inner]: readonly string[],
  more: Labels,
): [Labels, number][] {
  if (typeof figure === 'number') return [[more, figure]];
  return Object.entries(figure ?? {}).flatMap(([value, part]) =>
    samplesOf(part, inner, {...more, [label]: value}),
  );
}

function sampleName(name: string, labels: Labels): string {
  const escaped = (text: string) =>
    text.replace(/[\\"\n]/g, character => (character === '\n' ? '\\n' : `\\${character}`));
  const listed = Object.entries(labels).map(([label, value]) => `${label}="${escaped(value)}"`);
  return `bulk_enrich_${name}{${listed.join(',')}}`;
}

/** The first value of a label in a text of metrics; undefined without one. */
function findLabelValue(text: string, name: string): string | undefined {
  const [, value] = new RegExp(`[{,]${name}="((?:[^"\\\\\n]|\\\\.)*)"`).exec(text) ?? [];
  return value?.replace(/\\(.)/g, (_, character) => (character === 'n' ? '\n' : character));
}
