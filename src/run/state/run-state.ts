import {existsSync, renameSync, rmdirSync, rmSync} from 'node:fs';
import {dirname, join, resolve} from 'node:path';
import type {Counters} from '../../books/counters.ts';
import type {TimelineState} from '../../books/timeline.ts';
import {type Lock, lockFiles, takeLock} from '../../disk/lock.ts';
import {fileIdOf, isSameFile} from '../../disk/path.ts';
import {removeFile} from '../../disk/remove.ts';
import {syncPath} from '../../disk/replace.ts';
import {type TemporaryDirectory, temporaryDirectory} from '../../disk/temporary.ts';
import {BulkEnrichError, OutputError, StateError, systemReason} from '../../errors.ts';
import type {ResumePoint} from '../../input/row.ts';
import type {Job} from '../../job/job.ts';
import {thousandths} from '../../job/money.ts';
import type {LedgerOptions} from '../../ledger/ledger.ts';
import {Ledger} from '../../ledger/ledger.ts';
import {peek} from '../../ledger/ledger-file.ts';
import type {Destination} from '../destination/destination.ts';
import {destinationOf} from '../destination/destinations.ts';
import {partialApart, partialNames, type RunFiles, type WrittenPaths} from '../destination/partial.ts';
import {RECORD} from '../destination/publish.ts';
import {FRESH_BUDGET_HINT, type RunIdentity} from '../identity.ts';
import {LEDGER, ledgerFiles, stateFiles, UNREADABLE, writtenPathsOf} from './job-files.ts';

/** Everything up to here is durable. */
export interface Written extends ResumePoint {
  readonly outputBytes: number;
  readonly rejectsBytes: number;
  readonly counters: Counters;
}

/** The run goes on from it. */
export interface Checkpoint extends Written {
  readonly timeline: TimelineState;
  /** The run's own answers up to this number are in the answer store. */
  readonly stored: number;
}

/** A directory that a run holds the lock of. */
interface LockedDirectory {
  readonly path: string;
  readonly lock: Lock;
  /** Whether it goes when nothing is left in it: not one that somebody else made and named. */
  readonly own: boolean;
  /** What the run may leave in it, in the order in which it goes. */
  readonly files: readonly string[];
}

/** A run's directories while it holds them. */
export interface RunState extends RunFiles {
  readonly destination: Destination;
  readonly locked: readonly LockedDirectory[];
  /** Goes with the session, as a run that is streamed has nothing to go on from. */
  readonly temporary: TemporaryDirectory | undefined;
}

/**
 * Takes the locks: of the output, whatever is said of the state, and of the state.
 *
 * @throws {UsageError} when two of the job's files are one; {@link LockedError} when another run has a lock;
 * {@link OutputError} when a directory can't be made, written or trusted; {@link InputError} when the directory that
 * the input is said to be in does not exist.
 */
export function openState(job: Job): RunState {
  const destination = destinationOf(job);
  const written = writtenPathsOf(job, destination);
  destination.check();
  if (job.paths.state === undefined) return temporaryState(destination, written);
  const directory = job.paths.state;
  const apart = destination.own.filter(own => !isSameFile(fileIdOf(own), fileIdOf(directory)));
  const locked: LockedDirectory[] = [];
  try {
    for (const own of apart) locked.push(hold(own, true, filesBeside(own, directory)));
    locked.push(hold(directory, job.settings.state === undefined, stateFiles));
    return {destination, written, directory, locked, temporary: undefined};
  } catch (error) {
    letGo(locked, ({lock}) => lock.made !== undefined);
    if (error instanceof BulkEnrichError) throw error;
    throw new OutputError(
      'state_unwritable',
      `The state directory ${apart[locked.length] ?? directory} can't be written (${systemReason(error)}). Choose a place with -o or --state.`,
      {cause: error},
    );
  }
}

/** Nobody else knows of it, so it needs no lock. */
function temporaryState(destination: Destination, written: WrittenPaths): RunState {
  const temporary = temporaryDirectory();
  return {destination, written, directory: temporary.path, locked: [], temporary};
}

/** A run with another state may have left its own there: that is over only once it was being published. */
function filesBeside(own: string, directory: string): readonly string[] {
  const apart = partialNames.map(name => partialApart(name, directory));
  return existsSync(join(own, RECORD)) ? [...apart, ...stateFiles] : [...apart, ...lockFiles];
}

function hold(path: string, ours: boolean, files: readonly string[]): LockedDirectory {
  const lock = takeLock(path, {ours, busy});
  return {path, lock, own: ours || lock.made !== undefined, files};
}

function busy(who: string): string {
  return `Another run is writing this output: ${who}. Nothing was sent. Wait for it, or give this run an output and a state of its own.`;
}

/**
 * Opens the ledger; one that is damaged or of another version is renamed where the job says to restart. With it goes
 * the count of what was spent, so a limit has to be given up in so many words.
 */
export function openLedger(
  {directory, written, temporary}: RunState,
  job: Job,
  options: LedgerOptions,
  warn: (sentence: string) => void,
): Ledger {
  const path = ledgerPath(directory);
  const open = () => {
    const {maxCredits} = job.settings;
    const limit = maxCredits === undefined ? undefined : thousandths(maxCredits);
    const lostState = hasLostState(directory);
    return new Ledger(path, {
      ...options,
      maxCredits: limit,
      lostState,
      temporary: temporary !== undefined,
      recordsCalls: job.settings.calls !== undefined,
    });
  };
  try {
    const ledger = open();
    if (written.rejects === undefined) temporary?.remove();
    return ledger;
  } catch (error) {
    if (!(error instanceof StateError) || job.restarts === 'never') throw error;
    const [what = ''] = error.message.split('.');
    if (job.settings.maxCredits !== undefined && job.settings.restart !== 'fresh')
      throw new StateError(
        error.code,
        `${what}, so it is not known what was spent, and --max-credits could be exceeded. To start over with all of the limit: ${FRESH_BUDGET_HINT}.`,
        {cause: error},
      );
    warn(
      `${what}. It was renamed to ${path}${UNREADABLE}, and the run starts over. Answers in the store are not paid for again. The earlier spending is not counted.`,
    );
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, {force: true});
    renameSync(path, path + UNREADABLE);
    return open();
  }
}

/** What `read` makes of the ledger as the last session left it; undefined where there is none. Throws where it can't be read. */
export function fromLedger<T>({directory}: RunState, read: (ledger: Ledger) => T): T | undefined {
  const ledger = leftLedger(directory);
  try {
    return ledger && read(ledger);
  } finally {
    ledger?.abandon();
  }
}

/** The same of work that takes its time. */
export async function withLedger(
  {directory}: RunState,
  work: (ledger: Ledger) => Promise<void>,
): Promise<void> {
  const ledger = leftLedger(directory);
  try {
    if (ledger !== undefined) await work(ledger);
  } finally {
    ledger?.abandon();
  }
}

function leftLedger(directory: string): Ledger | undefined {
  const path = ledgerPath(directory);
  return existsSync(path) ? new Ledger(path, {lostState: hasLostState(directory)}) : undefined;
}

/** Whether a ledger was renamed, and the run that came after it is not complete. */
function hasLostState(directory: string): boolean {
  return existsSync(ledgerPath(directory) + UNREADABLE);
}

/** Whether calls of another run than this are in the ledger, or may be: one that never came to its end. */
export function hasOtherRun(directory: string, runId: string): boolean {
  const path = ledgerPath(directory);
  if (!existsSync(path)) return false;
  try {
    const {run, hasCalls} = peek<RunIdentity>(path);
    return hasCalls && run?.runId !== runId;
  } catch {
    return true;
  }
}

/** Whether the ledger has calls, or may have. */
export function hasCalls(state: RunState): boolean {
  return hasOtherRun(state.directory, '');
}

function ledgerPath(directory: string): string {
  return join(directory, LEDGER);
}

/** Forgets a run that is complete. */
export function forgetLedger(directory: string): void {
  for (const name of ledgerFiles) rmSync(join(directory, name), {force: true});
}

/**
 * Lets go of the state. `all`: nothing is left to go on with, so what a run keeps there goes, and so do the directories
 * that were made for it; what else somebody keeps there stays. `made`: only what this session made goes.
 */
export function closeState(state: RunState, remove: 'all' | 'made' | 'nothing'): void {
  state.temporary?.remove();
  letGo(state.locked, ({lock}) => remove === 'all' || (remove === 'made' && lock.made !== undefined));
}

function letGo(locked: readonly LockedDirectory[], isOver: (directory: LockedDirectory) => boolean): void {
  const over = locked.filter(isOver);
  // Windows removes no lock that is held; there, nobody can remove another's either.
  if (process.platform === 'win32') for (const {lock} of locked) lock.release();
  for (const {path, files} of over.toReversed()) for (const name of files) removeFile(join(path, name));
  for (const {path, lock, own} of over) {
    if (own) removeEmpty(resolve(path), resolve(lock.made ?? path));
    // Back after a power cut, what was removed would be taken for the next run's.
    else syncPath(path);
  }
  if (process.platform !== 'win32') for (const {lock} of locked) lock.release();
}

/** Removes `directory` if it is empty, and those above it up to `top`. */
function removeEmpty(directory: string, top: string): void {
  try {
    rmdirSync(directory);
    if (directory !== top) removeEmpty(dirname(directory), top);
  } catch {
    // Somebody keeps something there.
  }
}
