import {UsageError} from '../errors.ts';
import {givenRows, objectRecord} from '../input/objects.ts';
import {describeSettings} from '../job/settings.ts';
import {operationNames, operations} from '../operations/table.ts';
import {run} from '../run/run.ts';
import type {Session} from '../run/session.ts';
import {Stopper} from '../run/stop.ts';
import {AbortError, stopOnAbort} from './on-abort.ts';
import {inSettings, prepareRun, type RunJobOptions} from './run-job.ts';
import {SharedRun} from './shared-run.ts';
import {ofSettings} from './spoken.ts';

interface Opening {
  /** The stopper with which the caller ends the run. */
  readonly stopper?: Stopper;
  /** The first rows. If settings name no columns, the run searches for columns in these rows. */
  readonly first?: readonly unknown[];
  /** True if even a long outage does not end the run. */
  readonly outlastsOutages?: boolean;
}

/**
 * Opens a run that lasts until it is closed or stopped.
 *
 * @throws {BulkEnrichError} if the run can't start.
 */
export async function openShared(
  settings: object,
  options: RunJobOptions,
  {stopper = new Stopper(), first = [], outlastsOutages = false}: Opening,
): Promise<SharedRun> {
  const release = stopOnAbort(stopper, options.signal);
  try {
    if (stopper.reason?.error instanceof AbortError) throw stopper.reason.error;
    refuseOthers(settings);
    const sample = first.map((row, index) => objectRecord(row, index + 1, Number.POSITIVE_INFINITY));
    const {job, io} = prepareRun({...settings, input: '-', output: '-'}, options, givenRows(sample));
    return await new Promise<SharedRun>((resolve, reject) => {
      const work = (session: Session) => {
        const shared = new SharedRun(session, () => outcome);
        resolve(shared);
        return shared.untilClosed();
      };
      const outcome = run(job, {...io, outlastsOutages}, stopper, undefined, work)
        .then(inSettings)
        .finally(release);
      outcome.catch(reject);
    });
  } catch (error) {
    release();
    throw ofSettings(error);
  }
}

/** True if settings name a column to look up. If not, the run searches for columns in the rows. */
export function namesColumns(settings: object): boolean {
  const given = new Map<string, unknown>(Object.entries(settings));
  return operationNames.some(name => given.get(operations[name].setting) !== undefined);
}

/** @throws {UsageError} for a setting that does not apply to rows from a program, such as `input`. */
function refuseOthers(settings: object): void {
  const given = new Set(Object.keys(settings));
  const others = describeSettings().filter(({uses}) => !uses.includes('library'));
  const other = ['input', 'output', ...others.map(({name}) => name)].find(name => given.has(name));
  if (other !== undefined)
    throw new UsageError('settings', `${other}: this setting does not apply to rows that a program gives.`);
}
