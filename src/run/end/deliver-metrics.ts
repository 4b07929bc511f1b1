import {textOf} from '../../disk/path.ts';
import {writeAtomically} from '../../disk/replace.ts';
import {BulkEnrichError, type ExitCode, exitCodes, systemCode} from '../../errors.ts';
import {dated, isAddress, utcDate} from '../../job/paths.ts';
import {renderEnd} from '../../report/render/metrics.ts';
import {mayWrite, refuseOthersFile} from '../destination/own-files.ts';
import type {World} from '../io.ts';

/**
 * Writes metrics for a run that could not begin, and so has no summary. The file may be another program's, so it is
 * replaced only if it contains metrics. `job` is null for a job without a name, undefined if unknown.
 */
export function deliverEnd(
  to: string | undefined,
  job: string | null | undefined,
  exitCode: ExitCode,
  io: World,
): void {
  const finished = new Date(io.now()).toISOString();
  const end = {job, finished_at: finished, exit_code: exitCode};
  if (to === undefined || to === '' || to === '-' || !mayWrite('metrics', to)) return;
  deliverMetrics(to, before => renderEnd(end, before), io);
}

/**
 * Calls {@link deliverEnd} for a job that could not be parsed, so `metrics` and `name` may be of any type.
 * `isPart`: true if the job file was not read to its end. A missing name then counts as unknown: it may be in
 * the unread part.
 */
export function deliverUnresolved(
  {metrics, name, date}: Readonly<Partial<Record<'metrics' | 'name' | 'date', unknown>>>,
  isPart: boolean,
  error: unknown,
  io: World,
): void {
  if (typeof metrics !== 'string' || isAddress(metrics)) return;
  const day = typeof date === 'string' ? date : utcDate(Date.now());
  const exitCode = error instanceof BulkEnrichError ? error.exitCode : exitCodes.internal;
  const job = typeof name === 'string' ? name : isPart ? undefined : null;
  deliverEnd(dated(metrics, day), job, exitCode, io);
}

/** Writes metrics if their job asks for them. `render` gets the file's previous text. Failures are warnings. */
export function deliverMetrics(
  to: string | undefined,
  render: (before: string) => string,
  io: World,
  token?: string,
): void {
  if (to === undefined) return;
  try {
    refuseOthersFile('metrics', to);
    writeAtomically(to, render(textOf(to) ?? ''), token);
  } catch (error) {
    io.warn(error instanceof Error ? error.message : systemCode(error));
  }
}
