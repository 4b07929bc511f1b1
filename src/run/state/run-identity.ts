import {randomUUID} from 'node:crypto';
import {identifyFile, isSameFile} from '../../disk/path.ts';
import {StateError} from '../../errors.ts';
import {type FileState, fileState, isReadOnce} from '../../input/bytes/raw.ts';
import type {Job} from '../../job/job.ts';
import type {AccountScope} from '../../ledger/answers/store-file.ts';
import type {Ledger} from '../../ledger/run/ledger.ts';
import type {LedgerState} from '../../ledger/run/ledger-recovery.ts';
import type {AttemptCounts, SpendingByOperation} from '../../ledger/run/tally.ts';
import {say, setting, shellWord} from '../../sentence.ts';
import type {World} from '../io.ts';
import {answerScope, scopeKeyOfJob} from '../scope.ts';

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

export type RunSpending = readonly [runId: string, spending: SpendingByOperation, attempts: AttemptCounts];

/** The ledger's run with its spending; empty without one, or if it is the run `except`. */
export function listLedgerRuns(ledger: Ledger, except?: string): RunSpending[] {
  const runId = readRunIdentity(ledger)?.runId;
  return runId === undefined || runId === except ? [] : [[runId, ledger.spending, ledger.tally.attempts]];
}

export function readRunIdentity(ledger: Ledger): RunIdentity | undefined {
  return ledger.getMeta<RunIdentity>('run');
}

/**
 * Begins a session of the run in the ledger: at the first row, as always, but what the ledger knows is free. Begins a
 * new run, which counts its credits anew, if there is none, if the user demands it (`--restart`), if a job has another
 * list than at its last session (that is another night), or if the state is that of another output, endpoint or account,
 * which is refused before unless that run may be given up. `complete` gets the ledger's earlier run.
 */
export function beginOrResumeRun(
  ledger: Ledger,
  job: Job,
  now: number,
  warn: World['warn'],
  complete: (others: readonly RunSpending[]) => void,
): RunIdentity {
  const last = readRunIdentity(ledger);
  const list = listOf(job.inputs);
  const other = last && differenceFrom(last, list, job, ledger);
  const continues = last !== undefined && other === undefined && !job.settings.restart;
  // Before a new count begins: afterwards no file has the spending of a killed session.
  if (!continues) complete(listLedgerRuns(ledger));
  if (other !== undefined && ledger.isResumed)
    warn(`The unfinished run had another ${other}, so this run counts its credits anew.`);
  const {jobFile, date, output, endpoint, settings} = job;
  const about = {
    ...{jobFile, date, list, at: answerScope(endpoint, settings)},
    output: output.lasts ? identifyFile(output.name).path : undefined,
  };
  const isOwn = ledger.owner === scopeKeyOfJob(job);
  const run = continues
    ? {...last, ...about, sessions: last.sessions + 1}
    : {
        ...about,
        runId: randomUUID(),
        fleetId: (isOwn && last?.fleetId) || randomUUID(),
        startedAt: now,
        bought: ledger.bought,
        sessions: 1,
      };
  if (continues) ledger.setMeta('run', run);
  else ledger.beginCount(run);
  return run;
}

/** Milliseconds from its first start for which a run that ended without an answer is the same night. */
const NIGHT_MS = 20 * 3_600_000;

/** True if a start continues the counts of a run that ended without an answer: of the same list, within {@link NIGHT_MS}. */
export function isSameNight(
  {run, owners: [owner = '']}: LedgerState<RunIdentity>,
  job: Job,
  now: number,
): boolean {
  if (run === undefined || job.settings.restart || Math.abs(now - run.startedAt) > NIGHT_MS) return false;
  const list = listOf(job.inputs);
  const isKnown = run.list !== undefined && list !== undefined && isSame(run.list, list);
  return isKnown && differenceFrom(run, list, job, {owner}) === undefined;
}

/** Reason why this is another run than the ledger's; undefined if it continues that one. */
function differenceFrom(
  last: RunIdentity,
  list: RunIdentity['list'],
  job: Job,
  {owner}: Pick<Ledger, 'owner'>,
): string | undefined {
  if (owner !== scopeKeyOfJob(job))
    return isOtherData(last, job) ? 'version of the embedded data' : 'endpoint or account';
  if (job.settings.state !== undefined && !isOfOutput(last, job)) return 'output';
  const isOther = job.fromFile && last.list !== undefined && list !== undefined && !isSame(last.list, list);
  return isOther ? 'list' : undefined;
}

/** State of each input as a job compares it; undefined if one can be read only once. */
function listOf(inputs: readonly string[]): FileState[] | undefined {
  if (inputs.some(isReadOnce)) return undefined;
  return inputs.flatMap(path => fileState(path) ?? []);
}

function isSame(last: readonly FileState[], now: readonly FileState[]): boolean {
  const compared = (list: readonly FileState[]) =>
    JSON.stringify(list.map(({path, size, changedAt}) => [path, size, changedAt]));
  return compared(last) === compared(now);
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
    say`${directory} has the state of an unfinished run ${of}${at}, so nothing was sent. To finish that run: ${commandOf(run, directory, isOtherOwner)}. To give it up, add ${setting('restart', true)} to this command once${isOtherOutput ? say`; to keep both, choose another directory (${setting('state', 'DIR')})` : ''}.`,
  );
}

/** True if only the embedded service's data are newer than those of the run. */
function isOtherData({at}: Pick<RunIdentity, 'at'>, {endpoint, settings}: Job): boolean {
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
