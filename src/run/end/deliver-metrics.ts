import {notify} from '../../client/notify.ts';
import {isStream, textOf} from '../../disk/path.ts';
import {writeAtomically} from '../../disk/replace.ts';
import {BulkEnrichError, type ExitCode, exitCodes, systemCode} from '../../errors.ts';
import {isAddress, isMetricsTarget, pushAddress} from '../../job/monitoring/metrics-address.ts';
import {dated, utcDate} from '../../job/paths.ts';
import {isMetrics, type LiveRun, renderEnd, renderLive, renderMetrics} from '../../report/render/metrics.ts';
import type {Summary} from '../../report/summary.ts';
import type {World} from '../io.ts';

/** Writes or pushes a run's metrics, where its job asks for them. Trouble is a warning. */
export async function deliverMetrics(to: string | undefined, summary: Summary, io: World): Promise<void> {
  await deliver(to, summary.job, before => renderMetrics(summary, before), io);
}

/** The same while the run is under way. Trouble is told at its end; a stream gets the end alone. */
export async function deliverLive(
  to: string,
  job: string | undefined,
  read: () => {readonly summary: Summary; readonly live: LiveRun},
  io: World,
): Promise<void> {
  if (!isAddress(to) && isStream(to)) return;
  const render = (before: string) => {
    const {summary, live} = read();
    return renderLive(summary, live, before);
  };
  await deliver(to, job ?? null, render, {...io, warn: () => {}});
}

/**
 * Says how a run ended that has no summary, as it could not begin. Whether its files are the job's was perhaps not found
 * out: one that is there is only replaced if it has metrics. `job` is null where it has no name, undefined where that is
 * not known.
 */
export async function deliverEnd(
  to: string | undefined,
  job: string | null | undefined,
  exitCode: ExitCode,
  io: World,
): Promise<void> {
  const finished = new Date(io.now()).toISOString();
  const end = {job, finished_at: finished, exit_code: exitCode};
  const render = (before: string) => (isMetrics(before) ? renderEnd(end, before) : undefined);
  await deliver(to === '' || to === '-' ? undefined : to, job ?? null, render, io);
}

/**
 * The same of a job that could not be made out: `metrics` and `name` are as they were given, and may be anything.
 * `isPart`: a job file could not be read, or not to its end, so that there may be a name that nobody knows.
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

async function deliver(
  to: string | undefined,
  job: string | null,
  render: (before: string) => string | undefined,
  io: World,
): Promise<void> {
  if (to === undefined) return;
  try {
    const text = render(isAddress(to) ? '' : (textOf(to) ?? ''));
    if (text === undefined) return;
    if (isAddress(to)) await push(to, job, text, io);
    else writeAtomically(to, text);
  } catch (error) {
    io.warn(error instanceof Error ? error.message : systemCode(error));
  }
}

/** POST leaves what it does not name: the time of the last success stays there over nights that fail. */
async function push(to: string, job: string | null, body: string, {env, warn}: World): Promise<void> {
  const auth = env.BULK_ENRICH_METRICS_AUTH;
  const contentType = 'text/plain; version=0.0.4; charset=utf-8';
  const result = await notify(pushAddress(to, job), {body, contentType, ...(auth ? {auth} : {})});
  if (result !== 'ok') warn(`The metrics could not be pushed (${result}).`);
}
