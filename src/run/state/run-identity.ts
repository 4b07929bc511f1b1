import {identifyFile, isSameFile} from '../../disk/path.ts';
import {StateError} from '../../errors.ts';
import type {FileState} from '../../input/bytes/raw.ts';
import type {Job} from '../../job/job.ts';
import type {AccountScope} from '../../ledger/answers/store-file.ts';
import type {LedgerState} from '../../ledger/run/ledger-recovery.ts';
import {say, set, shellWord} from '../../sentence.ts';
import {answerScope, scopeKeyOfJob} from '../identity.ts';

/** A run: all sessions whose spending counts together against `max_credits`. */
export interface RunIdentity {
  readonly runId: string;
  /** Under this name a fleet keeps the calls of all runs of this ledger. */
  readonly fleetId: string;
  /** The run's first start, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Number of the ledger's answers at that time: those of runs before. Undefined in the first programs' ledgers. */
  readonly bought?: number | undefined;
  /** The inputs at the last session's start; undefined if one can be read only once. */
  readonly list: readonly FileState[] | undefined;
  /** Real path of the output; undefined if there is no file. */
  readonly output: string | undefined;
  /** Endpoint and account of its values; undefined in the first programs' ledgers. */
  readonly at?: AccountScope | undefined;
  /** The job's file and date, for the command that finishes the run. */
  readonly jobFile?: string | undefined;
  readonly date?: string | undefined;
  readonly sessions: number;
}

/** True if the run wrote the job's output. Both may have none: their rows went into a stream. */
export function isOfOutput({output: last}: Pick<RunIdentity, 'output'>, {output}: Job): boolean {
  if (last === undefined || !output.lasts) return (last === undefined) !== output.lasts;
  return isSameFile(identifyFile(last), identifyFile(output.name));
}

/**
 * Refuses to begin where the state is that of an unfinished run which sent calls, for another output, endpoint or
 * account: no other file has the count of what it spent.
 *
 * @throws {StateError}
 */
export function refuseOthersRun(job: Job, directory: string, state: LedgerState<RunIdentity>): void {
  const {run, hasCalls, owners} = state;
  if (run === undefined || !hasCalls || job.settings.restart) return;
  const isOtherOutput = job.settings.state !== undefined && !isOfOutput(run, job);
  const isOtherOwner = !owners.includes(scopeKeyOfJob(job)) && !isOtherData(run, job);
  if (!isOtherOutput && !isOtherOwner) return;
  const of = run.output === undefined ? 'whose rows went into a stream' : `of ${run.output}`;
  const at = isOtherOwner
    ? ` at ${run.at === undefined ? 'another endpoint or account' : placeOf(run.at)}`
    : '';
  throw new StateError(
    'state_of_other',
    say`${directory} has the state of an unfinished run ${of}${at}, so nothing was sent. To finish that run: ${commandOf(run, directory, isOtherOwner)}. To give it up, add ${set('restart', true)} to this command once${isOtherOutput ? say`; to keep both, choose another directory (${set('state', 'DIR')})` : ''}.`,
  );
}

/** True if only the embedded service's data are newer than those of the run. */
export function isOtherData({at}: Pick<RunIdentity, 'at'>, {endpoint, settings}: Job): boolean {
  const now = answerScope(endpoint, settings);
  return endpoint.kind === 'embedded' && at?.endpoint === now.endpoint && at.label === now.label;
}

function placeOf({endpoint, label}: NonNullable<RunIdentity['at']>): string {
  return `${endpoint} (account "${label}")`;
}

/** The command of a run, as far as its state tells. `namesPlace`: true if it must name endpoint and account. */
function commandOf(
  {jobFile, date, list, output = '-', at}: RunIdentity,
  directory: string,
  namesPlace: boolean,
): string {
  const named =
    jobFile === undefined
      ? [...(list?.map(({path}) => path) ?? ['-']), '-o', output, '--state', directory]
      : ['--job', jobFile, ...(date === undefined ? [] : ['--date', date])];
  const place = at === undefined || !namesPlace ? [] : ['--endpoint', at.endpoint, '--account', at.label];
  return ['bulk-enrich', 'run', ...named, ...place].map(shellWord).join(' ');
}
