import {randomUUID} from 'node:crypto';
import {existsSync, mkdtempSync, renameSync, rmSync, statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {basename, dirname, join} from 'node:path';
import type {ResumePoint} from '../input/row.ts';
import {LockedError, OutputError, StateError, systemCode} from '../job/errors.ts';
import type {Job} from '../job/job.ts';
import {Ledger} from '../ledger/ledger.ts';
import {type RunLock, takeLock} from '../ledger/lock.ts';
import type {Counters} from './counters.ts';
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
  readonly activeMs: number;
  readonly timeline: TimelineState;
}

/** The state's directory while a run holds it. */
export interface RunState {
  readonly directory: string;
  readonly lock: RunLock;
  readonly temporary: boolean;
  /** Whether it was made by this session, so that there is nothing in it to keep yet. */
  readonly created: boolean;
}

/** Takes the lock; a run that is streamed has nothing to go on from, so its state is temporary. */
export function openState(job: Job): RunState {
  try {
    const temporary = job.paths.state === undefined;
    const directory = job.paths.state ?? mkdtempSync(join(tmpdir(), 'bulk-enrich-'));
    const created = temporary || !existsSync(directory);
    return {directory, lock: takeLock(directory), temporary, created};
  } catch (error) {
    if (error instanceof LockedError) throw error;
    throw new OutputError(
      'state_unwritable',
      `The state directory ${job.paths.state ?? tmpdir()} can't be written (${systemCode(error)}). Choose a place with -o or --state.`,
      {cause: error},
    );
  }
}

/** Opens the ledger; one that is damaged or of another version is set aside where the job says to restart. */
export function openLedger(
  state: RunState,
  job: Job,
  now: () => number,
  warn: (sentence: string) => void,
): Ledger {
  const path = join(state.directory, 'ledger.db');
  const options = {maxCredits: job.settings.maxCredits, resend: job.settings.resend, now};
  try {
    return new Ledger(path, options);
  } catch (error) {
    if (!(error instanceof StateError) || !restartsWhenStale(job)) throw error;
    warn(`${error.message.split('.')[0]}. It was set aside as ledger.db.damaged, and the run starts over.`);
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, {force: true});
    renameSync(path, `${path}.damaged`);
    return new Ledger(path, options);
  }
}

export function restartsWhenStale({settings, fromFile}: Job): boolean {
  return settings.restart || (settings.onStaleState ?? (fromFile ? 'restart' : 'stop')) === 'restart';
}

/**
 * Finds the run that this state belongs to, or begins one.
 *
 * @throws {StateError} when it was begun with settings that would make another output, and may not be started over.
 */
export function identifyRun(ledger: Ledger, job: Job, shape: RunIdentity['shape'], now: number): RunIdentity {
  const found = ledger.getMeta<RunIdentity>('run');
  if (found !== undefined && !job.settings.restart) {
    const changed = changedSettings(found.shape, shape);
    if (changed.length === 0) {
      found.sessions += 1;
      ledger.setMeta('run', found);
      return found;
    }
    if (!restartsWhenStale(job)) {
      throw new StateError(
        'settings_changed',
        `The unfinished run in ${job.paths.state} was begun with other settings (${changed.join(', ')}). Run it with those, or start over with --restart: answers already paid for are kept.`,
      );
    }
  }
  return beginRun(ledger, shape, now);
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

/** Where a file is written until it is published: in the state's directory, or beside its place on another disk. */
export function partialPath(state: RunState, target: string): string {
  const sameDisk = statSync(state.directory).dev === statSync(dirname(target) || '.').dev;
  return sameDisk ? join(state.directory, basename(target)) : `${target}.partial`;
}

/** Lets go of the state; it is removed when nothing is left to go on with. */
export function closeState(state: RunState, finished: boolean): void {
  if (finished || state.temporary) rmSync(state.directory, {recursive: true, force: true});
  state.lock.release();
}
