import {existsSync} from 'node:fs';
import {dirname} from 'node:path';
import {checkWritable} from '../../disk/directory.ts';
import {isStream, realPath, textOf} from '../../disk/path.ts';
import {writeAtomically} from '../../disk/replace.ts';
import {OutputError, systemCode, systemReason, UsageError} from '../../errors.ts';
import type {Job} from '../../job/job.ts';
import {buildReport} from '../../report/build.ts';
import {renderHtml} from '../../report/render/html.ts';
import {renderMarkdown} from '../../report/render/markdown.ts';
import {renderMetrics} from '../../report/render/metrics.ts';
import type {Summary} from '../../report/summary.ts';
import type {RunIo} from '../io.ts';
import {rememberRun} from './history.ts';

/**
 * Checks, before anything is paid for, that what goes beside the output has a directory to go to.
 *
 * @throws {UsageError} where there is none; {@link OutputError} where one that the output waits for can't be written.
 */
export function checkReportPlaces({settings}: Job): void {
  const {summary, rejects, report, metrics} = settings;
  for (const [flag, path] of Object.entries({summary, rejects, report, metrics})) {
    if (path !== undefined && !existsSync(dirname(path)))
      throw new UsageError('no_directory', `--${flag}: the directory of ${path} does not exist.`);
  }
  // The output is not put in place without these two.
  for (const [flag, path] of Object.entries({summary, rejects}))
    if (path !== undefined && !isStream(path)) checkPlace(flag, path);
}

function checkPlace(flag: string, path: string): void {
  try {
    checkWritable(dirname(realPath(path)));
  } catch (error) {
    throw new OutputError(
      'output_unwritable',
      `--${flag}: ${path} can't be written (${systemReason(error)}). Nothing was sent. Name another.`,
      {cause: error},
    );
  }
}

/**
 * What follows once all that there is of rows is safe, so that trouble is a warning: the run is kept in the history, and
 * the report and the metrics that the job asks for are written.
 */
export function deliver(job: Job, summary: Summary, {env, warn}: Pick<RunIo, 'env' | 'warn'>): void {
  rememberRun(job, summary, {env, warn});
  const {report, metrics} = job.settings;
  const attempt = (path: string | undefined, text: (path: string) => string) => {
    if (path === undefined) return;
    try {
      writeAtomically(path, text(path));
    } catch (error) {
      warn(error instanceof Error ? error.message : systemCode(error));
    }
  };
  attempt(report, path => {
    const built = buildReport(summary);
    return /\.(md|markdown)$/i.test(path) ? renderMarkdown(built) : renderHtml(built);
  });
  attempt(metrics, path => renderMetrics(summary, textOf(path) ?? ''));
}
