import {existsSync, renameSync, rmdirSync, rmSync, statSync} from 'node:fs';
import {dirname, join, resolve} from 'node:path';
import {missingFile} from '../input/raw.ts';
import type {ResumePoint} from '../input/row.ts';
import {LockedError, OutputError, StateError, systemReason} from '../job/errors.ts';
import type {Job} from '../job/job.ts';
import {makeDirectory} from '../ledger/directory.ts';
import {Ledger, type LedgerOptions} from '../ledger/ledger.ts';
import {type RunLock, takeLock} from '../ledger/lock.ts';
import type {Counters} from './counters.ts';
import {FRESH_BUDGET_HINT, restartsWhenStale} from './identity.ts';
import {temporaryDirectory} from './temporary.ts';
import type {TimelineState} from './timeline.ts';

/** Everything up to here is durable; the run goes on from it. */
export interface Checkpoint extends ResumePoint {
  readonly outputBytes: number;
  readonly rejectsBytes: number;
  readonly counters: Counters;
  readonly timeline: TimelineState;
  /** Answers from before this, in milliseconds since the epoch, are in the answer store; 0 where none are. */
  readonly storedUntil: number;
}

/** The state's directory while a run holds it. */
export interface RunState {
  readonly directory: string;
  readonly lock: RunLock;
  /** Whether it goes with the session, as a run that is streamed has nothing to go on from. */
  readonly temporary: boolean;
  /** The topmost directory that was made for it; undefined where all of them were there. */
  readonly made: string | undefined;
  /** Whether the directory goes when nothing is left in it: not one that somebody else made and named. */
  readonly own: boolean;
}

/**
 * Takes the lock.
 *
 * @throws {LockedError} when another run has it; {@link OutputError} when the directory can't be made or written;
 * {@link InputError} when the directory that the input is said to be in does not exist.
 */
export function openState(job: Job): RunState {
  const {output, state} = job.paths;
  if (output !== undefined && !existsSync(dirname(output))) {
    // The output goes beside the input by default: then it is the input's name that is wrong.
    const [input] = job.inputs.filter(path => dirname(path) === dirname(output));
    if (input !== undefined) throw missingFile(input);
    throw new OutputError('no_directory', `${dirname(output)}, where the output would go, does not exist.`);
  }
  const temporary = state === undefined;
  const directory = state ?? temporaryDirectory();
  try {
    const made = temporary ? directory : makeDirectory(directory);
    const own = made !== undefined || job.settings.state === undefined;
    return {directory, lock: takeLock(directory), temporary, made, own};
  } catch (error) {
    if (error instanceof LockedError) throw error;
    throw new OutputError(
      'state_unwritable',
      `The state directory ${directory} can't be written (${systemReason(error)}). Choose a place with -o or --state.`,
      {cause: error},
    );
  }
}

const LEDGER = 'ledger.db';

/** What its name ends with once a ledger that can't be read was set aside. */
const UNREADABLE = '.damaged';

/**
 * Opens the ledger; one that is damaged or of another version is set aside where the job says to restart. With it goes
 * the count of what was spent, so a limit has to be given up in so many words.
 */
export function openLedger(
  {directory}: Pick<RunState, 'directory'>,
  job: Job,
  options: Pick<LedgerOptions, 'now' | 'daily'>,
  warn: (sentence: string) => void,
): Ledger {
  const path = ledgerPath({directory});
  const open = () => {
    const {maxCredits, resend} = job.settings;
    return new Ledger(path, {...options, maxCredits, resend, lostState: hasLostState({directory})});
  };
  try {
    return open();
  } catch (error) {
    if (!(error instanceof StateError) || !restartsWhenStale(job)) throw error;
    const [what = ''] = error.message.split('.');
    if (job.settings.maxCredits !== undefined && !job.settings.freshBudget)
      throw new StateError(
        error.code,
        `${what}, and what was spent so far can't be read from it: --max-credits could be passed. ${FRESH_BUDGET_HINT} starts over with all of the limit, whatever was spent before.`,
        {cause: error},
      );
    warn(
      `${what}. It was set aside as ${path}${UNREADABLE}, and the run starts over: only answers that the answer store has are not paid for again, and what was spent before is in no count.`,
    );
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, {force: true});
    renameSync(path, path + UNREADABLE);
    return open();
  }
}

/** Whether a ledger was set aside, and the run that came after it is not complete. */
export function hasLostState({directory}: Pick<RunState, 'directory'>): boolean {
  return existsSync(ledgerPath({directory}) + UNREADABLE);
}

export function ledgerPath({directory}: Pick<RunState, 'directory'>): string {
  return join(directory, LEDGER);
}

/** Forgets a run that is complete. */
export function forgetLedger({directory}: Pick<RunState, 'directory'>): void {
  for (const name of LEDGER_FILES) rmSync(join(directory, name), {force: true});
}

/** The files that are written until they are published. */
export type PartialName = 'output' | 'rejects';

/** Where a file is until it is published: in the state's directory, or beside its place where that is another disk. */
export function partialPath(state: RunState, name: PartialName, target: string): string {
  const directory = dirname(target);
  const place = existsSync(directory) ? directory : state.directory;
  const sameDisk = statSync(state.directory).dev === statSync(place).dev;
  return sameDisk ? join(state.directory, `${name}.partial`) : `${target}.partial`;
}

const LEDGER_FILES = ['', '-wal', '-shm', UNREADABLE].map(suffix => LEDGER + suffix);

/** All that a run may leave in its state's directory; the record of a publishing and the lock go last. */
const FILES = [
  ...LEDGER_FILES,
  'output.partial',
  'rejects.partial',
  'publish.json.new',
  'publish.json',
  'holder.json',
  'lock.db',
  'lock.db-journal',
];

/**
 * Lets go of the state. `remove`: nothing is left to go on with, so what a run keeps there goes, and so do the
 * directories that were made for it; what else somebody keeps there stays.
 */
export function closeState(state: RunState, remove: boolean): void {
  if (remove || state.temporary) {
    for (const name of FILES) rmSync(join(state.directory, name), {force: true});
    if (state.own) removeEmpty(resolve(state.directory), resolve(state.made ?? state.directory));
  }
  state.lock.release();
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
