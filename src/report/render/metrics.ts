import {exitCodes, isSuccess} from '../../errors.ts';
import type {LookupCounts, Summary} from '../summary.ts';
import {
  buildInfo,
  labelOfBlock,
  type Metric,
  metricsText,
  type Sample,
  sampleName,
  samplesBy,
} from './prometheus.ts';

const LAST_SUCCESS = 'last_success_timestamp_seconds';

/** The end of a run. It is also known for a run that could not begin, which has no summary. */
interface RunEnd {
  /** Null for a run without a job's name; undefined if the name is unknown. */
  readonly job: string | null | undefined;
  readonly finished_at: string;
  readonly exit_code: number;
  readonly duration_ms?: number;
  readonly drift?: Summary['drift'];
}

/**
 * Metrics of a finished run as Prometheus text (version 0.0.4), for the node exporter's textfile collector. The
 * collector refuses timestamps on samples, so times are gauges. `before` is the file's previous content: after a failed
 * run, its time of the last success is kept.
 */
export function renderMetrics(summary: Summary, before = ''): string {
  return ofJob(summary.job, [
    ...endMetrics(summary, before),
    buildInfo(),
    ...rowMetrics(summary),
    ...callMetrics(summary),
    ...creditMetrics(summary),
  ]);
}

/**
 * Metrics of a run that could not begin, and so has no summary. `before` is the file's previous content. If `job`
 * is unknown, the job's name in `before` is kept, since alerts use the metrics with that name.
 */
export function renderEnd({job: known, ...end}: RunEnd, before = ''): string {
  const job = known === undefined ? (labelOfBlock(before, 'job_name') ?? null) : known;
  return ofJob(job, [...endMetrics({...end, job}, before), buildInfo()]);
}

/** The label is `job_name`, since Prometheus itself sets the label `job`. */
function ofJob(job: string | null, metrics: readonly Metric[]): string {
  return metricsText(metrics, {job_name: job ?? ''});
}

function endMetrics({job, finished_at, exit_code, duration_ms, drift}: RunEnd, before: string): Metric[] {
  const finished = secondsOf(finished_at);
  const success = isSuccess(exit_code);
  const lastSuccess = success ? finished : lastSuccessIn(before, job ?? '');
  const complete = exit_code === exitCodes.ok ? 1 : 0;
  const drifts = drift?.length ?? null;
  return [
    ['last_run_timestamp_seconds', 'When the last run finished, in seconds since the epoch.', finished],
    ['last_run_success', '1 if the last run ended with exit code 0 or 3, else 0.', success ? 1 : 0],
    ['last_run_complete', '1 if the last run ended with exit code 0, else 0.', complete],
    [LAST_SUCCESS, 'When a run last ended with exit code 0 or 3, in seconds since the epoch.', lastSuccess],
    ['last_run_exit_code', 'Exit code of the last run.', exit_code],
    ['last_run_duration_seconds', 'Duration of the last run, from its first start.', inSeconds(duration_ms)],
    ['last_run_drifts', "Figures of the last run that jumped against the job's earlier ones.", drifts],
  ];
}

function rowMetrics({started_at, rows, input, pace, lookups}: Summary): Metric[] {
  const started = secondsOf(started_at);
  const {ok, with_errors, rejected} = rows;
  return [
    ['run_started_timestamp_seconds', 'When the run first started, in seconds since the epoch.', started],
    ['run_rows_read', 'Rows of the input that the run has read.', rows.read],
    ['run_input_bytes', 'Bytes of the input that the run has read.', input.bytes],
    ['run_rate_limit', 'Calls a second that the run may make.', pace.rate_limit],
    ['run_paused_seconds', 'How long the run has made no calls, in all.', inSeconds(pace.paused_ms)],
    [
      'run_rows',
      'Rows of the run, by what became of them.',
      samplesBy('outcome', {ok, with_errors, rejected}),
    ],
    [
      'run_lookups',
      'Values of the run, by operation and outcome.',
      Object.entries(lookups).flatMap(([operation, facts]) => {
        const {answered, empty, invalid, failed, unknown, skipped} = facts;
        return samplesBy('outcome', {answered, empty, invalid, failed, unknown, skipped}, {operation});
      }),
    ],
  ];
}

function callMetrics({lookups, calls}: Summary): Metric[] {
  const {p50, p95, p99, max} = calls.latency_ms;
  const quantiles = {'0.5': inSeconds(p50), '0.95': inSeconds(p95), '0.99': inSeconds(p99)};
  const each = (of: (counts: LookupCounts) => number) =>
    Object.entries(lookups).map(([operation, counts]): Sample => [{operation}, of(counts)]);
  return [
    ['run_distinct_values', 'Distinct values of the run that were looked up.', each(own => own.distinct)],
    ['run_values_from_store', 'Values of the run that the answer store knew.', each(own => own.from_store)],
    ['run_calls', 'Calls of the run, by operation.', each(own => own.calls)],
    ['run_retries', 'Calls of the run beyond the first for their value.', calls.retries],
    ['run_call_latency_seconds', 'Latency of the calls of the run.', samplesBy('quantile', quantiles)],
    ['run_call_latency_max_seconds', 'Latency of the slowest call of the run.', inSeconds(max)],
    [
      'run_hit_ratio',
      'Share of the distinct values of the run that the answer store knew, by operation.',
      each(({from_store: known, distinct}) => known / distinct).filter(([, share]) => !Number.isNaN(share)),
    ],
  ];
}

function creditMetrics({credits, store, risk}: Summary): Metric[] {
  const {spent, maybe_spent, saved, account, by_operation} = credits;
  const kinds = {
    spent,
    maybe_spent,
    saved_by_dedupe: saved.dedupe,
    saved_by_store: saved.store,
    saved_by_prefilter: saved.prefilter,
  };
  const usable = store && (store.trouble === null ? 1 : 0);
  const levels =
    risk && samplesBy('level', {low: risk.low, medium: risk.medium, high: risk.high, unknown: risk.unknown});
  return [
    ['run_credits', 'Credits of the run: spent, perhaps spent, and saved.', samplesBy('kind', kinds)],
    [
      'run_operation_credits',
      'Credits of the run, by operation: spent, and perhaps spent.',
      Object.entries(by_operation).flatMap(([operation, spending]) =>
        samplesBy('kind', spending, {operation}),
      ),
    ],
    ['run_credit_limit', 'Most credits that the run is allowed.', credits.limit],
    [
      'run_account_credits',
      "Credits of the account in the run's day and month: used by all runs, and the limit.",
      (['day', 'month'] as const).flatMap(period => {
        const {used = null, limit = null} = account[`per_${period}`] ?? {};
        return samplesBy('kind', {used, limit}, {period});
      }),
    ],
    ['run_store_usable', '1 if the answer store can be used, else 0.', usable],
    [
      'run_store_missed',
      'Values that the run could not look up in the answer store, and answers that it could not keep there.',
      store && samplesBy('kind', {not_looked_up: store.not_looked_up, not_stored: store.not_stored}),
    ],
    ['run_risk_rows', 'Rows of the run, by risk level.', levels],
    ['run_risk_score_mean', 'Mean risk score of the run, from 0 to 100.', risk?.mean ?? null],
  ];
}

function secondsOf(time: string): number {
  return Date.parse(time) / 1_000;
}

function inSeconds(ms: number | null = null): number | null {
  return ms && ms / 1_000;
}

function lastSuccessIn(before: string, job: string): number | null {
  const start = `${sampleName(LAST_SUCCESS, {job_name: job})} `;
  const line = before.split('\n').find(text => text.startsWith(start));
  const value = Number(line?.slice(start.length));
  return line !== undefined && Number.isFinite(value) ? value : null;
}
