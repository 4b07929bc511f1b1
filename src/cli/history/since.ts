import {repairOf} from '../../disk/sqlite.ts';
import {OutputError, systemReason, UsageError} from '../../errors.ts';
import {millisecondsOf} from '../../job/values.ts';
import {type RunRecord, runRecordSchema} from '../../report/run-record.ts';
import {hasHistory, withHistory} from '../../run/end/history.ts';

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

/**
 * Records of the sessions that ended at `since` (ms since the epoch) or later. Skips lines of the history that are
 * damaged, or that a later version of this program wrote in another form.
 */
export function recordsSince(since: number): RunRecord[] {
  return fromHistory(history => history.lines(since), []).flatMap(line => {
    const record = runRecordSchema.safeParse(jsonIn(line));
    return record.success ? [record.data] : [];
  });
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const REMOVE =
  "Move the file runs.db out of the user's state directory. The next run then begins a new history, without the earlier runs";

/**
 * Does `work` with the history of runs. Returns `otherwise` if there is no history.
 *
 * @throws {OutputError} if the history can't be read.
 */
export function fromHistory<T>(work: Parameters<typeof withHistory<T>>[1], otherwise: T): T {
  if (!hasHistory(process.env)) return otherwise;
  try {
    return withHistory(process.env, work);
  } catch (error) {
    throw new OutputError(
      'history_unusable',
      `The history of runs can't be read (${systemReason(error)}). ${repairOf(error, REMOVE)}.`,
      {cause: error},
    );
  }
}
