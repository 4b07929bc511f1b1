import {existsSync} from 'node:fs';
import {dirname} from 'node:path';
import {checkWritable} from '../../disk/directory.ts';
import {isStream, writePath} from '../../disk/path.ts';
import {writeAtomically} from '../../disk/replace.ts';
import {OutputError, systemCode, systemReason, UsageError} from '../../errors.ts';
import type {Job} from '../../job/job.ts';
import {buildReport} from '../../report/build.ts';
import {renderHtml} from '../../report/render/html.ts';
import {renderMarkdown} from '../../report/render/markdown.ts';
import {renderMetrics} from '../../report/render/metrics.ts';
import type {Summary} from '../../report/summary.ts';
import {say, set} from '../../sentence.ts';
import {refuseOthersFile} from '../destination/own-files.ts';
import {stateToken} from '../destination/partial.ts';
import type {World} from '../io.ts';
import {deliverMetrics} from './deliver-metrics.ts';

/**
 * Checks, before anything is paid for, that the files beside the output have a directory.
 *
 * @throws {UsageError} if a directory is missing; {@link OutputError} if a file that is published with the output
 * can't be written.
 */
export function checkReportPaths({settings}: Job): void {
  const {summary, rejects, report, metrics} = settings;
  for (const [flag, path] of Object.entries({summary, rejects, report, metrics})) {
    if (path !== undefined && !existsSync(dirname(path)))
      throw new UsageError(
        'no_directory',
        say`${set(flag)}: the directory of ${path} does not exist. Make it, or use another path.`,
      );
  }
  // The output is published only together with these files, so they must be writable.
  for (const [flag, path] of Object.entries({summary, rejects}))
    if (path !== undefined && !isStream(path)) demandWritable(flag, path);
}

function demandWritable(flag: string, path: string): void {
  try {
    checkWritable(dirname(writePath(path)));
  } catch (error) {
    throw new OutputError(
      'output_unwritable',
      say`${set(flag)}: ${path} can't be written (${systemReason(error)}). Nothing was sent. Name another.`,
      {cause: error},
    );
  }
}

/** Writes the report and the metrics. The rows are safe by now, so failures are warnings. */
export function deliver(job: Job, summary: Summary, io: World): void {
  const {report} = job.settings;
  if (report !== undefined) {
    try {
      refuseOthersFile('report', report);
      const built = buildReport(summary);
      writeAtomically(
        report,
        /\.(md|markdown)$/i.test(report)
          ? `<!-- bulk-enrich report -->\n${renderMarkdown(built)}`
          : renderHtml(built),
        stateToken(job),
      );
    } catch (error) {
      io.warn(error instanceof Error ? error.message : systemCode(error));
    }
  }
  const render = (before: string) => renderMetrics(summary, before);
  deliverMetrics(job.settings.metrics, render, io, stateToken(job));
}
