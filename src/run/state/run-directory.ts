import {existsSync, renameSync, rmdirSync, rmSync, writeFileSync} from 'node:fs';
import {basename, dirname, join, resolve} from 'node:path';
import {makePrivateDirectory, removeFile} from '../../disk/directory.ts';
import {type Lock, takeLock} from '../../disk/lock.ts';
import {identifyFile, isSameFile} from '../../disk/path.ts';
import {syncDirectory} from '../../disk/replace.ts';
import {type TemporaryDirectory, temporaryDirectory} from '../../disk/temporary.ts';
import {BulkEnrichError, OutputError, StateError, systemReason} from '../../errors.ts';
import type {Job} from '../../job/job.ts';
import {toThousandths} from '../../job/settings/cost.ts';
import type {AccountBudget} from '../../ledger/account/account-budget.ts';
import {Ledger} from '../../ledger/run/ledger.ts';
import {type LedgerState, peekLedger} from '../../ledger/run/ledger-recovery.ts';
import type {Summary} from '../../report/summary.ts';
import {type Said, say, setting} from '../../sentence.ts';
import {Destination, type RunPaths} from '../destination.ts';
import type {World} from '../io.ts';
import {scopeKeyOfJob} from '../scope.ts';
import {
  DAMAGED_SUFFIX,
  ENDED_FILE,
  filesBeside,
  LEDGER_FILE,
  ledgerFiles,
  resolveRealPaths,
  stateFiles,
} from './job-files.ts';
import {isOfOutput, isSameNight, type RunIdentity, refuseOthersRun} from './run-identity.ts';

interface LockedDirectory {
  readonly path: string;
  readonly lock: Lock;
  /** True if the run removes the directory once it is empty. False if the user made the directory. */
  readonly isOurs: boolean;
  /** Files that the run may leave in the directory, in the order of their removal. */
  readonly files: readonly string[];
}

/** A run's directories while it holds their locks. */
export interface RunDirectory extends RunPaths {
  readonly destination: Destination;
  readonly locked: readonly LockedDirectory[];
  /** Directory removed when the session ends. Only runs that can't resume have one, such as a run to a stream. */
  readonly temporary: TemporaryDirectory | undefined;
  /** True if no file had the output's name when the run started, and none may be replaced. */
  isNew?: boolean;
  /** The files in place of this job's run without success, which this run replaces: its summary has them until then. */
  replaced?: Pick<Summary, 'output' | 'rejects'>;
}

/**
 * Takes the locks of the output and of the state, in this order.
 *
 * @throws {UsageError} if two of the job's files are the same; {@link StateError} if the state is another run's; {@link LockedError} if another run has a
 * lock; {@link OutputError} if a directory can't be created, written or trusted; {@link InputError} for a
 * missing input directory.
 */
export function openRunDirectory(job: Job, {env, now}: World): RunDirectory {
  const destination = new Destination(job);
  const written = resolveRealPaths(job, destination, env);
  destination.check();
  if (job.paths.state === undefined) {
    const temporary = temporaryDirectory();
    // A temporary directory needs no lock, since no other process knows of it.
    const {path} = temporary;
    return {destination, written, directory: path, partials: path, locked: [], temporary};
  }
  const directory = job.paths.state;
  const {runDirectory: beside = directory} = destination;
  const isApart = !isSameFile(identifyFile(beside), identifyFile(directory));
  const locked: LockedDirectory[] = [];
  try {
    // Another run of this output may have its state beside it, from which it can resume.
    const isLockable = !isApart || holdBeside(beside, locked);
    // The program also chose the name of a day's directory in `state`.
    const isOurs = job.settings.state === undefined || basename(directory) === job.date;
    locked.push(hold(directory, isOurs, stateFiles));
    takeOverDay(job, directory);
    const found = peekState({directory});
    if (!isEnded({directory})) refuseOthersRun(job, directory, found);
    else if (!isSameNight(found, job, now())) forgetLedger(directory);
    const partials = isLockable ? beside : directory;
    return {destination, written, directory, partials, locked, temporary: undefined};
  } catch (error) {
    letGo(locked, ({lock}) => lock.made !== undefined);
    if (error instanceof BulkEnrichError) throw error;
    throw new OutputError(
      'state_unwritable',
      say`The state directory ${isApart && locked.length === 0 ? beside : directory} can't be written (${systemReason(error)}). Choose a place with ${setting('output')} or ${setting('state')}.`,
      {cause: error},
    );
  }
}

/**
 * Takes over the state of this day's run from the directory above: the first programs kept all days of a job in the
 * directory that `state` names.
 */
function takeOverDay(job: Job, directory: string): void {
  const above = dirname(directory);
  if (basename(directory) !== job.date || existsSync(ledgerPath(directory))) return;
  const {run} = peekState({directory: above});
  if (run === undefined || !isOfOutput(run, job)) return;
  for (const name of ledgerFiles.filter(file => existsSync(join(above, file))))
    renameSync(join(above, name), join(directory, name));
}

/**
 * Takes the lock beside the output. Returns false if nothing can be locked there: then the state's lock has to do, all
 * files are with it, and the directory only shows that the run is not finished.
 */
function holdBeside(path: string, locked: LockedDirectory[]): boolean {
  const files = filesBeside;
  try {
    locked.push(hold(path, true, files));
    return true;
  } catch (error) {
    if (!(error instanceof OutputError && error.code === 'no_locks')) throw error;
    locked.push({path, lock: {made: makePrivateDirectory(path, true), release() {}}, isOurs: true, files});
    return false;
  }
}

function hold(path: string, ours: boolean, files: readonly string[]): LockedDirectory {
  const lock = takeLock(path, {ours, busy});
  return {path, lock, isOurs: ours || lock.made !== undefined, files};
}

function busy(who: string): Said {
  return say`Another run is writing this output: ${who}. Nothing was sent. Wait for it, or choose another output (${setting('output')}). If you use ${setting('state')}, choose another directory there, too.`;
}

/**
 * Opens the ledger. If it is damaged or of another version, a job renames it and begins a new one. That loses the
 * count of what was spent, so a command, and a job with a limit, do so only with `--restart`.
 */
export function openLedger(
  {directory, written, temporary}: RunDirectory,
  job: Job,
  account: AccountBudget | undefined,
  warn: (sentence: Said) => void,
): Ledger {
  const path = ledgerPath(directory);
  const {maxCredits, restart} = job.settings;
  const open = () =>
    new Ledger(path, {
      account,
      scope: scopeKeyOfJob(job),
      maxCredits: maxCredits === undefined ? undefined : toThousandths(maxCredits),
      lostState: hasLostState(directory),
      temporary: temporary !== undefined,
    });
  try {
    const ledger = open();
    if (written.rejects === undefined) temporary?.remove();
    return ledger;
  } catch (error) {
    if (!(error instanceof StateError) || !(restart || job.fromFile)) throw error;
    const [what = ''] = error.message.split('.');
    if (maxCredits !== undefined && !restart)
      throw new StateError(
        error.code,
        say`${what}, so it is not known what was spent, and ${setting('maxCredits')} could be exceeded. To begin with all of the limit, add ${setting('restart', true)} to the command once.`,
        {cause: error},
      );
    warn(
      `${what}. It was renamed to ${path}${DAMAGED_SUFFIX}, and the run begins anew. Answers in the store are not paid for again. The earlier spending is not counted.`,
    );
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, {force: true});
    renameSync(path, path + DAMAGED_SUFFIX);
    return open();
  }
}

/**
 * Returns the result of `work` with the ledger as the last session left it; undefined if there is none of the job's
 * endpoint and account.
 *
 * @throws an error if the ledger can't be read.
 */
export async function withLedger<T>(
  {directory}: RunDirectory,
  job: Job,
  work: (ledger: Ledger) => T | Promise<T>,
): Promise<T | undefined> {
  const path = ledgerPath(directory);
  const scope = scopeKeyOfJob(job);
  if (!existsSync(path) || !peekLedger(path).owners.includes(scope)) return undefined;
  const ledger = new Ledger(path, {scope, lostState: hasLostState(directory)});
  try {
    return await work(ledger);
  } finally {
    ledger.abandon();
  }
}

/** True if an unreadable ledger was renamed, and no run has completed since. */
function hasLostState(directory: string): boolean {
  return existsSync(ledgerPath(directory) + DAMAGED_SUFFIX);
}

/** The ledger's run, and if it has calls. One that can't be read may have some. */
export function peekState({directory}: Pick<RunPaths, 'directory'>): LedgerState<RunIdentity> {
  const path = ledgerPath(directory);
  try {
    return existsSync(path) ? peekLedger<RunIdentity>(path) : {hasCalls: false, owners: []};
  } catch {
    return {hasCalls: true, owners: []};
  }
}

function ledgerPath(directory: string): string {
  return join(directory, LEDGER_FILE);
}

/** True if the last session put its output in place, without an answer, and kept the state for the rest of the night. */
export function isEnded({directory}: Pick<RunPaths, 'directory'>): boolean {
  return existsSync(join(directory, ENDED_FILE));
}

/** Notes that the run's output is in place without an answer; `ended` is false once a session continues it. */
export function noteEnded({locked}: RunDirectory, ended: boolean): void {
  for (const {path} of locked) {
    if (ended) writeFileSync(join(path, ENDED_FILE), '', {mode: 0o600});
    else rmSync(join(path, ENDED_FILE), {force: true});
  }
}

export function forgetLedger(directory: string): void {
  for (const name of ledgerFiles) rmSync(join(directory, name), {force: true});
}

/**
 * Releases the state. `all`: removes the state's files and the run's own directories, since nothing is left
 * to resume. Files of others stay. `made`: removes only directories that this session made.
 *
 * If the removal fails, warns the user. The next run with this output removes the rest.
 */
export function closeRunDirectory(
  state: RunDirectory,
  remove: 'all' | 'made' | 'nothing',
  warn: (sentence: Said) => void,
): void {
  try {
    state.temporary?.remove();
    letGo(state.locked, ({lock}) => remove === 'all' || (remove === 'made' && lock.made !== undefined));
  } catch (error) {
    warn(
      `The state in ${state.directory} can't be removed (${systemReason(error)}). Fix the cause: the next run with this output removes it.`,
    );
  }
}

function letGo(locked: readonly LockedDirectory[], isOver: (directory: LockedDirectory) => boolean): void {
  const over = locked.filter(isOver);
  // Windows can't remove the file of a held lock: there, locks are released first. Elsewhere they are held
  // to the end.
  if (process.platform === 'win32') for (const {lock} of locked) lock.release();
  try {
    for (const {path, files} of over.toReversed()) for (const name of files) removeFile(join(path, name));
    for (const {path, lock, isOurs} of over) {
      if (isOurs) removeEmpty(resolve(path), resolve(lock.made ?? path));
      // Without this sync, a power cut may bring removed files back. They would pass for the next run's.
      else syncDirectory(path);
    }
  } finally {
    if (process.platform !== 'win32') for (const {lock} of locked) lock.release();
  }
}

function removeEmpty(directory: string, top: string): void {
  try {
    rmdirSync(directory);
    if (directory !== top) removeEmpty(dirname(directory), top);
  } catch {
    // The directory is not empty, so it stays: the files in it are not of this run.
  }
}
