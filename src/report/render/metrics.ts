import {exitCodes, isSuccess} from '../../errors.ts';
import type {Summary} from '../summary.ts';
import {
  buildInfo,
  by,
  type Family,
  familiesText,
  gauge,
  labelIn,
  labelText,
  quantiles,
  type Sample,
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
  return textOfAll([...endFamilies(summary, before), ...runFamilies(summary)], summary.job);
}

/**
 * Metrics of a run that could not begin, and so has no summary. `before` is the file's previous content. If `job`
 * is unknown, the job's name in `before` is kept, since alerts use the metrics with that name.
 */
export function renderEnd({job: known, ...end}: RunEnd, before = ''): string {
  const job = known === undefined ? (labelIn(before, 'job_name') ?? null) : known;
  return textOfAll([...endFamilies({...end, job}, before), buildInfo()], job);
}

function textOfAll(families: readonly Family[], job: string | null): string {
  // The label is `job_name`, since Prometheus itself sets the label `job`.
  return familiesText(families, {job_name: job ?? ''});
}

function endFamilies({job, finished_at, exit_code, duration_ms, drift}: RunEnd, before: string): Family[] {
  const finished = Date.parse(finished_at) / 1_000;
  const success = isSuccess(exit_code);
  const lastSuccess = success ? finished : lastSuccessIn(before, job ?? '');
  return [
    gauge('last_run_timestamp_seconds', 'When the last run finished, in seconds since the epoch.', finished),
    gauge(
      'last_run_success',
      '1 if the last run ended with exit code 0 or 3, which have an output, else 0.',
      success ? 1 : 0,
    ),
    gauge(
      'last_run_complete',
      '1 if the last run ended with exit code 0, an output without gaps, else 0.',
      exit_code === exitCodes.ok ? 1 : 0,
    ),
    gauge(
      LAST_SUCCESS,
      'When a run last ended with exit code 0 or 3, in seconds since the epoch.',
      lastSuccess,
    ),
    gauge('last_run_exit_code', 'Exit code of the last run.', exit_code),
    gauge(
      'last_run_duration_seconds',
      'How long the last run took, from its first start.',
      duration_ms === undefined ? null : duration_ms / 1_000,
    ),
    gauge(
      'last_run_drifts',
      "Figures of the last run that jumped against the job's earlier ones.",
      drift?.length ?? null,
    ),
  ];
}

function runFamilies(summary: Summary): Family[] {
  const {started_at, rows, input, pace} = summary;
  return [
    buildInfo(),
    gauge(
      'run_started_timestamp_seconds',
      'When the run first started, in seconds since the epoch.',
      Date.parse(started_at) / 1_000,
    ),
    gauge('run_rows_read', 'Rows of the input that the run has read.', rows.read),
    gauge('run_input_bytes', 'Bytes of the input that the run has read.', input.bytes),
    gauge('run_rate_limit', 'Calls a second that the run may make.', pace.rate_limit),
    gauge('run_paused_seconds', 'How long the run has made no calls, in all.', pace.paused_ms / 1_000),
    ...workFamilies(summary),
    ...riskFamilies(summary),
  ];
}

function workFamilies({rows, lookups, calls, credits, store}: Summary): Family[] {
  const {saved} = credits;
  const {p50, p95, p99, max} = calls.latency_ms;
  const seconds = (ms: number | null) => (ms === null ? null : ms / 1_000);
  return [
    gauge(
      'run_rows',
      'Rows of the run, by what became of them.',
      by('outcome', {ok: rows.ok, with_errors: rows.with_errors, rejected: rows.rejected}),
    ),
    gauge(
      'run_lookups',
      'Values of the run, by operation and outcome.',
      Object.entries(lookups).flatMap(([operation, facts]) => {
        const {answered, empty, invalid, failed, unknown, skipped} = facts;
        return by('outcome', {answered, empty, invalid, failed, unknown, skipped}, {operation});
      }),
    ),
    gauge(
      'run_distinct_values',
      'Distinct values of the run that were looked up.',
      Object.entries(lookups).map(([operation, {distinct}]) => [{operation}, distinct]),
    ),
    gauge(
      'run_values_from_store',
      'Values of the run that the answer store knew.',
      Object.entries(lookups).map(([operation, facts]) => [{operation}, facts.from_store]),
    ),
    gauge(
      'run_calls',
      'Calls of the run, by operation.',
      Object.entries(lookups).map(([operation, facts]) => [{operation}, facts.calls]),
    ),
    gauge('run_retries', 'Calls of the run beyond the first for their value.', calls.retries),
    quantiles('run_call_latency_seconds', 'Latency of the calls of the run.', {
      '0.5': seconds(p50),
      '0.95': seconds(p95),
      '0.99': seconds(p99),
    }),
    gauge('run_call_latency_max_seconds', 'Latency of the slowest call of the run.', seconds(max)),
    gauge(
      'run_credits',
      'Credits of the run: spent, perhaps spent, and saved.',
      by('kind', {
        spent: credits.spent,
        maybe_spent: credits.maybe_spent,
        saved_by_dedupe: saved.dedupe,
        saved_by_store: saved.store,
        saved_by_prefilter: saved.prefilter,
      }),
    ),
    gauge(
      'run_operation_credits',
      'Credits of the run, by operation: spent, and perhaps spent.',
      Object.entries(credits.by_operation).flatMap(([operation, {spent, maybe_spent}]) =>
        by('kind', {spent, maybe_spent}, {operation}),
      ),
    ),
    gauge('run_credit_limit', 'Most credits that the run is allowed.', credits.limit),
    gauge(
      'run_account_credits',
      "Credits of the account in the run's day and month: used by all runs, and the limit.",
      (['day', 'month'] as const).flatMap(period => {
        const {used, limit} = credits.account[`per_${period}`] ?? {};
        return used === undefined || limit === undefined ? [] : by('kind', {used, limit}, {period});
      }),
    ),
    gauge(
      'run_hit_ratio',
      'Share of the distinct values of the run that the answer store knew, by operation.',
      Object.entries(lookups).flatMap(([operation, {from_store: known, distinct}]): Sample[] =>
        distinct === 0 ? [] : [[{operation}, known / distinct]],
      ),
    ),
    gauge(
      'run_store_usable',
      '1 if the answer store can be used, else 0.',
      store && (store.trouble === null ? 1 : 0),
    ),
    gauge(
      'run_store_missed',
      'Values that the run could not look up in the answer store, and answers that it could not keep there.',
      store && by('kind', {not_looked_up: store.not_looked_up, not_stored: store.not_stored}),
    ),
  ];
}

function riskFamilies({risk}: Summary): Family[] {
  return [
    gauge(
      'run_risk_rows',
      'Rows of the run, by risk level.',
      risk && by('level', {low: risk.low, medium: risk.medium, high: risk.high, unknown: risk.unknown}),
    ),
    gauge('run_risk_score_mean', 'Mean risk score of the run, from 0 to 100.', risk?.mean ?? null),
  ];
}

function lastSuccessIn(before: string, job: string): number | null {
  const start = `bulk_enrich_${LAST_SUCCESS}${labelText({job_name: job})} `;
  const line = before.split('\n').find(text => text.startsWith(start));
  const value = Number(line?.slice(start.length));
  return line !== undefined && Number.isFinite(value) ? value : null;
}
