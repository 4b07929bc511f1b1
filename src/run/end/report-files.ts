import {existsSync} from 'node:fs';
import {dirname} from 'node:path';
import {pingHealthCheck} from '../../client/reachability.ts';
import {checkWritable} from '../../disk/directory.ts';
import {isStreamPath, readIfFile, resolveWritePath} from '../../disk/path.ts';
import {writeAtomically} from '../../disk/replace.ts';
import {
  BulkEnrichError,
  type ExitCode,
  exitCodes,
  isSuccess,
  OutputError,
  systemReason,
  UsageError,
} from '../../errors.ts';
import type {Job} from '../../job/job.ts';
import {fillDate, isUrl, utcDate} from '../../job/paths.ts';
import {buildReport} from '../../report/build-report.ts';
import {summaryJson} from '../../report/format.ts';
import {renderHtml} from '../../report/render/html.ts';
import {renderMarkdown} from '../../report/render/markdown.ts';
import {renderMetrics, renderUnstartedMetrics} from '../../report/render/metrics.ts';
import type {Summary} from '../../report/summary.ts';
import {type Said, say, setting} from '../../sentence.ts';
import {mayWrite, type RunFileKind, refuseOthersFile, stateToken} from '../destination.ts';
import type {World} from '../io.ts';
import {makeErrorStop} from '../stop.ts';

/**
 * Checks, before anything is paid for, that the files beside the output have a directory. Warns if those of report and
 * metrics are gone.
 *
 * @throws {UsageError} if the directory of summary or rejects is missing; {@link OutputError} if a file that is published
 * with the output can't be written.
 */
export function checkReportPaths({settings}: Job, {warn}: Pick<World, 'warn'>): void {
  const {summary, rejects, report, metrics} = settings;
  for (const [name, path] of Object.entries({summary, rejects, report, metrics})) {
    if (path === undefined) continue;
    // The output is published only together with these files, so they must be writable.
    const isNeeded = name === 'summary' || name === 'rejects';
    if (!existsSync(dirname(path))) {
      const gone = say`${setting(name)}: the directory of ${path} does not exist. Make it, or use another path.`;
      if (isNeeded) throw new UsageError('no_directory', gone);
      warn(gone);
    } else if (isNeeded && !isStreamPath(path)) demandWritable(name, path);
  }
}

function demandWritable(name: RunFileKind, path: string): void {
  try {
    checkWritable(dirname(resolveWritePath(path)));
  } catch (error) {
    throw new OutputError(
      'output_unwritable',
      say`${setting(name)}: ${path} can't be written (${systemReason(error)}). Nothing was sent. Name another.`,
      {cause: error},
    );
  }
}

/** Writes a file beside the output. The rows are safe by then, so a failure is a warning. */
function writeFileBesideOutput(
  kind: RunFileKind,
  path: string,
  textFor: (path: string) => string,
  {warn}: Pick<World, 'warn'>,
  token?: string,
): void {
  try {
    refuseOthersFile(kind, path);
    writeAtomically(path, textFor(path), token);
  } catch (error) {
    warn(makeErrorStop(error).message);
  }
}

export function writeSummary(job: Job, io: World, summary: Summary): void {
  const path = job.paths.summary;
  // If the directory is missing, the run has already stopped for that reason. No summary is written then.
  if (path === undefined || !existsSync(dirname(path))) return;
  writeFileBesideOutput('summary', path, () => summaryJson(summary), io, stateToken(job));
}

export function writeReports(job: Job, summary: Summary, io: World): void {
  const {report, metrics} = job.settings;
  const reportFor = (path: string) => {
    const built = buildReport(summary);
    const isMarkdown = /\.(md|markdown)$/i.test(path);
    return isMarkdown ? `<!-- bulk-enrich report -->\n${renderMarkdown(built)}` : renderHtml(built);
  };
  const metricsFor = (path: string) => renderMetrics(summary, readIfFile(path));
  if (report !== undefined) writeFileBesideOutput('report', report, reportFor, io, stateToken(job));
  if (metrics !== undefined) writeFileBesideOutput('metrics', metrics, metricsFor, io, stateToken(job));
}

/**
 * Writes metrics for a run that could not begin, and so has no summary. The file may be another program's, so it is
 * replaced only if it contains metrics. `job` is null for a job without a name, undefined if unknown.
 */
export function writeUnstartedMetrics(
  to: string | undefined,
  job: string | null | undefined,
  exitCode: ExitCode,
  io: World,
): void {
  if (to === undefined || to === '' || to === '-' || !mayWrite('metrics', to)) return;
  const end = {job, finished_at: new Date(io.now()).toISOString(), exit_code: exitCode};
  writeFileBesideOutput('metrics', to, path => renderUnstartedMetrics(end, readIfFile(path)), io);
}

/**
 * The same for a job that could not be parsed, so `metrics` and `name` may be of any type. `isPart`: true if the job file
 * was not read to its end. A missing name is then unknown.
 */
export function writeUnparsedJobMetrics(
  {metrics, name, date}: Readonly<Partial<Record<'metrics' | 'name' | 'date', unknown>>>,
  isPart: boolean,
  error: unknown,
  io: World,
): void {
  if (typeof metrics !== 'string' || isUrl(metrics)) return;
  const day = typeof date === 'string' ? date : utcDate(Date.now());
  const exitCode = error instanceof BulkEnrichError ? error.exitCode : exitCodes.internal;
  const job = typeof name === 'string' ? name : isPart ? undefined : null;
  writeUnstartedMetrics(fillDate(metrics, day), job, exitCode, io);
}

/** Called once the run holds its output's lock, so that no other run writes the output. Sends the start ping. */
export type SendStartPing = () => void;

/**
 * Does the work between two pings of the job's health check: one at the start, one with the exit code. A failed ping is
 * a warning, and delays the end by a few seconds at most. A run without its output's lock never pings.
 */
export async function withHealthCheck<Outcome extends {readonly exitCode: number}>(
  {settings: {pingUrl}}: Job,
  warn: (sentence: Said) => void,
  work: (begun: SendStartPing) => Promise<Outcome>,
): Promise<Outcome> {
  if (pingUrl === undefined) return work(() => {});
  let started: Promise<string> | undefined;
  const begun = () => {
    started ??= ping(pingUrl, 'start');
  };
  const ended = async (exitCode: number) => {
    if (exitCode === exitCodes.locked) return;
    const results = [await started, await ping(pingUrl, isSuccess(exitCode) ? '' : String(exitCode))];
    const failed = results.find(result => result !== undefined && result !== 'ok');
    if (failed !== undefined)
      warn(say`The health check (${setting('pingUrl')}) could not be pinged (${failed}).`);
  };
  try {
    const outcome = await work(begun);
    await ended(outcome.exitCode);
    return outcome;
  } catch (error) {
    await ended(error instanceof BulkEnrichError ? error.exitCode : exitCodes.internal);
    throw error;
  }
}

/** @param signal added to the URL's path: `start`, an exit code, or nothing for success. */
function ping(url: string, signal: string): Promise<string> {
  const target = new URL(url);
  if (signal !== '') target.pathname = `${target.pathname.replace(/\/+$/, '')}/${signal}`;
  return pingHealthCheck(target);
}
