import {exitCodes, isSuccess} from '../../errors.ts';
import {packageVersion} from '../../operations/package-files.ts';
import type {Summary} from '../summary.ts';
import help from './metric-help.json' with {type: 'json'};

/** Values of metrics by their names. */
type Values = Readonly<Partial<Record<keyof typeof help, Metric[2]>>>;

/** The end of a run. It is also known for a run that could not begin, which has no summary. */
interface RunEnd {
  /** Null for a run without a job's name; undefined if the name is unknown. */
  readonly job: string | null | undefined;
  readonly finished_at: string;
  readonly exit_code: number;
  readonly reason?: string;
  readonly duration_ms?: number;
  readonly drift?: Summary['drift'];
  readonly unfinished_days?: Summary['unfinished_days'];
}

/**
 * Metrics of a finished run as Prometheus text (version 0.0.4), for the node exporter's textfile collector. The
 * collector refuses timestamps on samples, so times are gauges. `before` is the file's previous content: after a failed
 * run, its time of the last success is kept.
 */
export function renderMetrics(summary: Summary, before = ''): string {
  return ofJob(summary.job, endValues(summary, before), {...workValues(summary), ...creditValues(summary)});
}

/**
 * Metrics of a run that could not begin, and so has no summary. `before` is the file's previous content. If `job`
 * is unknown, the job's name in `before` is kept, since alerts use the metrics with that name.
 */
export function renderUnstartedMetrics({job: known, ...end}: RunEnd, before = ''): string {
  const job = known === undefined ? (findLabelValue(before, 'job_name') ?? null) : known;
  return ofJob(job, endValues({...end, job}, before), {});
}

/** The label is `job_name`, since Prometheus itself sets the label `job`. */
function ofJob(job: string | null, end: Values, others: Values): string {
  const metrics = (values: Values) =>
    (Object.keys(values) as (keyof Values)[]).map((name): Metric => [name, help[name], values[name] ?? null]);
  return formatPrometheusText([...metrics(end), buildInfo(), ...metrics(others)], {job_name: job ?? ''});
}

function endValues(end: RunEnd, before: string): Values {
  const {job, finished_at, exit_code, reason, duration_ms, drift, unfinished_days: days} = end;
  const kept = (name: keyof typeof help) => valueIn(before, name, job ?? '');
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
    unfinished_days: duration_ms === undefined ? kept('unfinished_days') : (days?.length ?? null),
    last_run_reason: reason === undefined ? null : samplesBy('reason', {[reason]: 1}),
    last_run_drifts: drift?.length ?? null,
  };
}

function workValues({started_at, rows, input, pace, lookups, calls}: Summary): Values {
  const {ok, with_errors, rejected} = rows;
  const {p50, p95, p99, max} = calls.latency_ms;
  return {
    run_started_timestamp_seconds: secondsOf(started_at),
    run_rows_read: rows.read,
    run_input_bytes: input.bytes,
    run_rate_limit: pace.rate_limit,
    run_paused_seconds: inSeconds(pace.paused_ms),
    run_rows: samplesBy('outcome', {ok, with_errors, rejected}),
    run_lookups: byOperation(lookups, ({answered, empty, invalid, failed, unknown, skipped}, operation) =>
      samplesBy('outcome', {answered, empty, invalid, failed, unknown, skipped}, {operation}),
    ),
    run_stale_lookups: byOperation(lookups, ({stale}, operation) => [[{operation}, stale]]),
    run_distinct_values: byOperation(lookups, ({distinct}, operation) => [[{operation}, distinct]]),
    run_values_from_store: byOperation(lookups, ({from_store}, operation) => [[{operation}, from_store]]),
    run_calls: byOperation(lookups, (own, operation) => [[{operation}, own.calls]]),
    run_retries: calls.retries,
    run_call_latency_seconds: samplesBy('quantile', {
      ...{'0.5': inSeconds(p50), '0.95': inSeconds(p95), '0.99': inSeconds(p99)},
    }),
    run_call_latency_max_seconds: inSeconds(max),
    run_hit_ratio: byOperation(lookups, ({from_store: known, distinct}, operation) =>
      distinct === 0 ? [] : [[{operation}, known / distinct]],
    ),
  };
}

function creditValues({credits, store, risk}: Summary): Values {
  const {spent, maybe_spent, saved, account} = credits;
  const {dedupe: saved_by_dedupe, store: saved_by_store, prefilter: saved_by_prefilter} = saved;
  const kinds = {spent, maybe_spent, saved_by_dedupe, saved_by_store, saved_by_prefilter};
  return {
    run_credits: samplesBy('kind', kinds),
    run_operation_credits: byOperation(credits.by_operation, (own, operation) =>
      samplesBy('kind', own, {operation}),
    ),
    run_credit_limit: credits.limit,
    run_account_credits: (['day', 'month'] as const).flatMap(period => {
      const {used = null, limit = null} = account[`per_${period}`] ?? {};
      return samplesBy('kind', {used, limit}, {period});
    }),
    run_store_usable: store && (store.trouble === null ? 1 : 0),
    run_store_missed:
      store && samplesBy('kind', {not_looked_up: store.not_looked_up, not_stored: store.not_stored}),
    run_risk_rows:
      risk &&
      samplesBy('level', {low: risk.low, medium: risk.medium, high: risk.high, unknown: risk.unknown}),
    run_risk_score_mean: risk?.mean ?? null,
  };
}

function byOperation<Own>(
  all: Readonly<Record<string, Own>>,
  samplesOf: (own: Own, operation: string) => readonly Sample[],
): Sample[] {
  return Object.entries(all).flatMap(([operation, own]) => samplesOf(own, operation));
}

function secondsOf(time: string): number {
  return Date.parse(time) / 1_000;
}

function inSeconds(ms: number | null = null): number | null {
  return ms && ms / 1_000;
}

/** A job's value in a text of metrics; null without one. */
function valueIn(before: string, name: string, job: string): number | null {
  const start = `${sampleName(name, {job_name: job})} `;
  const line = before.split('\n').find(text => text.startsWith(start));
  const value = Number(line?.slice(start.length));
  return line !== undefined && Number.isFinite(value) ? value : null;
}

type Labels = Readonly<Record<string, string>>;
export type Sample = readonly [labels: Labels, value: number];

/**
 * A metric with its samples. A single number is one sample without labels. Null leaves the metric out. A name that ends in
 * `_total` is a counter's, samples with the label `quantile` are a summary's, all others are gauges.
 */
export type Metric = readonly [name: string, help: string, value: readonly Sample[] | number | null];

export function buildInfo(): Metric {
  return [
    'build_info',
    'The version of the program that wrote this.',
    samplesBy('version', {[packageVersion()]: 1}),
  ];
}

/** A sample for each value that is known. `others`: more labels of each. */
export function samplesBy(
  label: string,
  values: Readonly<Record<string, number | null>>,
  others: Labels = {},
): Sample[] {
  return Object.entries(values).flatMap(([name, value]): Sample[] =>
    value === null ? [] : [[{...others, [label]: name}, value]],
  );
}

/** The text of all metrics that have samples. `own`: labels to add to every sample. */
export function formatPrometheusText(metrics: readonly Metric[], own: Labels = {}): string {
  const texts = metrics.map(([name, help, value]) => {
    const samples: readonly Sample[] = typeof value === 'number' ? [[{}, value]] : (value ?? []);
    if (samples.length === 0) return '';
    const isSummary = samples.some(([labels]) => 'quantile' in labels);
    const type = name.endsWith('_total') ? 'counter' : isSummary ? 'summary' : 'gauge';
    const lines = samples.map(([labels, value]) => `${sampleName(name, {...own, ...labels})} ${value}\n`);
    return `# HELP bulk_enrich_${name} ${help}\n# TYPE bulk_enrich_${name} ${type}\n${lines.join('')}`;
  });
  return texts.join('');
}

/** A sample's name with its labels, as its line begins. */
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
