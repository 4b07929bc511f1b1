import {notify} from '../../client/notify.ts';
import {isStream, textOf} from '../../disk/path.ts';
import {writeAtomically} from '../../disk/replace.ts';
import {BulkEnrichError, type ExitCode, exitCodes, systemCode} from '../../errors.ts';
import {isAddress, isMetricsTarget, pushAddress} from '../../job/monitoring/metrics-address.ts';
import {dated, utcDate} from '../../job/paths.ts';
import {renderEnd} from '../../report/render/metrics.ts';
import {mayWrite, refuseOthersFile} from '../destination/own-files.ts';
import type {World} from '../io.ts';

/**
 * Writes metrics while the run is under way. `render` gets the file's previous text. Failures are silent: the final
 * delivery reports its own failures. A stream gets only the final metrics.
 */
export async function deliverLive(
  to: string,
  job: string | undefined,
  render: (before: string) => string,
  io: World,
): Promise<void> {
  if (!isAddress(to) && isStream(to)) return;
  await deliverMetrics(to, job ?? null, render, {...io, warn: () => {}});
}

/**
 * Writes metrics for a run that could not begin, and so has no summary. The file may be another program's, so it is
 * replaced only if it contains metrics. `job` is null for a job without a name, undefined if unknown.
 */
export async function deliverEnd(
  to: string | undefined,
  job: string | null | undefined,
  exitCode: ExitCode,
  io: World,
): Promise<void> {
  const finished = new Date(io.now()).toISOString();
  const end = {job, finished_at: finished, exit_code: exitCode};
  if (to === undefined || to === '' || to === '-' || !(isAddress(to) || mayWrite('metrics', to))) return;
  await deliverMetrics(to, job ?? null, before => renderEnd(end, before), io);
}

/**
 * Calls {@link deliverEnd} for a job that could not be parsed, so `metrics` and `name` may be of any type.
 * `isPart`: true if the job file was not read to its end. A missing name then counts as unknown: it may be in
 * the unread part.
 */
export async function deliverUnresolved(
  {metrics, name, date}: Readonly<Partial<Record<'metrics' | 'name' | 'date', unknown>>>,
  isPart: boolean,
  error: unknown,
  io: World,
): Promise<void> {
  if (typeof metrics !== 'string' || !isMetricsTarget(metrics)) return;
  const day = typeof date === 'string' ? date : utcDate(Date.now());
  const exitCode = error instanceof BulkEnrichError ? error.exitCode : exitCodes.internal;
  const job = typeof name === 'string' ? name : isPart ? undefined : null;
  await deliverEnd(dated(metrics, day), job, exitCode, io);
}

/**
 * Writes or pushes metrics if their job asks for them. `render` gets the file's previous text. Failures are warnings.
 */
export async function deliverMetrics(
  to: string | undefined,
  job: string | null,
  render: (before: string) => string,
  io: World,
): Promise<void> {
  if (to === undefined) return;
  try {
    if (isAddress(to)) return await push(to, job, render(''), io);
    refuseOthersFile('metrics', to);
    writeAtomically(to, render(textOf(to) ?? ''));
  } catch (error) {
    io.warn(error instanceof Error ? error.message : systemCode(error));
  }
}

/** With POST, the gateway keeps metrics that the body lacks: a failed run leaves the last success's time there. */
async function push(to: string, job: string | null, body: string, {env, warn}: World): Promise<void> {
  const auth = env.BULK_ENRICH_METRICS_AUTH;
  const contentType = 'text/plain; version=0.0.4; charset=utf-8';
  const result = await notify(pushAddress(to, job), {body, contentType, ...(auth ? {auth} : {})});
  if (result !== 'ok') warn(`The metrics could not be pushed (${result}).`);
}
