import {OutputError, systemReason, UsageError} from '../../errors.ts';
import {millisecondsOf} from '../../job/values.ts';
import {type RunRecord, recordOf} from '../../report/run-record.ts';
import type {Summary} from '../../report/summary.ts';
import {earlierRuns, historyDirectory} from '../../run/end/history.ts';
import {createConsole} from '../console.ts';

export interface ListingFlags {
  readonly since: string;
  readonly json?: boolean;
  readonly csv?: boolean;
}

/** Milliseconds since the epoch at which the period of `--since 30d` begins. */
export function sinceOf({since, json, csv}: ListingFlags): number {
  if (json === true && csv === true) throw new UsageError('settings', '--json and --csv: choose one.');
  const ms = millisecondsOf(since.trim());
  if (ms === undefined) throw new UsageError('settings', '--since: expected a duration such as 30d or 12h.');
  return Date.now() - ms;
}

/** Records of the runs that ended at `since` (milliseconds since the epoch) or later, in the order of their ends. */
export function recordsSince(since: number): RunRecord[] {
  return keptRuns()
    .map(recordOf)
    .filter(({ended_at: ended}) => Date.parse(ended) >= since);
}

/**
 * The summaries of all runs in the history.
 *
 * @throws {OutputError} if the history can't be read.
 */
export function keptRuns(): Summary[] {
  try {
    return earlierRuns({env: process.env, warn: createConsole({quiet: false}).warn});
  } catch (error) {
    throw new OutputError(
      'history_unusable',
      `The history of runs, ${historyDirectory(process.env)}, can't be read (${systemReason(error)}).`,
      {cause: error},
    );
  }
}
