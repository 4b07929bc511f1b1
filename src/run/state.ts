import {randomUUID} from 'node:crypto';
import {existsSync, renameSync, rmdirSync, rmSync, statSync} from 'node:fs';
import {dirname, join, resolve} from 'node:path';
import {missingFile} from '../input/raw.ts';
import type {ResumePoint} from '../input/row.ts';
import {LockedError, OutputError, StateError, systemReason} from '../job/errors.ts';
import type {Job} from '../job/job.ts';
import {thousandths} from '../job/money.ts';
import {makeDirectory} from '../ledger/directory.ts';
import {Ledger, type LedgerOptions} from '../ledger/ledger.ts';
import {type RunLock, takeLock} from '../ledger/lock.ts';
import type {Counters} from './counters.ts';
import {temporaryDirectory} from './temporary.ts';
import type {TimelineState} from './timeline.ts';

/** What a run is, over all its sessions. */
export interface RunIdentity {
  readonly runId: string;
  /** When it was first started, in milliseconds since the epoch: stored answers are judged fresh by that. */
  readonly startedAt: number;
  /** The settings that shape the output, by name. */
  readonly shape: Readonly<Record<string, unknown>>;
  sessions: number;
}

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

/** Opens the ledger; one that is damaged or of another version is set aside where the job says to restart. */
export function openLedger(
  {directory}: Pick<RunState, 'directory'>,
  job: Job,
  options: Pick<LedgerOptions, 'now' | 'daily'>,
  warn: (sentence: string) => void,
): Ledger {
  const path = ledgerPath({directory});
  const {maxCredits, resend} = job.settings;
  const limit = maxCredits === undefined ? undefined : thousandths(maxCredits);
  const all = {...options, maxCredits: limit, resend};
  try {
    return new Ledger(path, all);
  } catch (error) {
    if (!(error instanceof StateError) || !restartsWhenStale(job)) throw error;
    warn(
      `${error.message.split('.')[0]}. It was set aside as ${path}.damaged, and the run starts over: only answers that the answer store has are not paid for again.`,
    );
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, {force: true});
    renameSync(path, `${path}.damaged`);
    return new Ledger(path, all);
  }
}

export function ledgerPath({directory}: Pick<RunState, 'directory'>): string {
  return join(directory, LEDGER);
}

export function restartsWhenStale({settings, fromFile}: Job): boolean {
  return settings.restart || (settings.onStaleState ?? (fromFile ? 'restart' : 'stop')) === 'restart';
}

/**
 * Finds the run that this state belongs to, or begins one.
 *
 * @throws {StateError} when it was begun with settings that would make another output.
 */
export function identifyRun(ledger: Ledger, job: Job, shape: RunIdentity['shape'], now: number): RunIdentity {
  const found = ledger.getMeta<RunIdentity>('run');
  if (found === undefined) return beginRun(ledger, shape, now);
  const changed = changedSettings(found.shape, shape);
  if (changed.length > 0) {
    throw new StateError(
      'settings_changed',
      `The unfinished run in ${job.paths.state} was begun with other settings (${changed.join(', ')}). Run it with those, or start over with --restart: answers already paid for are kept.`,
    );
  }
  found.sessions += 1;
  ledger.setMeta('run', found);
  return found;
}

/** Starts over: what was paid for stays at hand. */
export function beginRun(ledger: Ledger, shape: RunIdentity['shape'], now: number): RunIdentity {
  ledger.restart();
  const identity: RunIdentity = {runId: randomUUID(), startedAt: now, shape, sessions: 1};
  ledger.setMeta('run', identity);
  return identity;
}

function changedSettings(before: RunIdentity['shape'], after: RunIdentity['shape']): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter(name => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
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

/** All that a run may leave in its state's directory; the record of a publishing and the lock go last. */
const FILES = [
  ...['', '-wal', '-shm', '.damaged'].map(suffix => LEDGER + suffix),
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
