import {exitCodes, isSuccess} from '../../errors.ts';
import type {Summary} from '../summary.ts';
import {by, type Family, familyText, gauge, labelIn, labelText, type Sample} from './prometheus.ts';

const LAST_SUCCESS = 'last_success_timestamp_seconds';

/** End of a run, also of one that could not begin. */
interface RunEnd {
  /** Undefined if its name is not known. */
  readonly job: string | null | undefined;
  readonly finished_at: string;
  readonly exit_code: number;
  readonly duration_ms?: number;
}

/**
 * The run as Prometheus text (version 0.0.4), for the node exporter's textfile collector, which refuses timestamps on
 * samples, or a Pushgateway: when it was is a gauge. `before` is the file's last content: the time of the last success
 * is kept from it.
 */
export function renderMetrics(summary: Summary, before = ''): string {
  const families = [...endFamilies(summary, before), ...workFamilies(summary), ...resultFamilies(summary)];
  return textOfAll(families, summary.job);
}

/**
 * The same of a run that has no summary, as it could not begin. Without `job` its name is not known: it is that of
 * `before`, whose series an alert goes by.
 */
export function renderEnd({job: known, ...end}: RunEnd, before = ''): string {
  const job = known === undefined ? (labelIn(before, 'job_name') ?? null) : known;
  return textOfAll(endFamilies({...end, job}, before), job);
}

/** True if this module wrote the text. Any other file is checked before it is replaced. */
export function isMetrics(text: string): boolean {
  return text === '' || text.startsWith('# HELP bulk_enrich_');
}

function textOfAll(families: readonly Family[], job: string | null): string {
  // `job` is a label that Prometheus sets itself.
  const own = {job_name: job ?? ''};
  return families
    .filter(({samples}) => samples.length > 0)
    .map(family => familyText(family, own))
    .join('');
}

function endFamilies({job, finished_at, exit_code, duration_ms}: RunEnd, before: string): Family[] {
  const finished = Date.parse(finished_at) / 1_000;
  const success = isSuccess(exit_code);
  const lastSuccess = success ? finished : lastSuccessIn(before, job ?? '');
  return [
    gauge('last_run_timestamp_seconds', 'When the last run finished, in seconds since the epoch.', finished),
    gauge('last_run_success', 'Whether the last run wrote its output: exit code 0 or 3.', success ? 1 : 0),
    gauge(
      'last_run_complete',
      'Whether the last run wrote its output without gaps: exit code 0.',
      exit_code === exitCodes.ok ? 1 : 0,
    ),
    gauge(LAST_SUCCESS, 'When a run last wrote its output, in seconds since the epoch.', lastSuccess),
    gauge('last_run_exit_code', 'Exit code of the last run.', exit_code),
    gauge(
      'last_run_duration_seconds',
      'How long the last run took, from its first start.',
      duration_ms === undefined ? null : duration_ms / 1_000,
    ),
  ];
}

function workFamilies({rows, lookups, calls, credits, store}: Summary): Family[] {
  const {saved} = credits;
  const {p50, p95, p99, max} = calls.latency_ms;
  // `quantile` is a label that only summaries may have.
  const latency = Object.entries({p50, p95, p99, max});
  return [
    gauge(
      'last_run_rows',
      'Rows of the last run, by what became of them.',
      by('outcome', {ok: rows.ok, with_errors: rows.with_errors, rejected: rows.rejected}),
    ),
    gauge(
      'last_run_lookups',
      'Values of the last run, by operation and outcome.',
      Object.entries(lookups).flatMap(([operation, facts]) => {
        const {answered, empty, invalid, failed, unknown, skipped} = facts;
        return by('outcome', {answered, empty, invalid, failed, unknown, skipped}, {operation});
      }),
    ),
    gauge(
      'last_run_distinct_values',
      'Distinct values of the last run that were looked up.',
      Object.entries(lookups).map(([operation, {distinct}]) => [{operation}, distinct]),
    ),
    gauge(
      'last_run_values_from_store',
      'Values of the last run that the answer store knew.',
      Object.entries(lookups).map(([operation, facts]) => [{operation}, facts.from_store]),
    ),
    gauge(
      'last_run_calls',
      'Calls of the last run, by operation.',
      Object.entries(lookups).map(([operation, facts]) => [{operation}, facts.calls]),
    ),
    gauge('last_run_retries', 'Calls of the last run beyond the first for their value.', calls.retries),
    gauge(
      'last_run_call_latency_seconds',
      'Latency of the calls of the last run: percentiles and the longest.',
      latency.flatMap(([stat, ms]): Sample[] => (ms === null ? [] : [[{stat}, ms / 1_000]])),
    ),
    gauge(
      'last_run_credits',
      'Credits of the last run: spent, perhaps spent, and saved.',
      by('kind', {
        spent: credits.spent,
        maybe_spent: credits.maybe_spent,
        saved_by_dedupe: saved.dedupe,
        saved_by_store: saved.store,
        saved_by_prefilter: saved.prefilter,
      }),
    ),
    gauge(
      'last_run_operation_credits',
      'Credits of the last run, by operation: spent, and perhaps spent.',
      Object.entries(credits.by_operation).flatMap(([operation, {spent, maybe_spent}]) =>
        by('kind', {spent, maybe_spent}, {operation}),
      ),
    ),
    gauge('last_run_credit_limit', 'Most credits that the last run was allowed.', credits.limit),
    gauge(
      'last_run_account_credits',
      "Credits of the account in the last run's day and month: used by all runs, and the limit.",
      (['day', 'month'] as const).flatMap(period => {
        const {used, limit} = credits.account[`per_${period}`] ?? {};
        return used === undefined || limit === undefined ? [] : by('kind', {used, limit}, {period});
      }),
    ),
    gauge(
      'last_run_hit_ratio',
      'Share of the distinct values of the last run that the answer store knew, by operation.',
      Object.entries(lookups).flatMap(([operation, {from_store: known, distinct}]): Sample[] =>
        distinct === 0 ? [] : [[{operation}, known / distinct]],
      ),
    ),
    gauge(
      'last_run_store_usable',
      'Whether the answer store could be used to the end of the last run.',
      store && (store.trouble === null ? 1 : 0),
    ),
    gauge(
      'last_run_store_missed',
      'Values that the answer store could not be asked about in the last run, and answers that it could not keep.',
      store && by('kind', {not_looked_up: store.not_looked_up, not_stored: store.not_stored}),
    ),
  ];
}

function resultFamilies({risk, drift}: Summary): Family[] {
  return [
    gauge(
      'last_run_risk_rows',
      'Rows of the last run, by risk level.',
      risk ? by('level', {low: risk.low, medium: risk.medium, high: risk.high, unknown: risk.unknown}) : [],
    ),
    gauge('last_run_risk_score_mean', 'Mean risk score of the last run, from 0 to 100.', risk?.mean ?? null),
    gauge(
      'last_run_drifts',
      "Figures of the last run that jumped against the job's earlier ones.",
      drift.length,
    ),
  ];
}

function lastSuccessIn(before: string, job: string): number | null {
  const start = `bulk_enrich_${LAST_SUCCESS}${labelText({job_name: job})} `;
  const line = before.split('\n').find(text => text.startsWith(start));
  const value = Number(line?.slice(start.length));
  return line !== undefined && Number.isFinite(value) ? value : null;
}
